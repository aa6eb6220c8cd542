# SPDX-License-Identifier: GPL-3.0-or-later
"""The built zip in a clean Blender: installs, leaves nothing behind, breaks no policy, needs no writable folder."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_three_rounds_leave_nothing_behind(run_cycle: Callable[..., dict[str, Any]], extension_zip: Path) -> None:
    """Enable and disable three times: types, properties, handlers, menus and keys are as before."""
    found = run_cycle("leak")
    for after in found["disabled"]:
        assert after == found["before"]
    # The comparison means something only if enabling does register things, and the same ones each time.
    assert set(found["enabled"][0]["types"]) > set(found["before"]["types"])
    assert found["enabled"][0]["draw functions"] != found["before"]["draw functions"]
    assert found["enabled"][0] == found["enabled"][1] == found["enabled"][2]
    assert found["warnings"] == {}
    with zipfile.ZipFile(extension_zip) as opened:
        assert found["files"] == sorted(name for name in opened.namelist() if not name.endswith("/"))


def test_a_read_only_install_folder_is_enough(run_cycle: Callable[..., dict[str, Any]]) -> None:
    """Every module loads and registers while writing to the folder is refused; not a byte of it changes."""
    found = run_cycle("read_only")
    assert found["refused"]
    assert found["enabled"]
    assert found["compiled"] == 0
    assert found["after"] == found["before"]
    assert found["modules"] == sum(name.endswith(".py") for name in found["before"])
