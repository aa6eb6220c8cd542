# SPDX-License-Identifier: GPL-3.0-or-later
"""Carnivores: 3DF, 3DN and their companions: operators, panels, menus and command-line commands."""
