# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line and a folder for it to work in."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two good models; relative paths mean files in it."""
    # Not above: a conftest is loaded before the extension has its name.
    from addon.io_carnivores.formats import model_3df

    from tests.ui.helpers.command import make_model

    (tmp_path / "tree.3df").write_bytes(model_3df.write(make_model()))
    (tmp_path / "rock.3df").write_bytes(model_3df.write(make_model(flags=0)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(extension_name: str) -> Callable[..., int]:
    """The extension's command line, called as `dev.py cli` does."""
    module = importlib.import_module(extension_name)
    return lambda *words: int(module.command([str(word) for word in words]))
