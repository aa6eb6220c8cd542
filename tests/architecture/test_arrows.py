# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of the house, checked from the source: which room may import which.

The contracts are in pyproject.toml under `tool.importlinter`; import-linter follows chains of imports as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.staging import EXTENSION_ID, ROOT, stage

PLANTED = {
    "formats may not import scene": ("io_carnivores/formats/planted.py", "from .. import scene"),
    "scene may not import ui": ("io_common/scene/planted.py", "from .. import ui"),
    "the wings do not know each other": ("io_dragonnest/formats/planted.py", "from ...io_carnivores import formats"),
    "the common wing does not know the games": ("io_common/ui/planted.py", "from ...io_dragonnest import ui"),
    "a game's formats may not import io_common's scene": (
        "io_carnivores/formats/planted.py",
        "from ...io_common import scene",
    ),
    "a game's scene may not import io_common's ui": ("io_dragonnest/scene/planted.py", "from ...io_common import ui"),
    "formats knows nothing of Blender": ("io_common/formats/planted.py", "import bpy"),
    "nor of its maths": ("io_dragonnest/formats/planted.py", "def late():\n    from mathutils import Vector"),
    "there are three floors only": ("io_common/attic.py", "from .formats import errors"),
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the extension, as a package under its own name."""
    stage(tmp_path / EXTENSION_ID)
    return tmp_path


def lint_imports(house: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on a copy of the extension."""
    program = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    command = [sys.executable, "-c", program, "--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(house), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, cwd=house, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


def test_all_arrows_point_the_right_way(house: Path) -> None:
    """Every contract is kept."""
    done = lint_imports(house)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("file", "line"), PLANTED.values(), ids=PLANTED)
def test_a_wrong_arrow_is_noticed(house: Path, file: str, line: str) -> None:
    """The contracts are worth something: each kind of wrong import breaks one."""
    (house / EXTENSION_ID / file).write_text(f"{line}\n", encoding="utf-8")
    done = lint_imports(house)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout
