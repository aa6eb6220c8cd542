# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files the words of a command line mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from addon.io_common.formats.errors import UserError
from addon.io_common.ui.cli_inputs import Source, expand, place

EXTENSIONS = {".3df", ".3dn"}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with models two folders deep."""
    for name in ("a.3df", "B.3DF", "tree[1].3df", "notes.txt", "sub/a.3dn", "sub/deep/c.3df", "empty/readme"):
        target = tmp_path / "game" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*words: str) -> list[tuple[str, str]]:
    """Path and place of what `words` mean; nothing may be missing."""
    sources, missing = expand(words, EXTENSIONS)
    assert missing == []
    return [(source.path.as_posix(), source.below.as_posix()) for source in sources]


def test_a_file_is_itself_whatever_it_is_called(tree: Path) -> None:
    assert names("game/notes.txt") == [("game/notes.txt", "notes.txt")]
    assert names("game/tree[1].3df") == [("game/tree[1].3df", "tree[1].3df")]
    assert names(str(tree / "game" / "a.3df")) == [((tree / "game" / "a.3df").as_posix(), "a.3df")]


def test_a_folder_is_the_models_below_it(tree: Path) -> None:
    assert names("game") == [
        ("game/B.3DF", "B.3DF"),
        ("game/a.3df", "a.3df"),
        ("game/tree[1].3df", "tree[1].3df"),
        ("game/sub/a.3dn", "sub/a.3dn"),
        ("game/sub/deep/c.3df", "sub/deep/c.3df"),
    ]


def test_patterns(tree: Path) -> None:
    assert names("game/sub/*.3dn") == [("game/sub/a.3dn", "a.3dn")]
    assert names("game/**/[ac].3d*") == [
        ("game/a.3df", "a.3df"),
        ("game/sub/a.3dn", "sub/a.3dn"),
        ("game/sub/deep/c.3df", "sub/deep/c.3df"),
    ]
    assert names(f"{tree.as_posix()}/*/sub") == [
        (f"{tree.as_posix()}/game/sub/a.3dn", "game/sub/a.3dn"),
        (f"{tree.as_posix()}/game/sub/deep/c.3df", "game/sub/deep/c.3df"),
    ]


def test_each_file_once(tree: Path) -> None:
    assert names("game/a.3df", "game/sub/../a.3df", "game/a*") == [("game/a.3df", "a.3df")]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("nowhere.3df", "nowhere.3df: the file does not exist."),
        ("game/*.car", "*.car: no file matches this pattern."),
        ("game/empty", "empty: there is no model file in this folder."),
    ],
)
def test_what_means_nothing_is_said(word: str, reason: str, tree: Path) -> None:
    sources, missing = expand([word, "game/a.3df"], EXTENSIONS)
    assert [str(error) for error in missing] == [reason]
    assert [source.path.name for source in sources] == ["a.3df"]


def test_a_pattern_that_climbs_does_not_place_its_results_higher(tree: Path) -> None:
    ((_path, below),) = names("game/*/../a.3df")
    assert below == "a.3df"


def test_place(tree: Path) -> None:
    source = Source(tree / "game" / "sub" / "a.v2.3dn", Path("sub/a.v2.3dn"))
    assert place(source, Path("out"), ".glb") == Path("out/sub/a.v2.glb")
    with pytest.raises(UserError, match="outside of the folder out"):
        place(Source(source.path, Path("../a.3dn")), Path("out"), ".glb")
