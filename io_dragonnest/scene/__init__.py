# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest: plain data to Blender data-blocks and back."""
