# SPDX-License-Identifier: GPL-3.0-or-later
"""House rules that import-linter cannot express: a few lines of ast over the extension's sources."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tools.staging import EXTENSION_ID, ROOT, WINGS, product_files, stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCES = [path for path in product_files() if path.suffix == ".py"]
IDS = [path.as_posix() for path in SOURCES]
BLENDER = {
    "addon_utils", "aud", "bl_math", "blf", "bmesh", "bpy", "bpy_extras", "bpy_types", "gpu", "gpu_extras", "idprop",
    "mathutils", "rna_prop_ui",
}  # fmt: skip
LONGEST = 450


def tree(path: Path) -> ast.Module:
    """Parse one source file of the extension with the oldest supported grammar."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), filename=str(path), feature_version=(3, 11))


def absolute_imports(path: Path) -> Iterator[str]:
    """Yield the top-level name of every absolute import, at any depth of the file."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_own_modules_are_imported_relatively_and_others_come_with_blender(path: Path) -> None:
    """Only the standard library, numpy and Blender's modules have absolute names; no wheels, no `sys.path` tricks."""
    assert set(absolute_imports(path)) - set(sys.stdlib_module_names) - BLENDER <= {"numpy"}


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_nothing_imports_the_front_door(path: Path) -> None:
    """The root `__init__.py` is for Blender to call; a room that imports it would close a circle."""
    depth = len(path.parts)
    from_root = [node for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom) and node.level == depth]
    taken = {alias.name for node in from_root if node.module is None for alias in node.names}
    assert taken <= set(WINGS)


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_only_one_file_asks_for_the_blender_version(path: Path) -> None:
    """`io_common/scene/compat.py` owns all differences between Blenders."""
    asks = [
        ast.unparse(node)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("bpy.app.version")
    ]
    assert not asks or path.as_posix() == "io_common/scene/compat.py"


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_modules_stay_readable(path: Path) -> None:
    """About 400 lines, no more."""
    assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_every_formats_module_loads_without_blender(tmp_path: Path) -> None:
    """In a Python of its own, importing all of `*/formats` brings in nothing of Blender."""
    stage(tmp_path / EXTENSION_ID)
    modules = [".".join((EXTENSION_ID, *path.with_suffix("").parts)) for path in SOURCES if "formats" in path.parts]
    modules = [name.removesuffix(".__init__") for name in modules]
    assert len(modules) > len(WINGS)
    program = (
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        f"print(sorted(set(sys.modules) & {BLENDER!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
