# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged and foreign Dragon Nest files: read correctly, or refused in one sentence, at little cost."""

from __future__ import annotations

import struct
import tracemalloc
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_carnivores.formats import ani as carnivores_ani
from addon.io_carnivores.formats import car, model_3df, model_3dn, vtl
from addon.io_common.formats import registry
from addon.io_common.formats.errors import ExportError, FormatError, UnsupportedError
from addon.io_dragonnest.formats import ani, ani_list, anim, check_character, checks, msh, pose, skn, submesh, triangles
from addon.io_dragonnest.formats.dummy import Dummy

from tests import dragons, hostile, models

if TYPE_CHECKING:
    from collections.abc import Callable

FILES: dict[str, tuple[Any, bytes]] = {
    **{f"msh {version}": (msh, msh.write(dragons.model(version))) for version in msh.VERSIONS},
    **{f"skn {version}": (skn, skn.write(dragons.materials(version, 3, 2))) for version in skn.VERSIONS},
    **{f"ani {version}": (ani, ani.write(dragons.animation(version, frames=2))) for version in ani.VERSIONS},
    "anim": (anim, anim.write(dragons.dump())),
}
COUNTS = (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10000000, 0x00FFFFFF)


def refused(read: Callable[[bytes], Any], data: bytes) -> FormatError:
    """The one sentence with which `data` is refused."""
    with pytest.raises(FormatError) as caught:
        read(data)
    assert hostile.is_sentence(str(caught.value)), str(caught.value)
    return caught.value


def changed(data: bytes, offset: int, raw: bytes) -> bytes:
    return data[:offset] + raw + data[offset + len(raw) :]


@pytest.mark.parametrize("name", FILES)
def test_truncated_at_every_byte(name: str) -> None:
    """No part of a file is a file, but for what ends before the bytes that stand behind it all."""
    codec, data = FILES[name]
    ends = {"msh": len(b"the end"), "skn": len(b"behind")}.get(name.split(maxsplit=1)[0], 0)
    accepted, said = set(), set()
    for size in range(len(data)):
        try:
            found = codec.read(data[:size])
        except FormatError as error:
            said.add(str(error))
            continue
        accepted.add(size)
        assert codec.write(found) == data[:size]
    assert [text for text in said if not hostile.is_sentence(text)] == []
    whole = set(range(len(data) - ends, len(data)))
    if name == "anim":  # every bone is whole by itself
        assert len(accepted) == len(dragons.BONES) - 1
    else:
        assert accepted == whole


@pytest.mark.parametrize("name", FILES)
def test_every_byte_changed(name: str) -> None:
    """Accepted changes come back to the byte; refusals are sentences."""
    codec, data = FILES[name]
    step = max(1, len(data) // 1500)
    accepted, said = 0, set()
    for offset in range(0, len(data), step):
        for value in (0, 0xFF, data[offset] ^ 1):
            other = changed(data, offset, bytes([value]))
            try:
                found = codec.read(other)
            except FormatError as error:
                said.add(str(error))
                continue
            accepted += 1
            assert codec.write(found) == other
    assert accepted > 500
    assert said and [text for text in said if not hostile.is_sentence(text)] == []


def lies(name: str) -> list[bytes]:
    """Files whose counts promise what is not there."""
    _codec, data = FILES[name]
    places = {
        "msh": (260, 296, 300, 304, 1024 + 8 * 320 + 512, 1024 + 8 * 320 + 516, 1024 + 8 * 320 + 520),
        "skn": (516, 520) if name == "skn 11" else (516, 2048, 2052),
        "ani": (260, 264),
        "anim": (len("Bip01\0Scene Root\0") + 40,),
    }[name.split(maxsplit=1)[0]]
    found = [changed(data, place, struct.pack("<I", count)) for place in places for count in COUNTS]
    if name == "skn 11":
        body = bytearray(skn.unscrambled(data[1024 : -len(b"behind")], 3))
        for count in COUNTS:
            body[1024:1028] = struct.pack("<I", count)
            found.append(data[:1024] + skn.scrambled(bytes(body), 3) + b"behind")
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_lying_count_costs_no_memory(name: str) -> None:
    """Counts are compared with the bytes there are before anything is made for them."""
    codec, _data = FILES[name]
    cases = lies(name)
    assert len(cases) >= 5
    tracemalloc.start()
    try:
        for data in cases:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            refused(codec.read, data)
            assert tracemalloc.get_traced_memory()[1] - before < 10 * len(data) + 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("codec", [msh, skn, ani])
@pytest.mark.parametrize("version", [0, 1, 9, 14, 100, -1, 0x7FFFFFFF])
def test_an_unknown_version_is_named(codec: Any, version: int) -> None:
    name = codec.__name__.rpartition(".")[2]
    data = FILES[f"{name} 10"][1]
    at = 512 if codec is skn else 256
    error = refused(codec.read, changed(data, at, struct.pack("<i", version)))
    assert isinstance(error, UnsupportedError)
    assert str(error).startswith(f"{name.upper()} version {version} is not known at byte {at}: expected one of 10")


@pytest.mark.parametrize("codec", [msh, skn, ani, anim])
@pytest.mark.parametrize("data", [b"", b"\0", bytes(4096), b"text " * 500, b"MZ" + bytes(2000), b"\xff" * 3000])
def test_foreign_files(codec: Any, data: bytes) -> None:
    assert not codec.sniff(data[:1024], len(data))
    if codec is not anim or data[:1] != b"\0":  # a dump of bones without names and keys is all zeros
        refused(codec.read, data)


@pytest.mark.parametrize("code", [-1, 5, 6, 0x7FFFFFFF])
def test_an_unknown_order_of_an_skn(code: int) -> None:
    error = refused(skn.read, changed(FILES["skn 11"][1], 524, struct.pack("<i", code)))
    assert f"a code of 0 to 4, found {code}" in str(error)
    broken = dragons.materials(11, 0)
    broken.order = code
    with pytest.raises(ExportError, match=f"{code} is not known"):
        skn.write(broken)


@pytest.mark.parametrize("kind", [-2, 5, 1000])
def test_an_unknown_property_type(kind: int) -> None:
    data = FILES["skn 10"][1]
    (size,) = struct.unpack_from("<i", data, 2052)
    error = refused(skn.read, changed(data, 2056 + size, struct.pack("<i", kind)))
    assert 'property 0 of material 0 "mat 0" is of an unknown type' in str(error)


def test_an_unknown_collision_type() -> None:
    model = msh.Msh(13, collisions=dragons.collisions()[:1])
    data = msh.write(model)
    for kind in (-1, 5, 1 << 20):
        error = refused(msh.read, changed(data, 1024, struct.pack("<i", kind)))
        assert f"collision 0 is of an unknown type at byte 1024: expected 0 to 4, found {kind}" in str(error)


@pytest.mark.parametrize("strip", [True, False])
@pytest.mark.parametrize("bad", [12, 0xFFFF])
def test_an_index_beyond_the_vertices_names_its_place(strip: bool, bad: int) -> None:
    """It would take Blender down with it."""
    model = msh.Msh(13, [dragons.part(strip=strip)])
    index = 5
    data = changed(msh.write(model), 2048 + 2 * index, struct.pack("<H", bad))
    error = refused(msh.read, data)
    assert error.offset == 2048 + 2 * index
    assert f'index 5 of sub-mesh 0 "Body" points at a vertex that does not exist at byte {error.offset}' in str(error)
    assert f"expected a number below 12, found {bad}" in str(error)


def test_indices_without_vertices() -> None:
    model = msh.Msh(13, [dragons.part()])
    model.submeshes[0].positions = model.submeshes[0].normals = np.zeros((0, 3), "<f4")
    model.submeshes[0].uvs = np.zeros((1, 0, 2), "<f4")
    assert "expected no index, as there are no vertices" in str(refused(msh.read, msh.write(model)))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(number: float) -> None:
    """Refused where they make a place; elsewhere kept, and left out where they would be used."""
    model = msh.Msh(13, [dragons.part(bones=dragons.BONES[:2])], dragons.bone_table())
    sound = msh.write(model)
    part = 1024 + 8 * 320 + 1024
    position = part + 2 * len(model.submeshes[0].indices)
    raw = struct.pack("<f", number)
    assert "vertex 2 holds a number that is not finite" in str(refused(msh.read, changed(sound, position + 24, raw)))
    assert "bone 1 holds a number" in str(refused(msh.read, changed(sound, 1024 + 320 + 256 + 12, raw)))
    weights = len(sound) - 2 * 256 - 4 - 12 * 16
    data = changed(sound, weights, raw)
    found = msh.read(data)
    assert msh.write(found) == data
    _slots, clean, lost = submesh.influences(found.submeshes[0])
    assert lost == 1 and np.isfinite(clean).all() and clean[0, 0] == 0


def test_bits_that_make_numpy_warn() -> None:
    """Signalling NaNs, in weights, normals, keys and bases: kept, and used without a word from numpy."""
    bits = np.full(4, 0x7FA00001, np.uint32).view("<f4")
    model = msh.Msh(13, [dragons.part(bones=dragons.BONES[:2])], dragons.bone_table())
    model.submeshes[0].normals[2] = bits[:3]
    assert model.submeshes[0].skin is not None
    model.submeshes[0].skin.weights[2] = bits
    found = dragons.animation(10)
    found.records[1][0].positions["value"][1] = bits[:3]
    found.records[1][2].base["rotation"] = bits
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, found = msh.read(msh.write(model)), ani.read_binary(ani.write(found))
        assert np.isfinite(pose.shown(model, found, 0, [0.0, 1.0])[0]).all()
        assert np.isfinite(pose.shown(model, found, 2, [0.0, 1.0])[0]).all()
        assert {issue.code for issue in checks.check_msh(model)} >= {"normals-not-unit", "weight-without-bone"}
        assert "key-no-number" in {issue.code for issue in check_character.check_ani(found)}
    assert model.submeshes[0].normals[2].tobytes() == bits[:3].tobytes()


def test_half_of_a_strip_is_joints() -> None:
    """Triangles without an area are no faces, but they count for the turn."""
    part = dragons.part(9, 9)
    corners = triangles.of(part).corners
    joined: list[int] = []
    for a, b, c in corners.tolist():
        joined += [joined[-1], a] if joined else []
        joined += [a, a, b, c] if len(joined) % 2 else [a, b, c]
    found = triangles.of_indices(np.array(joined, "<u2"), is_strip=True)
    assert found.degenerate > 0.48 * len(joined)
    assert (triangles.turned(found.corners) == triangles.turned(corners)).all()


@pytest.mark.parametrize("indices", [[], [0], [0, 1], [0, 1, 2], [0, 0, 0, 0]])
@pytest.mark.parametrize("strip", [True, False])
def test_short_index_lists(indices: list[int], strip: bool) -> None:
    model = msh.Msh(13, [dragons.part(strip=strip)])
    model.submeshes[0].indices = np.array(indices, "<u2")
    found = msh.read(msh.write(model)).submeshes[0]
    assert len(triangles.of(found).corners) == (1 if indices == [0, 1, 2] else 0)


def test_slots_that_point_nowhere() -> None:
    """Left out with their weight; the rest of the vertex stays."""
    part = dragons.part(bones=dragons.BONES[:3])
    assert part.skin is not None
    part.skin.slots[0], part.skin.weights[0] = (-1, 2, 3, 0), (0.5, 0.25, 0.25, 0.0)
    slots, weights, lost = submesh.influences(part)
    assert lost == 2
    assert slots[0].tolist() == [0, 2, 0, 0] and weights[0].tolist() == [0.0, 0.25, 0.0, 0.0]
    codes = {issue.code for issue in checks.check_msh(msh.Msh(13, [part], dragons.bone_table()))}
    assert "weight-without-bone" in codes


def test_the_ambiguous_dummy_is_refused_with_the_way_out() -> None:
    model = msh.Msh(12, dummies=[Dummy(b"Light")])
    with pytest.raises(ExportError) as caught:
        msh.write(model)
    assert hostile.is_sentence(str(caught.value))
    for words in ('"Light"', "MSH 12", "give it a parent", "rename it", "export as MSH 13"):
        assert words in str(caught.value)
    assert "dummy-name" in {issue.code for issue in checks.check_msh(model)}
    for mended in (
        msh.Msh(12, dummies=[Dummy(b"Light", b"Scene Root")]),
        msh.Msh(12, dummies=[Dummy(b"light")]),
        msh.Msh(13, dummies=[Dummy(b"Light")]),
    ):
        assert msh.read(msh.write(mended)).dummies[0].label.lower() == "light"
    long = msh.Msh(12, dummies=[Dummy(b"x" * 256, b"Scene Root")])
    with pytest.raises(ExportError, match="one byte too long"):
        msh.write(long)


@pytest.mark.parametrize("others", [0, 1, 2])
def test_an_ambiguous_dummy_in_a_file_is_refused_with_the_way_out(others: int) -> None:
    """As a tool may have written it that knows nothing of the mark."""
    data = bytearray(msh.write(msh.Msh(11)))
    data[304:308] = (1 + others).to_bytes(4, "little")
    for name in [b"Light", b"#effect", b"Lamp"][: 1 + others]:
        data += name.ljust(256, b"\0") + np.array([1, 2, 3], "<f4").tobytes()
    with pytest.raises(FormatError) as caught:
        msh.read(bytes(data))
    assert hostile.is_sentence(str(caught.value))
    for words in ("at byte", '"Light" begins with an L', "MSH 11", "rename the dummy", "MSH 13"):
        assert words in str(caught.value)


def test_more_or_fewer_materials_than_sub_meshes() -> None:
    model = dragons.model()
    assert check_character.check_pair(model, dragons.materials(count=4)) == []
    for number, words in ((0, "there are 0 materials"), (1, "there is 1 material for 4"), (5, "are 5 materials for 4")):
        (issue,) = check_character.check_pair(model, dragons.materials(count=number))
        assert words in issue.message


def test_the_ani_files_of_two_games_are_told_apart() -> None:
    """By content: both have the extension .ani, and one may be plain text."""
    rng = np.random.default_rng(1)
    values = rng.integers(-5, 5, (3, 7, 3)).astype("<i2")
    mobile = struct.pack("<3i", 10, 3, 7) + values.tobytes()
    assert carnivores_ani.sniff(mobile, len(mobile)) and not ani.sniff(mobile, len(mobile))
    for data in (FILES["ani 10"][1], FILES["ani 11"][1], b"first.ani\r\nsecond.ani\r\n"):
        assert ani.sniff(data[:1024], len(data)) and not carnivores_ani.sniff(data[:1024], len(data))
    entries = [_Entry("Carnivores ANI", ".ani", carnivores_ani.sniff), _Entry("Dragon Nest ANI", ".ani", ani.sniff)]
    assert registry.identify(mobile, Path("x.ani"), entries) is entries[0]  # type: ignore[arg-type, comparison-overlap]
    assert registry.identify(b"a.ani\n", Path("x.ani"), entries) is entries[1]  # type: ignore[arg-type, comparison-overlap]


class _Entry:
    def __init__(self, label: str, extension: str, sniff: Callable[[bytes, int], bool]) -> None:
        self.label, self.extensions, self.sniff = label, (extension,), sniff


@pytest.mark.parametrize(
    "data",
    [
        b"a letter.\r\nsee x.ani\r\nbye\r\n",
        b"\r\n\r\n",
        b"x.ani\r\ny.msh\r\n",
        b"\x01x.ani\r\n",
        b"x" * 300 + b".ani",
        b"carnivores_character\r\n[files]\r\nani = a.ani\r\nmodel = b\r\n",
    ],
)
def test_other_texts_are_no_list(data: bytes) -> None:
    assert not ani_list.sniff(data, len(data))
    refused(ani.read, data)


def test_a_long_list_is_known_by_its_head() -> None:
    data = b"some_animation_file.ani\r\n" * 500
    assert ani.sniff(data[:1024], len(data))
    assert len(ani.read(data).files) == 500


def test_a_dump_is_taken_for_nothing_else() -> None:
    """And nothing else for a dump, though it has no magic text."""
    data = FILES["anim"][1]
    others = (car, model_3df, model_3dn, vtl, carnivores_ani, msh, skn, ani)
    assert not any(codec.sniff(data[:1024], len(data)) for codec in others)
    foreign = [
        model_3df.write(models.small()),
        model_3dn.write(models.as_mobile(models.small())),
        *(found for name, (_codec, found) in FILES.items() if name != "anim"),
    ]
    assert not any(anim.sniff(found[:1024], len(found)) for found in foreign)
