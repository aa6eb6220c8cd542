# SPDX-License-Identifier: GPL-3.0-or-later
"""CAT: the text, and the files it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_carnivores.formats import ani, cat, cat_set, model_3dn, sound_data
from addon.io_carnivores.formats.cat import Cat, CatAnimation
from addon.io_carnivores.formats.model import name_field
from addon.io_carnivores.formats.motion import Animation
from addon.io_common.formats import files
from addon.io_common.formats.digest import Digest
from addon.io_common.formats.errors import ExportError, FormatError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import characters

if TYPE_CHECKING:
    from pathlib import Path

WORD = st.text(st.sampled_from("abcXYZ_019 .-ä"), min_size=1, max_size=12).map(str.strip).filter(bool)


@settings(max_examples=100, deadline=None)
@given(
    WORD,
    WORD,
    st.lists(st.tuples(WORD, st.integers(-1, 9)).map(lambda entry: CatAnimation(*entry)), max_size=4),
    st.lists(WORD, max_size=4),
)
def test_what_is_written_is_read(title: str, model: str, animations: list[CatAnimation], sounds: list[str]) -> None:
    """Names, order and sounds come back, and then the text itself."""
    made = Cat(title, model, animations, sounds)
    data = cat.write(made)
    assert cat.sniff(data[:1024], len(data))
    assert cat.read(data) == made
    assert cat.write(cat.read(data)) == data


@pytest.mark.samples("*.cat")
def test_samples(sample: Path) -> None:
    """Real files come back to the byte, and change when something in them does."""
    data = sample.read_bytes()
    found = cat.read(data)
    assert cat.write(found) == data
    found.animations[0] = CatAnimation("another", 2)
    assert cat.read(cat.write(found)).animations[0] == CatAnimation("another", 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("carnivores_area_resources\n", "not a character description"),
        ('carnivores_character\n[general]\ntitle = "a"\n', "names no model"),
        ("carnivores_character\n[animations]\nanimation_id 1\n", "not numbered in order"),
        ("carnivores_character\n[animations]\nanimation_id 0\nsound_index = many\n", "not a number"),
        ("carnivores_character\nsomething odd\n", "cannot be understood"),
    ],
)
def test_bad_texts(text: str, words: str) -> None:
    """One sentence each, with the place."""
    with pytest.raises(FormatError, match=words) as caught:
        cat.read(text.encode())
    assert caught.value.offset is not None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole character, one animation short of its three, with a sound in a folder beside."""
    model = characters.tube(0)
    model.texture_name = name_field("skin")
    base, other = tmp_path / "characters", tmp_path / "sounds"
    base.mkdir()
    other.mkdir()
    (base / "Worm.3DN").write_bytes(model_3dn.write(model))
    for number, name in enumerate(("walk", "idle")):
        (base / f"{name}.ani").write_bytes(ani.write(Animation(b"", 10, characters.swing(model, 5 + number))))
    (other / "roar.wav").write_bytes(sound_data.wav(characters.sound().data))
    text = Cat(
        "Worm", "worm.3dn", [CatAnimation("walk", 0), CatAnimation("gone"), CatAnimation("idle")], ["roar", "hush"]
    )
    (base / "worm.cat").write_bytes(cat.write(text))
    return tmp_path


def test_all_files_are_found_and_the_missing_listed_once(folder: Path) -> None:
    """In any letter case, in folders beside; what is missing is one warning."""
    path, digest = folder / "characters" / "worm.cat", Digest()
    found = cat_set.companions(cat_set.read(path.read_bytes()), path, (), digest, with_texture=False)
    assert [None if entry is None else len(entry.frames) for entry in found.animations] == [5, None, 6]
    assert [entry is not None for entry in found.sounds] == [True, False]
    assert digest.lines == ["2 files were not found: gone.ani, hush.wav"]
    beside = cat_set.beside(found, folder / "out" / "new.cat")
    assert sorted(target.name for target in beside) == ["idle.ani", "roar.wav", "walk.ani", "worm.3dn"]
    assert beside[folder / "out" / "worm.3dn"] == (folder / "characters" / "Worm.3DN").read_bytes()
    assert {target.parent for target in beside} == {folder / "out"}


def test_no_model_no_character(folder: Path) -> None:
    """Without the 3DN there is nothing to show."""
    (folder / "characters" / "Worm.3DN").unlink()
    path = folder / "characters" / "worm.cat"
    with pytest.raises(FormatError, match=r"worm\.3dn"):
        cat_set.companions(cat_set.read(path.read_bytes()), path, (), Digest(), with_texture=False)


def test_an_animation_of_another_model_is_left_out(folder: Path) -> None:
    """It is said by name."""
    path, digest = folder / "characters" / "worm.cat", Digest()
    (path.parent / "idle.ani").write_bytes(ani.write(Animation(b"", 10, np.zeros((2, 3, 3), "<i2"))))
    found = cat_set.companions(cat_set.read(path.read_bytes()), path, (), digest, with_texture=False)
    assert found.animations[2] is None
    assert any("idle.ani: it moves 3 vertices" in line for line in digest.details)


def test_names_do_not_lead_out_of_the_folder(folder: Path) -> None:
    """Whatever a text says."""
    path = folder / "characters" / "worm.cat"
    found = cat_set.companions(cat_set.read(path.read_bytes()), path, (), Digest(), with_texture=False)
    found.cat.animations[0] = CatAnimation("../../evil")
    assert {target.parent for target in cat_set.beside(found, path)} == {path.parent}


def test_two_different_parts_of_one_name(folder: Path) -> None:
    """Nothing is overwritten silently."""
    path = folder / "characters" / "worm.cat"
    found = cat_set.companions(cat_set.read(path.read_bytes()), path, (), Digest(), with_texture=False)
    found.cat.animations[2] = CatAnimation("walk")
    with pytest.raises(ExportError, match=r"walk\.ani"):
        cat_set.beside(found, path)


def test_a_file_that_is_named_often_is_read_once(folder: Path) -> None:
    """And shared; a complaint about it is made once."""
    path, digest = folder / "characters" / "worm.cat", Digest()
    (path.parent / "idle.ani").write_bytes(b"damaged")
    text = Cat("", "worm", [CatAnimation(name) for name in ("walk", "WALK", "walk", "idle", "idle", "gone", "gone")])
    text.sounds = ["roar", "Roar"]
    found = cat_set.companions(cat_set.CatSet(text), path, (), digest, with_texture=False)
    assert found.animations[0] is not None
    assert all(entry is found.animations[0] for entry in found.animations[:3])
    assert found.sounds[0] is found.sounds[1]
    assert digest.lines[-1] == "1 file was not found: gone.ani"
    assert sum("idle.ani" in line for line in digest.details) == 1


def test_a_short_text_cannot_swell(folder: Path) -> None:
    """One large file under many numbers, and more entries than any game holds."""
    path = folder / "characters" / "worm.cat"
    model = characters.tube(0)
    large = np.zeros((4000, len(model.vertices), 3), "<i2")
    (path.parent / "walk.ani").write_bytes(ani.write(Animation(b"", 10, large)))
    for count, fits in ((4, True), (40, False)):
        found = cat_set.CatSet(Cat("", "worm", [CatAnimation("walk")] * count))
        if fits:
            cat_set.companions(found, path, (), Digest(), with_texture=False)
        else:
            with pytest.raises(FormatError, match="too often"):
                cat_set.companions(found, path, (), Digest(), with_texture=False)
    for listed in ([CatAnimation("a")] * cat.MOST_ENTRIES, [CatAnimation("a")] * (cat.MOST_ENTRIES + 1)):
        data = cat.write(Cat("", "worm", listed))
        if len(listed) > cat.MOST_ENTRIES:
            with pytest.raises(FormatError, match="too many entries"):
                cat.read(data)
        else:
            assert len(cat.read(data).animations) == cat.MOST_ENTRIES


def test_files_that_differ_by_case_only(folder: Path) -> None:
    """Each entry gets its own, where the disk can hold both; none goes over the other when they are written."""
    path = folder / "characters" / "worm.cat"
    other = (path.parent / "idle.ani").read_bytes()
    (path.parent / "Walk.ani").write_bytes(other)
    if (path.parent / "walk.ani").read_bytes() == other:
        pytest.skip("this disk does not tell capital letters from small ones")
    found = cat_set.CatSet(Cat("", "worm", [CatAnimation(name) for name in ("walk", "Walk", "wALK")]))
    found = cat_set.companions(found, path, (), Digest(), with_texture=False)
    assert [len(entry.frames) for entry in found.animations if entry is not None] == [5, 6, 6]
    with pytest.raises(ExportError, match=r"Walk\.ani.*do not tell from"):
        cat_set.beside(found, folder / "out" / "new.cat")
    found.animations[0] = found.animations[1]
    assert len({target.name.lower() for target in cat_set.beside(found, folder / "out" / "new.cat")}) == 2


@pytest.mark.parametrize("name", ["n" * 201, "n" * 251, "ä" * 125, "ä" * 300, "n" * 400])
def test_long_names(folder: Path, name: str) -> None:
    """What a disk can hold keeps its whole name; what it cannot is cut, and found again."""
    path = folder / "characters" / "worm.cat"
    found = cat_set.companions(cat_set.read(path.read_bytes()), path, (), Digest(), with_texture=False)
    found.cat.animations[0] = CatAnimation(name)
    target = next(entry for entry in cat_set.beside(found, path) if entry.name.startswith(name[0]))
    assert len(target.name.encode()) <= 255
    assert (target.stem == name) == (len(name.encode()) <= 251)
    files.save_all(cat_set.beside(found, path))
    again = cat_set.companions(cat_set.CatSet(found.cat), path, (), Digest(), with_texture=False)
    assert again.animations[0] == found.animations[0]
