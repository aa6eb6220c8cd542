# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that come out of files and scenes never lead out of the folder that was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from addon.io_common.formats.errors import ExportError, FormatError
from addon.io_dragonnest.formats import ani_set, anim

from tests import dragons

if TYPE_CHECKING:
    from pathlib import Path

OUTSIDE = ("../evil.ani", "/evil.ani", "..", "", "a\0b.ani", "..\\evil.ani", "C:evil.ani", "nul.ani", "com1 .x.ani")
OUTSIDE += ("x" * 400 + ".ani", "evil.bat", "evil.ani.", " evil.ani", "evil.ani:stream")


@pytest.mark.parametrize("name", OUTSIDE)
def test_listed_files_lie_beside_their_list(name: str, tmp_path: Path) -> None:
    found = ani_set.AniSet([ani_set.Part(name, dragons.animation())], b"good.ani\r\n")
    with pytest.raises(ExportError, match="cannot be written"):
        ani_set.companions_of(found, tmp_path / "list.ani")


def test_usual_names_are_written(tmp_path: Path) -> None:
    found = ani_set.AniSet([ani_set.Part("머리 1.Ani", dragons.animation())], b"x.ani\r\n")
    assert list(ani_set.companions_of(found, tmp_path / "list.ani")) == [tmp_path / "머리 1.Ani"]


def test_dumps_hold_no_longer_names_than_animations() -> None:
    found = dragons.dump()
    found.bones[0].name = b"x" * 255
    assert anim.write(anim.read(anim.write(found))) == anim.write(found)
    found.bones[0].name = b"x" * 256
    with pytest.raises(FormatError, match="too long"):
        anim.read(anim.write(found))
