# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest: operators, panels, menus and command-line commands."""
