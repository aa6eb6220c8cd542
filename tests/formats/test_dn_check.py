# SPDX-License-Identifier: GPL-3.0-or-later
"""What an exporter of Dragon Nest files looks for, and that it finds nothing where nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_common.formats.errors import ExportError
from addon.io_common.formats.issues import Severity
from addon.io_dragonnest.formats import ani, check_character, checks, keys, msh, names, skn
from addon.io_dragonnest.formats.ani_list import AniList
from addon.io_dragonnest.formats.dummy import Dummy

from tests import dragons, hostile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from addon.io_common.formats.issues import Issue


def codes(found: list[Issue]) -> set[str]:
    """The codes, after a look at the form of what is said."""
    for issue in found:
        assert hostile.is_sentence(issue.message + "."), issue.message
    severities = [issue.severity is Severity.ERROR for issue in found]
    assert severities == sorted(severities, reverse=True)
    return {issue.code for issue in found}


@pytest.mark.samples("*dragonnest/*.msh", "*dragonnest/*.skn", "*dragonnest/*.ani", "*dragonnest/*.anim")
def test_samples_are_sound(sample: Path) -> None:
    from addon.io_dragonnest.formats import anim

    codec: Any = {".msh": msh, ".skn": skn, ".ani": ani, ".anim": anim}[sample.suffix]
    check: Any = {".msh": checks.check_msh, ".skn": check_character.check_skn}.get(
        sample.suffix, check_character.check_ani
    )
    found = check(codec.read(sample.read_bytes()))
    assert [issue for issue in found if issue.severity is Severity.ERROR] == []


def test_a_sound_character_has_no_issues() -> None:
    assert checks.check_msh(dragons.character()) == []
    assert check_character.check_ani(dragons.animation()) == []
    assert check_character.check_pair(dragons.character(), dragons.materials(count=2)) == []


def spoil(change: Callable[[msh.Msh], None]) -> list[Issue]:
    model = msh.read(msh.write(dragons.character()))
    for part in model.submeshes:
        part.normals, part.uvs, part.indices = part.normals.copy(), part.uvs.copy(), part.indices.copy()
        if part.skin is not None:
            part.skin.weights, part.skin.slots = part.skin.weights.copy(), part.skin.slots.copy()
            part.skin.names = part.skin.names.copy()
    model.bones = model.bones.copy()
    change(model)
    return checks.check_msh(model)


def _many_bones(model: msh.Msh) -> None:
    labels = [f"Bone{number}" for number in range(51)]
    model.submeshes[0].skin.names = names.fields([names.field(label) for label in labels])  # type: ignore[union-attr]
    model.bones = np.zeros(51, msh.BONE)
    model.bones["name"] = model.submeshes[0].skin.names  # type: ignore[union-attr]
    model.submeshes[1].parent = names.field("Bone50")


def _many_vertices(model: msh.Msh) -> None:
    part = model.submeshes[1]
    part.positions = np.zeros((65536, 3), "<f4")
    part.normals, part.uvs = part.positions + np.array([1, 0, 0], "<f4"), np.zeros((1, 65536, 2), "<f4")


def _inside(target: Any, word: str) -> Any:
    if word.isdigit():
        return target[int(word)]
    return target[word] if isinstance(target, np.ndarray) else getattr(target, word)


def _set(path: str, place: Any, value: Any) -> Callable[[msh.Msh], None]:
    def change(model: msh.Msh) -> None:
        target: Any = model
        for word in path.split("."):
            target = _inside(target, word)
        target[place] = value

    return change


def _attribute(path: str, name: str, value: Any) -> Callable[[msh.Msh], None]:
    def change(model: msh.Msh) -> None:
        target: Any = model
        for word in path.split(".") if path else ():
            target = _inside(target, word)
        setattr(target, name, value)

    return change


SPOILED: dict[str, Callable[[msh.Msh], None]] = {
    "too-many-bones": _many_bones,
    "too-many-vertices": _many_vertices,
    "empty": _attribute("", "submeshes", []),
    "unknown-bone": _set("submeshes.0.skin.names", 3, np.void(names.field("Nobody"))),
    "missing-parent-bone": _attribute("submeshes.1", "parent", names.field("Nobody")),
    "duplicate-bones": _set("bones.name", 3, np.void(names.field("BIP01 spine"))),
    "duplicate-sub-meshes": _attribute("submeshes.1", "name", names.field("body")),
    "trailing-bytes": _attribute("", "trailing", b"x"),
    "uv-sets": _attribute("submeshes.0", "uvs", np.zeros((0, 25, 2), "<f4")),
    "no-faces": _attribute("submeshes.0", "indices", np.zeros(0, "<u2")),
    "incomplete-triangle": _attribute("submeshes.0", "indices", np.arange(25, dtype="<u2")),
    "degenerate-faces": _set("submeshes.0.indices", slice(0, 3), 7),
    "unused-vertices": _set("submeshes.0.indices", slice(0, 6), [1, 2, 6, 1, 2, 6]),
    "uv-no-number": _set("submeshes.0.uvs", (0, 3), np.nan),
    "normals-not-unit": _set("submeshes.0.normals", 3, np.nan),
    "weight-without-bone": _set("submeshes.0.skin.slots", (3, 0), -1),
    "no-weight": _set("submeshes.0.skin.weights", 3, 0.0),
    "weights-not-one": _set("submeshes.0.skin.weights", (3, 0), 0.5),
    "name-without-end": _attribute("submeshes.0", "name", b"n" * 256),
}


@pytest.mark.parametrize("code", SPOILED)
def test_each_trouble_is_found(code: str) -> None:
    found = spoil(SPOILED[code])
    assert code in codes(found)
    if code in {"uv-no-number", "normals-not-unit", "weight-without-bone", "no-weight"}:
        assert next(issue for issue in found if issue.code == code).vertices.tolist() == [3]


def test_turned_dummies_of_old_files() -> None:
    model = dragons.character()
    turned = Dummy(b"#a")
    turned.matrix = np.diag((2, 2, 2, 1)).astype("<f4")
    model.dummies = [turned, Dummy(b"#b")]
    assert codes(checks.check_msh(model)) == set()
    assert codes(checks.check_msh(msh.converted(model, 12))) == set()  # the conversion has dropped it
    model.version = 12
    assert codes(checks.check_msh(model)) == {"dummy-rotation"}


def ani_with(change: Callable[[ani.Ani], None], version: int = 11) -> set[str]:
    found = dragons.animation(version)
    change(found)
    return codes(check_character.check_ani(found))


def _positions(found: ani.Ani, frames: list[int]) -> None:
    found.records[2][0].positions = keys.vector_keys(10, frames, np.ones((len(frames), 3)))


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([0, 0], "last-key-at-0"),
        ([-3, 0], "last-key-at-0"),
        ([0, 40000], "frame-too-high"),
        ([4, 2], "keys-unsorted"),
        ([-1, 3], "key-before-0"),
        ([0, 12], "key-after-end"),
    ],
)
def test_keys(frames: list[int], code: str) -> None:
    assert code in ani_with(lambda found: _positions(found, frames))
    assert code not in ani_with(lambda found: _positions(found, [0, 11]))


def test_a_single_key_at_0_is_no_trouble() -> None:
    assert ani_with(lambda found: _positions(found, [0])) == set()


def test_the_frame_limit_of_version_11() -> None:
    """The writer refuses what the check finds; version 10 holds it."""
    found = dragons.animation(11)
    found.lengths = np.array([40001, 5, 1], "<i4")
    _positions(found, [0, 40000])
    assert {"frame-too-high", "clip-too-long"} <= codes(check_character.check_ani(found))
    with pytest.raises(ExportError, match="frame 40000, but ANI 11 holds no frame beyond 32767"):
        ani.write(found)
    found = ani.converted(found, 10)
    assert codes(check_character.check_ani(found)) == set()
    again = ani.read_binary(ani.write(found))
    assert again.records[2][0].positions["frame"].tolist() == [0, 40000]
    assert again.records[2][0].rotations.dtype == keys.ROTATION_10


def test_other_troubles_of_an_animation() -> None:
    def unit(found: ani.Ani) -> None:
        found.records[1][0].rotations = keys.rotation_keys(10, [0, 5], np.full((2, 4), 0.2))

    def number(found: ani.Ani) -> None:
        found.records[1][2].base["scale"][0, 1] = np.inf

    def parent(found: ani.Ani) -> None:
        found.bones["parent"][3] = np.void(names.field("Nobody"))

    assert ani_with(unit) == {"rotation-not-unit"}
    assert ani_with(number) == {"key-no-number"}
    assert ani_with(parent) == {"hierarchy"}
    assert ani_with(lambda found: found.clip_names.__setitem__(1, b"STAND")) == {"duplicate-clips"}
    assert codes(check_character.check_ani(AniList(b""))) == {"empty-list"}
    assert codes(check_character.check_ani(dragons.dump())) == set()


def test_materials() -> None:
    found = dragons.materials(11, 3)
    assert codes(check_character.check_skn(found)) == {"trailing-bytes", "duplicate-properties"}
    found.order = 9
    found.materials[0].alpha = float("nan")
    found.materials[1].properties = [skn.Property.of("x", skn.Kind.FLOAT, float("inf"))]
    assert {"unknown-order", "alpha-no-number", "property-no-number"} <= codes(check_character.check_skn(found))
    assert codes(check_character.check_skn(skn.Skn())) == {"no-materials"}


@pytest.mark.parametrize("text", ["Bip01", "머리카락", "가" * 127, "x" * 255, ""])
def test_names_that_fit(text: str) -> None:
    raw = names.field(text)
    assert len(raw) == 256 and names.text(raw) == text and names.fits(text) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("가" * 128, "takes 256 bytes in CP949, more than the 255"),
        ("x" * 256, "takes 256 bytes"),
        ("café", 'holds "é", which Korean Windows text'),
        ("龍\U0001f409", "which Korean Windows text"),
        ("a\0b", "holds a NUL"),
    ],
)
def test_names_that_do_not(text: str, words: str) -> None:
    """Measured in bytes: a Korean letter takes two."""
    with pytest.raises(ExportError) as caught:
        names.field(text, "bone")
    assert str(caught.value).startswith('the bone name "') and words in str(caught.value)
    assert hostile.is_sentence(str(caught.value))


def test_leftovers_of_names_are_kept_while_the_name_is() -> None:
    raw = dragons.junk("머리")
    assert names.text(raw) == "머리"
    assert names.kept(raw, "머리") == raw
    assert names.kept(raw, "Head") == b"Head".ljust(256, b"\0")
    assert names.text(b"\xff\xfe\0") == "\\xff\\xfe" and names.text(b"\xff") != names.text(b"\xfe")
    assert names.key("BIP01 L Hand ") == names.key(b"bip01 l hand\0junk")


def test_bad_values_of_properties() -> None:
    with pytest.raises(ExportError, match="holds 4 numbers, not 2"):
        skn.Property.of("g_Color", skn.Kind.VECTOR, (1.0, 2.0))
    with pytest.raises(ExportError, match="does not fit into 32 bits"):
        skn.Property.of("g_Int", skn.Kind.INTEGER, 2**31)
    assert skn.Property.of("g_Int", skn.Kind.INTEGER, -7).numbers.tolist() == [-7]
    assert skn.Property.of("g_Tex", skn.Kind.TEXTURE, "a.dds").texture == "a.dds"
    assert skn.Property.of("g_V", skn.Kind.VECTOR).numbers.tolist() == [0, 0, 0, 0]
