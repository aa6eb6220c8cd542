# SPDX-License-Identifier: GPL-3.0-or-later
"""Import this first to import `addon` and what lies in `tests`: from the checkout, with the extension that Blender has.

Only the window tests of this file's folder need it; elsewhere tests/conftest.py does the same.
"""

from __future__ import annotations

import sys

from conftest import CHECKOUT

if str(CHECKOUT) not in sys.path:
    sys.path.append(str(CHECKOUT))

from tools import addon_alias

addon_alias.install(lambda: "bl_ext.user_default.io_carnivores_dragonnest")
