# SPDX-License-Identifier: GPL-3.0-or-later
"""The 3DF codec: both directions are each other's inverse, on real files and on any model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.formats.model import BONE, FACE, VERTEX, Model, bone_names, summary
from addon.io_common.formats.errors import UnsupportedError
from addon.io_common.formats.fields import locate
from hypothesis import given

from tests import models, strategies

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.samples("*.3df")
def test_real_files_come_back_to_the_byte(sample: Path) -> None:
    """`write` undoes `read`."""
    data = sample.read_bytes()
    assert model_3df.sniff(data[:1024], len(data))
    assert model_3df.write(model_3df.read(data)) == data


@given(strategies.models())
def test_any_model_comes_back(model: Model) -> None:
    """`read` undoes `write`, and the file says what it is."""
    data = model_3df.write(model)
    assert model_3df.read(data) == model
    assert model_3df.sniff(data[:1024], len(data))
    assert model_3df.sections(data)[-1].end in (len(data), len(data) - len(model.texture_rest) % 2)


def test_record_sizes() -> None:
    """The sizes that the format's arithmetic rests on."""
    assert (model_3df.HEADER.itemsize, FACE.itemsize, VERTEX.itemsize, BONE.itemsize) == (16, 64, 16, 48)


def test_every_field_lies_where_the_format_says() -> None:
    """Numbers written by hand at their offsets are found under their names."""
    data = bytearray(16 + 64 + 3 * 16 + 48 + 512)
    data[0:16] = np.array([3, 1, 1, 512], "<u4").tobytes()
    face = 16
    data[face : face + 12] = np.array([2, 1, 0], "<u4").tobytes()
    data[face + 12 : face + 24] = np.array([10, -20, 300], "<i4").tobytes()
    data[face + 24 : face + 36] = np.array([-1, 5, 256], "<i4").tobytes()
    data[face + 36 : face + 40] = np.array([0x8015, 7], "<u2").tobytes()
    data[face + 40 : face + 52] = np.array([-99, -1, 6], "<i4").tobytes()
    data[face + 52 : face + 64] = np.array([1, 2, 0xFFFFFFFF], "<u4").tobytes()
    vertex = face + 64 + 16
    data[vertex : vertex + 12] = np.array([1.5, -2.5, 3.5], "<f4").tobytes()
    data[vertex + 12 : vertex + 16] = np.array([-3, 1], "<i2").tobytes()
    bone = face + 64 + 48
    data[bone : bone + 9] = b"jaw\0junk!"
    data[bone + 32 : bone + 44] = np.array([4, 5, 6], "<f4").tobytes()
    data[bone + 44 : bone + 48] = np.array([-1, 1], "<i2").tobytes()
    data[-512:-510] = b"\x34\x12"
    model = model_3df.read(bytes(data))
    found = model.faces[0]
    assert found["corner"].tolist() == [2, 1, 0]
    assert found["u"].tolist() == [10, -20, 300]
    assert found["v"].tolist() == [-1, 5, 256]
    assert [int(found[name]) for name in ("flags", "dmask", "distant", "next", "group")] == [0x8015, 7, -99, -1, 6]
    assert found["reserved"].tolist() == [1, 2, 0xFFFFFFFF]
    assert model.vertices[1]["position"].tolist() == [1.5, -2.5, 3.5]
    assert (int(model.vertices[1]["owner"]), int(model.vertices[1]["hide"])) == (-3, 1)
    assert bone_names(model.bones) == ["jaw"]
    assert model.bones[0]["position"].tolist() == [4, 5, 6]
    assert (int(model.bones[0]["parent"]), int(model.bones[0]["hide"])) == (-1, 1)
    assert int(model.texels[0, 0]) == 0x1234
    assert model_3df.write(model) == bytes(data)


def test_offsets_have_names() -> None:
    """What `verify` prints for a difference."""
    data = model_3df.write(models.small())
    sections = model_3df.sections(data)
    assert locate(sections, 0) == "header, vertex count"
    assert locate(sections, 16 + 64 + 0x24) == "face 1, flags"
    assert locate(sections, 16 + 4 * 64 + 12) == "vertex 0, owner"
    assert locate(sections, len(data) - 1) == "texel 255"
    assert locate(sections, len(data)) == "past the end"


def test_the_other_3df() -> None:
    """The Animator format shares the extension, and nothing else."""
    data = b"Kiev\x06\0\0\0" + bytes(500)
    assert not model_3df.sniff(data, len(data))
    with pytest.raises(UnsupportedError, match="Animator and Vivisector"):
        model_3df.read(data)


def test_summary_is_plain_data() -> None:
    """`info --json` prints it."""
    facts = summary(models.surface(100, bones=2, rows=64))
    assert facts["faces"] == 100
    assert [bone["name"] for bone in facts["bones"]] == ["bone 0", "bone 1"]
    assert facts["texture"] == {"width": 256, "rows": 64, "bytes": 64 * 512}


def test_arrays_are_views_on_the_file() -> None:
    """Nothing is copied that need not be: a view cannot be written to."""
    model = model_3df.read(model_3df.write(models.small()))
    for table in (model.faces, model.vertices, model.bones, model.texels):
        assert not table.flags.writeable
        assert not table.flags.owndata
