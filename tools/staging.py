# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy the files that make up the extension, and only these, into another folder.

Tests, the embedded command line, type checks and the build all start from such a copy, so that what is tested is what
is shipped, under the package name it is shipped with, whatever the folder of the checkout is called.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
EXTENSION_ID = "io_carnivores_dragonnest"
WINGS = ("io_common", "io_carnivores", "io_dragonnest")
PRODUCT = ("__init__.py", "blender_manifest.toml", "LICENSE", *WINGS)
SUFFIXES = {".py", ".toml", ".md", ".png", ".3df", ".3dn", ".json"}
SUFFIXLESS = {"LICENSE"}


def _walk(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir() and path.name != "__pycache__":
        for child in sorted(path.iterdir()):
            yield from _walk(child)


def product_files(root: Path = ROOT) -> list[Path]:
    """Return the extension's files under *root*, as sorted paths relative to it."""
    found = (path for name in PRODUCT for path in _walk(root / name))
    shipped = (p for p in found if not p.name.startswith(".") and (p.suffix in SUFFIXES or p.name in SUFFIXLESS))
    return sorted(path.relative_to(root) for path in shipped)


def tracked_files(root: Path = ROOT) -> set[Path] | None:
    """Return the files that git tracks under *root*, relative to it; None where *root* is not a git checkout."""
    if not (root / ".git").exists() or shutil.which("git") is None:
        return None
    # A checkout that belongs to somebody else (containers, CI) is refused by git unless it is named as safe.
    command = ["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files", "-z", "--cached"]
    done = subprocess.run(command, check=True, capture_output=True)
    return {Path(name) for name in done.stdout.decode().split("\0") if name}


def stage(target: Path, *, tracked_only: bool = False) -> list[Path]:
    """Make *target* an exact copy of the extension's files; return their relative paths.

    With *tracked_only*, files that git does not know stay behind: a release holds no strays. A file that is already
    there with the same size and time is left alone, which keeps the caches of tools that look at times.
    """
    tracked = tracked_files() if tracked_only else None
    files = [path for path in product_files() if tracked is None or path in tracked]
    if target.exists():
        for old in [path for path in target.rglob("*") if path.is_file() and path.relative_to(target) not in files]:
            old.unlink()
    for path in files:
        source, copy = ROOT / path, target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not (copy.exists() and _same(source, copy)):
            shutil.copy2(source, copy)
    return files


def _same(one: Path, other: Path) -> bool:
    first, second = one.stat(), other.stat()
    return (first.st_size, first.st_mtime_ns) == (second.st_size, second.st_mtime_ns)
