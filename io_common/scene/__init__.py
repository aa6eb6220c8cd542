# SPDX-License-Identifier: GPL-3.0-or-later
"""What both games need: plain data to Blender data-blocks and back."""
