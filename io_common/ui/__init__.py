# SPDX-License-Identifier: GPL-3.0-or-later
"""What both games need: operators, panels, menus and command-line commands."""
