# SPDX-License-Identifier: GPL-3.0-or-later
"""What both games need: bytes to plain data and back; knows nothing of Blender."""
