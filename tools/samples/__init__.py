# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample models: modelled and painted by code, the same bytes on every platform and numpy."""
