# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the window tests: a fresh scene on a real screen, a screenshot of each test, a clean console.

pytest loads this file twice: outside Blender, where pytest-blender starts Blender and nothing else happens, and inside.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from screen import Screen

sys.path.insert(0, str(Path(__file__).parent))

CHECKOUT = Path(__file__).resolve().parents[2]
MODELS = (".3df", ".3dn")
EXAMPLES = (*MODELS, ".car")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--samples", type=Path, help="folder of real game files to test with as well")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "real_events: runs last, because it ends the time of simulated mouse and keys")
    config.addinivalue_line("markers", "console(regex): a line this test is expected to cause in the console")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("real_events") is not None)  # a stable sort


@pytest.fixture(autouse=True)
def clean_console(request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Fail a test during which Blender's console showed an error."""
    import re

    import console

    yield
    _flush()
    out, err = capfd.readouterr()
    allowed = [re.compile(mark.args[0]) for mark in request.node.iter_markers("console")]
    errors = [line for line in console.errors_in(out + err) if not any(regex.search(line) for regex in allowed)]
    if errors:
        pytest.fail(f"errors in Blender's console: {errors}\n{out}{err}", pytrace=False)


@pytest.fixture
def screen(request: pytest.FixtureRequest, clean_console: None) -> Iterator[Screen]:
    """Give a Blender window with an empty scene; keep a screenshot of how the test left it."""
    from screen import Screen

    window = Screen(Path(os.environ["WINDOW_OUTPUT"]), request.node.name)
    window.new_file()
    yield window
    window.photograph("end" if window.pictures else "")
    window.close_dialogs()


def _flush() -> None:
    """Write out what Blender's own code still holds in C's buffers."""
    sys.stdout.flush()
    sys.stderr.flush()
    if sys.platform != "win32":
        ctypes.CDLL(None).fflush(None)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give the fixture `model` every model file there is, shipped or of --samples; `example` the first per format."""
    for name in {"model", "example"} & set(metafunc.fixturenames):
        models = find_models(metafunc.config.getoption("--samples"), MODELS if name == "model" else EXAMPLES)
        if name == "example":
            models = list({path.suffix.lower(): path for path in reversed(models)}.values())
        metafunc.parametrize(name, models, ids=[path.name for path in models])


def find_models(samples: Path | None, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the shipped model files and those in the folder of samples; there must be some."""
    folders = [CHECKOUT / "assets", CHECKOUT / "tests" / "data", *([samples] if samples else [])]
    found = [path for folder in folders for path in sorted(folder.rglob("*"))]
    models = [path for path in found if path.suffix.lower() in suffixes]
    if not models:
        raise pytest.UsageError(f"no model file to test with in {', '.join(map(str, folders))}")
    return models
