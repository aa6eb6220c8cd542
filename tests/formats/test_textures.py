# SPDX-License-Identifier: GPL-3.0-or-later
"""Texture files that lie beside a mobile model: which is taken, and what is said of one that cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_carnivores.formats import crt, model_3dn, textures
from addon.io_carnivores.formats.model import Model, name_field
from addon.io_common.formats.digest import Digest
from addon.io_common.formats.errors import FormatError

from tests import models

if TYPE_CHECKING:
    from pathlib import Path


def png(width: int, height: int, depth: int = 8, size: int = 60_000) -> bytes:
    """The start of a PNG, and as many bytes behind it as its picture was packed into."""
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return head + bytes([depth, 6, 0, 0, 0]) + bytes(size)


@pytest.mark.parametrize(("width", "height", "depth"), [(8000, 8000, 8), (2**31 - 1, 2**31 - 1, 8), (2048, 2048, 16)])
def test_a_png_that_unfolds_to_far_more_than_its_size(width: int, height: int, depth: int, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(width, height, depth))
    with pytest.raises(FormatError, match=rf"a\.png: the PNG picture is larger .* found {width} x {height}\."):
        textures.read(tmp_path / "a.png")


@pytest.mark.parametrize(
    ("width", "height", "depth", "size"), [(2048, 2048, 8, 0), (4096, 4096, 8, 8 << 20), (1024, 1024, 16, 0)]
)
def test_a_png_of_a_sensible_size_is_left_to_blender(
    width: int, height: int, depth: int, size: int, tmp_path: Path
) -> None:
    data = png(width, height, depth, size)
    (tmp_path / "a.png").write_bytes(data)
    assert textures.read(tmp_path / "a.png").encoded == data


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (
            "skin.crt",
            b"\x20\0\x20\0\xa0\2\0\0\0ab",
            'the texture "skin.crt" is compressed in a way that cannot be read',
        ),
        ("skin.tga", b"\0\0\2" + bytes(9) + b"\1\0\1\0\x11\0abc", "expected 15 or 16 or 24 or 32 bits, found 17"),
        ("skin.tga", b"", "the fields of the TGA header do not fit into the file"),
    ],
)
def test_what_is_said_of_a_texture_that_cannot_be_used(name: str, data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    model, digest = model_3dn.read(model_3dn.write(models.as_mobile(models.small()))), Digest()
    assert textures.attach(model, tmp_path / "a.3dn", (), digest).texture is None
    assert said in digest.lines[0]


def test_a_broken_texture_gives_way_to_the_next(tmp_path: Path) -> None:
    """A damaged TGA beside a good CRT costs a warning, not the texture."""
    picture = np.full((4, 4, 4), 255, np.uint8)
    (tmp_path / "Skin.TGA").write_bytes(b"\0" * 7)
    (tmp_path / "skin.crt").write_bytes(crt.write(crt.Crt(picture, 24)))
    digest = Digest()
    found = textures.attach(Model(texture_name=name_field("SKIN")), tmp_path / "x.3dn", (), digest)
    assert found.texture is not None
    assert found.texture.suffix == ".crt"
    assert len(digest) == 1


def test_a_name_with_its_suffix_is_understood(tmp_path: Path) -> None:
    """Some tools write the whole file name into the model."""
    (tmp_path / "skin.crt").write_bytes(crt.write(crt.Crt(np.full((4, 4, 4), 255, np.uint8), 24)))
    assert textures.find("skin.tga", tmp_path / "x.3dn") == tmp_path / "skin.crt"
