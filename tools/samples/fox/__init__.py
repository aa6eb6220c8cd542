# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample character of Dragon Nest, a fox with a bow: body, outfit, clips and textures, all made by code."""
