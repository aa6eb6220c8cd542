# SPDX-License-Identifier: GPL-3.0-or-later
"""What both games need: three floors, formats < scene < ui."""
