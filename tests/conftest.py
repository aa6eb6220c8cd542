# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share: the `addon` alias, an embedded Blender where there is one, an empty scene, the sample files.

Three ways to run are served: plain Python without Blender, a `bpy` wheel, and a real Blender through pytest-blender. In
a real Blender the caller chose the user folder; CARNIVORES_DRAGONNEST_TEST_PREFIX may name the package of an extension
that is enabled already.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from tools import addon_alias, embedded

HAS_BLENDER = importlib.util.find_spec("bpy") is not None
IN_REAL_BLENDER = "bpy" in sys.modules
PREFIX = "CARNIVORES_DRAGONNEST_TEST_PREFIX"


class Extension:
    """The extension under test: enabled at first need, disabled when the session ends."""

    def __init__(self) -> None:
        self._enabled_here = False
        self._name: str | None = None
        self._user_folder: Path | None = None
        if HAS_BLENDER and not IN_REAL_BLENDER:
            # In this order: Blender reads the variable once, and `addon_utils` can be imported only after bpy.
            self._user_folder = Path(tempfile.mkdtemp(prefix="blender-user-"))
            embedded.stage_for_blender(self._user_folder)
            importlib.import_module("bpy")

    def name(self) -> str:
        """Return the name of the extension's package, with Blender started and the extension enabled if need be."""
        if self._name is None:
            self._name = self._start() if HAS_BLENDER else addon_alias.load_root_package()
        return self._name

    def _start(self) -> str:
        import bpy

        chosen = os.environ.get(PREFIX)
        enabled = [str(key) for key in bpy.context.preferences.addons.keys()]  # noqa: SIM118 (not a dict)
        present = [chosen] if chosen else [key for key in enabled if key.endswith(f".{embedded.EXTENSION_ID}")]
        if present:
            return present[0]
        if IN_REAL_BLENDER:
            if not os.environ.get(embedded.USER_FOLDER):
                pytest.exit(f"set {embedded.USER_FOLDER} to an empty folder: tests must not touch your own settings", 4)
            embedded.stage_for_blender(Path(os.environ[embedded.USER_FOLDER]))
        embedded.enable()
        self._enabled_here = True
        return embedded.PACKAGE

    def stop(self) -> None:
        """Disable the extension if it was enabled here, and remove the user folder."""
        if self._enabled_here:
            embedded.disable()
        if self._user_folder is not None:
            shutil.rmtree(self._user_folder, ignore_errors=True)


# Made while this file loads: another conftest.py further down may import bpy before any hook of pytest is called.
EXTENSION = Extension()
addon_alias.install(EXTENSION.name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that only this project has."""
    group = parser.getgroup("carnivores and dragon nest")
    group.addoption("--samples", type=Path, metavar="DIR", help="folder of real game files (never part of the project)")
    group.addoption("--extension-zip", type=Path, metavar="ZIP", help="test this build instead of making one")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker and refuse a sample folder that does not exist."""
    config.addinivalue_line(
        "markers", "samples(*patterns): run the test once per file below --samples DIR that matches, as `sample`"
    )
    samples = config.getoption("--samples")
    if samples is not None and not samples.is_dir():
        message = f"--samples {samples}: there is no such folder"
        raise pytest.UsageError(message)


def pytest_unconfigure() -> None:
    """Leave nothing behind: neither registered classes nor the user folder."""
    EXTENSION.stop()


def _sample_files(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    wanted = [pattern.lower() for pattern in patterns]
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [p for p in files if any(fnmatch.fnmatch(p.relative_to(folder).as_posix().lower(), w) for w in wanted)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test per sample file: `@pytest.mark.samples("*.3df")` on a test that takes `sample`.

    Patterns are fnmatch patterns on the path relative to the folder, in either case; `*` also matches `/`.
    """
    if "sample" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("samples")
    if marker is None:
        pytest.fail(f"{metafunc.definition.nodeid} takes `sample` without saying which: @pytest.mark.samples(pattern)")
    folder = metafunc.config.getoption("--samples")
    if folder is None:
        metafunc.parametrize("sample", [None], ids=["no --samples"], indirect=True)
        return
    files = _sample_files(folder.resolve(), marker.args)
    if not files:
        pytest.fail(f"{metafunc.definition.nodeid} needs {' or '.join(marker.args)}, which {folder} does not hold")
    names = [path.relative_to(folder.resolve()).as_posix() for path in files]
    metafunc.parametrize("sample", files, ids=names, indirect=True)


def _no_samples() -> None:
    reason = "needs real game files: --samples DIR"
    if os.environ.get("CI"):
        pytest.fail(f"{reason} (under CI their absence is a failure)")
    pytest.skip(reason)


@pytest.fixture
def sample(request: pytest.FixtureRequest) -> Path:
    """One real game file; see `pytest_generate_tests`."""
    path: Path | None = request.param
    if path is None:
        _no_samples()
    assert path is not None
    return path


@pytest.fixture(scope="session")
def samples(request: pytest.FixtureRequest) -> Path:
    """The folder of real game files."""
    folder: Path | None = request.config.getoption("--samples")
    if folder is None:
        _no_samples()
    assert folder is not None
    return folder.resolve()


@pytest.fixture(autouse=True)
def empty_scene() -> None:
    """Start every test that has a Blender with an empty file and the extension enabled."""
    if HAS_BLENDER:
        EXTENSION.name()
        import bpy

        # read_factory_settings would disable the extension, this does not.
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.fixture
def extension_name() -> str:
    """The real name of the package that `addon` stands for."""
    return EXTENSION.name()
