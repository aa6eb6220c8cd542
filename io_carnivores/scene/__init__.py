# SPDX-License-Identifier: GPL-3.0-or-later
"""Carnivores: 3DF, 3DN and their companions: plain data to Blender data-blocks and back."""
