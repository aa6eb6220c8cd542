# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts behind the developer tasks; nothing in here ships with the extension."""
