# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip under test, and a way to try it in a Blender process of its own with a clean user folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest

from tools.build import build

if TYPE_CHECKING:
    from collections.abc import Callable

CYCLE = Path(__file__).parent / "cycle.py"


@pytest.fixture(scope="session")
def extension_zip(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built extension: the one that --extension-zip names, or one made now by this Blender's own builder."""
    if bpy.app.binary_path:
        pytest.skip("package tests start processes of their own and need the bpy wheel")
    chosen: Path | None = request.config.getoption("--extension-zip")
    return chosen or build(tmp_path_factory.mktemp("dist"))


@pytest.fixture
def run_cycle(extension_zip: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Run a part of `cycle.py` in a fresh Blender with an empty user folder; return what it found."""

    def run(part: str) -> dict[str, Any]:
        found = tmp_path / "found.json"
        environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "user")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, str(CYCLE), part, str(extension_zip), str(found)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        result: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
        return result

    return run
