# SPDX-License-Identifier: GPL-3.0-or-later
"""Find, or let uv download, the Python interpreters that the supported Blenders need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def python_in(environment: Path) -> Path:
    """Return the interpreter of a virtual environment on this system."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _pyenv_versions() -> Path:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return next((path for path in (root / "versions", root / "pyenv-win" / "versions") if path.is_dir()), root)


def _patch_level(folder: Path) -> list[int]:
    return [int(part) for part in folder.name.split(".") if part.isdecimal()]


def show_pyenv_versions(minors: Iterable[str]) -> None:
    """Put pyenv's own folders of the Python versions *minors* ("3.11", ...) in front of PATH.

    pyenv's shims on PATH answer only for the versions that are switched on at the moment; the others look broken to uv
    and to nox although they are installed.
    """
    for minor in minors:
        installed = sorted(_pyenv_versions().glob(f"{minor}.*"), key=_patch_level)
        for folder in installed[-1:]:
            binaries = str(folder if os.name == "nt" else folder / "bin")
            if binaries not in os.environ.get("PATH", "").split(os.pathsep):
                os.environ["PATH"] = os.pathsep.join([binaries, os.environ.get("PATH", "")])


def find(minor: str) -> str | None:
    """Return the path of a Python of version *minor*, downloaded by uv if there is none; None if neither works."""
    uv = [sys.executable, "-m", "uv", "python"]
    look = [*uv, "find", "--no-python-downloads", "--system", minor]
    for first in (None, [*uv, "install", minor]):
        if first is not None:
            subprocess.run(first, check=False, capture_output=True)
        found = subprocess.run(look, check=False, capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.strip()
    return None
