# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragon Nest files come back to the byte: samples, files with every stream, files of random bits."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_common.formats import registry
from addon.io_common.formats.errors import ExportError
from addon.io_dragonnest.formats import ani, anim, msh, names, skn, triangles
from addon.io_dragonnest.formats.ani_list import AniList
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import dragons

if TYPE_CHECKING:
    from pathlib import Path

CODECS: dict[str, Any] = {".msh": msh, ".skn": skn, ".ani": ani, ".anim": anim}


def comes_back(codec: Any, data: bytes) -> Any:
    """Read, write, compare; the sections cover the file without a gap."""
    assert codec.sniff(data[: registry.HEAD], len(data))
    found = codec.read(data)
    assert codec.write(found) == data
    end = 0
    for section in codec.sections(data):
        assert section.offset == end
        end = section.end
    assert end == len(data)
    json.dumps(codec.summary(found))
    return found


@pytest.mark.samples("*dragonnest/*.msh", "*dragonnest/*.skn", "*dragonnest/*.ani", "*dragonnest/*.anim")
def test_samples(sample: Path) -> None:
    comes_back(CODECS[sample.suffix], sample.read_bytes())


def test_samples_hold_what_is_said_of_them(samples: Path) -> None:
    """Counts and names of every file, as its maker wrote them down."""
    folder = samples / "dragonnest" / "synthetic"
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    tried = 0
    for name, facts in truth.items():
        codec = CODECS.get((folder / name).suffix)
        if codec is None:
            continue
        data = (folder / name).read_bytes()
        assert facts["size"] == len(data)
        assert _facts(codec.read(data)) == {
            key: value for key, value in facts.items() if key not in {"size", "lens"}
        }, name
        tried += 1
    assert tried == 31


def _facts(found: Any) -> dict[str, Any]:
    if isinstance(found, AniList):
        return {"multi": len(found.files)}
    if isinstance(found, msh.Msh):
        meshes = [
            {
                "name": part.label,
                "nv": len(part.positions),
                "ni": len(part.indices),
                "tris": len(triangles.of(part).corners),
                "uvs": len(part.uvs),
                "strip": int(part.is_strip),
                "rig": 0 if part.skin is None else len(part.skin.names),
                "col": int(part.colours is not None),
            }
            for part in found.submeshes
        ]
        dummies = [entry.label for entry in found.dummies]
        kinds = [int(entry.kind) for entry in found.collisions]
        return {
            "version": found.version,
            "meshes": meshes,
            "bones": found.bone_names,
            "cols": kinds,
            "dummies": dummies,
        }
    if isinstance(found, skn.Skn):
        labels = [material.label for material in found.materials]
        return {"version": found.version, "mats": labels, "props": [len(m.properties) for m in found.materials]}
    if isinstance(found, anim.Anim):
        return {"bones": [names.text(bone.name) for bone in found.bones]}
    counts = [
        [[len(track) for track in bone[clip].tracks] for bone in found.records] for clip in range(len(found.clip_names))
    ]
    # One sample spells its only bone in capitals, which the game takes for the same name.
    labels = ["~Root"] if found.bone_names == ["~ROOT"] else found.bone_names
    return {"version": found.version, "names": found.clips, "bones": labels, "keys": counts}


@pytest.mark.parametrize("version", msh.VERSIONS)
def test_every_stream_of_an_msh(version: int) -> None:
    model = dragons.model(version)
    found = comes_back(msh, msh.write(model))
    assert [part.label for part in found.submeshes] == ["Body", "Hair_0", "Blade", "파란 망토"]
    assert found.bone_names == list(dragons.BONES)
    assert (found.lod_count, found.uv_animation, found.pad, found.trailing) == (2, 1, b"\1\2\3", b"the end")
    assert found.reserved[:512] == bytes(range(256)) * 2
    hair = found.submeshes[1]
    assert hair.uvs.shape == (3, len(hair.positions), 2)
    assert hair.colours is not None and (hair.colours == model.submeshes[1].colours).all()
    assert hair.skin is not None and int(hair.skin.slots.min()) == -1
    assert found.submeshes[2].skin is None and names.text(found.submeshes[2].parent) == "Bip01 R Thigh"
    assert [int(entry.kind) for entry in found.collisions] == [0, 1, 2, 3, 4]
    assert [entry.label for entry in found.dummies] == ["#effect01", "#FX_01", "Light", "Lamp"]
    assert [names.text(entry.parent or b"") for entry in found.dummies] == ["Bip01 R Thigh", "", "Bip01", ""]
    parents = [names.text(entry.parent) for entry in found.collisions]
    assert parents == (["Scene Root", "Bip01 Head", "", "머리카락", ""] if version > 10 else [""] * 5)


@pytest.mark.parametrize("order", range(5))
@pytest.mark.parametrize("version", skn.VERSIONS)
def test_every_property_of_an_skn(version: int, order: int) -> None:
    model = dragons.materials(version, order)
    found = comes_back(skn, skn.write(model))
    assert [material.label for material in found.materials] == ["mat 0", "mat 1", "mat 2", "mat 3"]
    assert found.materials[1].get("G_diffusetex") is not None
    assert [entry.texture for entry in found.materials[2].properties if entry.texture] == ["살갗2.dds"]
    assert [entry.kind for entry in found.materials[0].properties] == [
        entry.kind for entry in model.materials[0].properties
    ]
    assert found.trailing == b"behind" and found.body_rest == (b"odd" if version > 10 else b"")


@pytest.mark.parametrize("size", range(64))
@pytest.mark.parametrize("order", range(5))
def test_pieces_of_a_body_stand_as_described(order: int, size: int) -> None:
    """Four pieces of an even number of bytes and a long one; a table that was worked out by hand."""
    body = bytes(range(size))
    short = size // 5 // 2 * 2
    cuts = [0, short, 2 * short, 3 * short, 4 * short, size]
    table = {0: "23041", 1: "10423", 2: "43012", 3: "32140", 4: "32401"}[order]
    stored = b"".join(body[cuts[int(piece)] : cuts[int(piece) + 1]] for piece in table)
    assert skn.scrambled(body, order) == stored
    assert skn.unscrambled(stored, order) == body


@pytest.mark.parametrize("version", ani.VERSIONS)
def test_every_track_of_an_ani(version: int) -> None:
    model = dragons.animation(version)
    found = comes_back(ani, ani.write(model))
    assert found.clips == ["Stand", "공격", "Rest"]
    assert found.bone_names == list(dragons.BONES)
    assert found.parent_names[:3] == ["Scene Root", "Bip01", "Bip01 Pelvis"]
    assert [len(track) for track in found.records[3][0].tracks] == [12, 12, 3]
    assert [len(track) for track in found.records[3][2].tracks] == [0, 0, 0]


@pytest.mark.parametrize(
    "text", [b"a.ani", b"a.ani\r\nb.ANI\r\n", b"\nfolder\\a b.ani\n\n", "캐릭터.ani\r".encode("cp949")]
)
def test_a_text_ani(text: bytes) -> None:
    found = comes_back(ani, text)
    assert isinstance(found, AniList)
    assert all(name.lower().endswith(".ani") for name in found.files)
    assert AniList.of(found.files).files == found.files


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("\ufeff캐릭터.ani\r\nb.ani\r\n".encode(), ["캐릭터.ani", "b.ani"]),
        (b"\xef\xbb\xbfa.ani", ["a.ani"]),
        ("공격.ani\n걷기.ani\n".encode(), ["공격.ani", "걷기.ani"]),
    ],
)
def test_a_text_ani_of_another_editor(text: bytes, files: list[str]) -> None:
    """A mark in front is not part of the first name; both it and the encoding go back as they came."""
    found = comes_back(ani, text)
    assert isinstance(found, AniList)
    assert found.files == files


def test_a_dump() -> None:
    model = dragons.dump()
    found = comes_back(anim, anim.write(model))
    whole = anim.to_ani(found, "공격")
    assert whole.clips == ["공격"] and whole.lengths.tolist() == [12]
    assert ani.read_binary(ani.write(whole)).bone_names == list(dragons.BONES)
    assert anim.write(anim.from_ani(whole, 0)) == anim.write(model)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(msh.VERSIONS))
def test_any_msh(seed: int, version: int) -> None:
    comes_back(msh, msh.write(dragons.arbitrary_msh(np.random.default_rng(seed), version)))


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(skn.VERSIONS))
def test_any_skn(seed: int, version: int) -> None:
    comes_back(skn, skn.write(dragons.arbitrary_skn(np.random.default_rng(seed), version)))


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(ani.VERSIONS))
def test_any_ani(seed: int, version: int) -> None:
    comes_back(ani, ani.write(dragons.arbitrary_ani(np.random.default_rng(seed), version)))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 0xFFFFFFFF))
def test_the_alpha_keeps_its_bits(bits: int) -> None:
    """Numbers that are none among them."""
    data = bytearray(skn.write(dragons.materials(10, count=1)))
    data[1024 + 512 : 1024 + 516] = struct.pack("<I", bits)
    assert skn.write(skn.read(bytes(data))) == data


def test_versions_are_converted_and_back() -> None:
    """Everything that both versions hold survives."""
    new = msh.converted(msh.read(msh.write(dragons.model(12))), 13)
    again = msh.read(msh.write(new))
    assert again.version == 13 and names.text(again.magic) == "Eternity Engine Mesh File 0.13"
    with pytest.raises(ExportError, match='dummy "Lamp" has no parent'):
        msh.write(msh.converted(again, 12))
    del again.dummies[3]
    back = msh.read(msh.write(msh.converted(again, 12)))
    assert [(entry.label, names.text(entry.parent or b"")) for entry in back.dummies] == [
        ("#effect01", "Bip01 R Thigh"), ("#FX_01", ""), ("Light", "Bip01"),
    ]  # fmt: skip
    assert msh.read(msh.write(msh.converted(back, 10))).collisions[1].parent == b""
    old = skn.read(skn.write(dragons.materials(10)))
    for order in range(5):
        other = skn.read(skn.write(skn.converted(old, 11, order)))
        assert skn.write(skn.converted(other, 10))[1024:] == skn.write(old)[1024 : -len(old.trailing)]


def test_clips_are_chosen_and_files_of_a_list_merged() -> None:
    first, second = dragons.animation(11), dragons.animation(10)
    second.bones = second.bones[::-1].copy()
    second.records.reverse()
    both, notes = ani.merged([first, ani.with_clips(second, [1, 0])])
    assert notes == []
    assert both.clips == ["Stand", "공격", "Rest", "공격", "Stand"]
    assert both.lengths.tolist() == [12, 5, 1, 5, 12]
    found = ani.read_binary(ani.write(both))
    for one, other in zip(found.records[4][0].tracks, found.records[4][4].tracks, strict=True):
        assert one.tobytes() == other.tobytes()
    third = dragons.animation(11)
    third.bones["name"][2] = np.void(names.field("Tail"))
    merged, notes = ani.merged([first, third])
    assert len(notes) == 1 and "lacks 1 bones" in notes[0] and "has 1 that" in notes[0]
    assert [len(track) for track in merged.records[2][3].tracks] == [0, 0, 0]
    assert first.clips == ["Stand", "공격", "Rest"]
