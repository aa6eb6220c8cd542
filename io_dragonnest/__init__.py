# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest: three floors, formats < scene < ui."""
