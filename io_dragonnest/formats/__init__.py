# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest: bytes to plain data and back; knows nothing of Blender."""
