# SPDX-License-Identifier: GPL-3.0-or-later
"""Carnivores: 3DF, 3DN and their companions: three floors, formats < scene < ui."""
