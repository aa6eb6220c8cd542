# SPDX-License-Identifier: GPL-3.0-or-later
"""Carnivores: 3DF, 3DN and their companions: bytes to plain data and back; knows nothing of Blender."""
