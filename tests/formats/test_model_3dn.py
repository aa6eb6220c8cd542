# SPDX-License-Identifier: GPL-3.0-or-later
"""The 3DN codec: both directions are each other's inverse, on real files and on any model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df, model_3dn
from addon.io_carnivores.formats.model import Model, name_field
from addon.io_common.formats.errors import ExportError
from addon.io_common.formats.fields import locate
from hypothesis import given

from tests import models, strategies

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.samples("*.3dn")
def test_real_files_come_back_to_the_byte(sample: Path) -> None:
    """`write` undoes `read`."""
    data = sample.read_bytes()
    assert model_3dn.sniff(data[:1024], len(data))
    assert model_3dn.write(model_3dn.read(data)) == data


@given(strategies.models(mobile=True))
def test_any_model_comes_back(model: Model) -> None:
    """`read` undoes `write`, and the file says what it is."""
    data = model_3dn.write(model)
    assert model_3dn.read(data) == model
    assert model_3dn.sniff(data[:1024], len(data))
    assert model_3dn.sections(data)[-1].end == len(data)


@pytest.mark.parametrize("sprite", [False, True])
def test_every_field_lies_where_the_format_says(*, sprite: bool) -> None:
    """Numbers written by hand at their offsets are found under their names, with either size of the header."""
    start = 80 if sprite else 48
    data = bytearray(start + 16 + 52 + 48)
    data[0:12] = np.array([1, 1, 1], "<u4").tobytes()
    data[12:18] = b"t_rex\0"
    data[44:48] = np.array([sprite], "<i4").tobytes()
    if sprite:
        data[48:52] = b"far\0"
    data[start : start + 12] = np.array([1, -2, 3], "<f4").tobytes()
    data[start + 12 : start + 16] = np.array([0x10007], "<i4").tobytes()
    face = start + 16
    data[face + 12 : face + 24] = np.array([1, -2, 3, -4, 5, -6], "<i2").tobytes()
    data[face + 24 : face + 28] = np.array([0x0D, 9], "<u2").tobytes()
    data[face + 28 : face + 40] = np.array([-7, -8, 9], "<i4").tobytes()
    data[face + 40 : face + 52] = np.array([1, 2, 3], "<u4").tobytes()
    model = model_3dn.read(bytes(data))
    found = model.faces[0]
    assert found["u"].tolist() == [1, 3, 5]
    assert found["v"].tolist() == [-2, -4, -6]
    assert [int(found[name]) for name in ("flags", "dmask", "distant", "next", "group")] == [0x0D, 9, -7, -8, 9]
    assert found["reserved"].tolist() == [1, 2, 3]
    assert (int(model.vertices[0]["owner"]), int(model.vertices[0]["hide"])) == (7, 1)
    assert model_3dn.texture_label(model) == "t_rex"
    assert model.sprite_name[:4] == (b"far\0" if sprite else b"")
    assert model_3dn.write(model) == bytes(data)


@pytest.mark.parametrize("value", [0x8000, -0x8001, 0x7FFFFFFF, -0x80000000])
@pytest.mark.parametrize("name", ["u", "v"])
def test_a_uv_beyond_16_bits_cannot_be_written(name: str, value: int) -> None:
    """It must not wrap round in silence."""
    model = models.as_mobile(models.small())
    model.faces[name][2, 1] = value
    with pytest.raises(ExportError, match="the UV of face 2"):
        model_3dn.write(model)


@pytest.mark.parametrize("value", [0x7FFF, -0x8000])
def test_uvs_at_the_end_of_16_bits(value: int) -> None:
    """The last ones that fit."""
    model = models.as_mobile(models.small())
    model.faces["u"][0] = value
    assert model_3dn.read(model_3dn.write(model)).faces["u"][0].tolist() == [value] * 3


def test_a_pc_model_as_mobile_model() -> None:
    """Both hold the same records: what 3DF says, 3DN says in fewer bytes."""
    model = model_3df.read(model_3df.write(models.small()))
    model.texture_name = name_field("skin")
    found = model_3dn.read(model_3dn.write(model))
    assert found.faces.tobytes() == model.faces.tobytes()
    assert found.vertices.tobytes() == model.vertices.tobytes()
    assert found.bones.tobytes() == model.bones.tobytes()


@pytest.mark.parametrize("sprite", [0, 1])
def test_offsets_have_names(sprite: int) -> None:
    """What `verify` prints for a difference."""
    model = models.as_mobile(models.small())
    model.has_sprite = sprite
    data = model_3dn.write(model)
    sections = model_3dn.sections(data)
    start = 80 if sprite else 48
    assert locate(sections, 44) == "header, has sprite"
    assert locate(sections, start + 16 + 12) == "vertex 1, owner"
    face = start + len(model.vertices) * 16
    assert locate(sections, face + 52 + 14) == "face 1, uv 1"
    assert locate(sections, len(data) - 1) == "bone 2, hide"
    assert locate(sections, len(data)) == "past the end"


def test_a_name_field_without_nul() -> None:
    """All 32 bytes may be letters."""
    model = models.as_mobile(models.small())
    model.texture_name = b"x" * 32
    found = model_3dn.read(model_3dn.write(model))
    assert found.texture_name == b"x" * 32
    assert model_3dn.texture_label(found) == "x" * 32
