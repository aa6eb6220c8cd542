# SPDX-License-Identifier: GPL-3.0-or-later
"""CAT: the text, and the files it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    from collections.abc import Callable
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


# Texts that people wrote ---------------------------------------------------------------------------------------------

TEXT = (
    "carnivores_character\r\n"
    "# made by hand\r\n"
    "[general]\r\n"
    'title = "Worm" // as the menu shows it\r\n'
    'model = "worm.3dn"\r\n'
    "[animations] ; in the order of the game\r\n"
    "count = 3\r\n"
    "animation_id 0\r\n"
    '\tfile = "walk"  # the usual one\r\n'
    "\tsound_index = 1 // steps\r\n"
    "\tspeed = 1.5\r\n"
    "animation_id 1\r\n"
    "    file = idle\r\n"
    "animation_id 2\r\n"
    '\tfile = "roar"\r\n'
    "\tsound_index = 0\r\n"
    "\r\n"
    "[sounds]\r\n"
    "count = 2\r\n"
    "sound_id 0\r\n"
    '\tfile = "roar"\r\n'
    "sound_id 1\r\n"
    '\tfile = "steps"\r\n'
    "; that is all\r\n"
    "[physics]\r\n"
    "bone_id 4 heavy\r\n"
)
MADE = Cat(
    "Worm", "worm.3dn", [CatAnimation("walk", 1), CatAnimation("idle"), CatAnimation("roar", 0)], ["roar", "steps"]
)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\r\n", "\n"),
        lambda text: text.replace("\r\n", "\r"),
        lambda text: text.replace("\r\n", "\n", 7),
        lambda text: text + "\x1a",
        lambda text: text + "\0\0\r\n\x1a\r\n",
        lambda text: text.rstrip(),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("animation_id 1", "Animation_ID = 1"),
        lambda text: text.replace("animation_id 1", "animation_id 1 // second"),
        lambda text: text.replace("speed = 1.5", "fade-in.time = 3"),
        lambda text: text.replace("file = idle", "file = idle   ; waits"),
        lambda text: text.replace("file = idle", "FILE=idle"),
        lambda text: text.replace("[general]", "[General]"),
    ],
)
def test_texts_of_other_hands(change: Callable[[str], str]) -> None:
    """Remarks, line ends, marks of old editors, values and sections of their own."""
    data = change(TEXT).encode()
    found = cat.read(data)
    assert found == MADE
    assert cat.write(found) == data


def test_values_may_be_empty() -> None:
    """With quotes or without."""
    assert cat.read(TEXT.replace('"Worm"', "").encode()) == Cat("", *_but_title())
    assert cat.read(TEXT.replace('"Worm"', '""').encode()) == Cat("", *_but_title())


def _but_title() -> tuple[str, list[CatAnimation], list[str]]:
    return MADE.model, MADE.animations, MADE.sounds


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("x = a" + " " * 300_000 + "b", True),
        ("x" + " " * 300_000 + "y", False),
        ("[" * 300_000, False),
        (" " * 300_000 + "[x", False),
    ],
    ids=["value", "words", "brackets", "indent"],
)
def test_long_lines_are_read_at_once(line: str, fits: bool) -> None:
    """However a line is looked at, it is looked at a few times only."""
    data = TEXT.replace("[animations]", f"{line}\r\n[animations]").encode()
    if fits:
        assert cat.read(data) == MADE
    else:
        with pytest.raises(FormatError, match="cannot be understood"):
            cat.read(data)


def edited(change: Callable[[Cat], Any], text: str = TEXT) -> str:
    """The text after a change of what it says, which it says then."""
    found = cat.read(text.encode())
    change(found)
    data = cat.write(found)
    assert cat.read(data) == found
    return data.decode()


def _renamed(found: Cat) -> None:
    found.animations[0] = CatAnimation("run", 1)


def _silent(found: Cat) -> None:
    found.animations[0] = CatAnimation("walk")


def _heard(found: Cat) -> None:
    found.animations[1] = CatAnimation("idle", 1)


def _entitled(found: Cat) -> None:
    found.title = "Snake"


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (_renamed, '"walk"', '"run"'),
        (_entitled, '"Worm"', '"Snake"'),
        (_silent, "\tsound_index = 1 // steps\r\n", ""),
        (_heard, "file = idle\r\n", "file = idle\r\n    sound_index = 1\r\n"),
        (lambda found: found.sounds.__setitem__(1, "paws"), '"steps"', '"paws"'),
        (lambda found: found.animations.__setitem__(1, CatAnimation("idle 2")), "= idle", '= "idle 2"'),
    ],
)
def test_an_edit_changes_its_value_only(change: Callable[[Cat], Any], old: str, new: str) -> None:
    """All else stays as its author wrote it."""
    assert edited(change) == TEXT.replace(old, new, 1)


def test_entries_take_their_lines_along() -> None:
    """To another place; those that go take theirs with them, new ones have the style of the game's own texts."""
    moved = edited(lambda found: found.animations.reverse())
    first, second = moved.index("animation_id 0"), moved.index("animation_id 1")
    assert 'file = "roar"' in moved[first:second]
    assert "speed = 1.5" in moved[moved.index("animation_id 2") : moved.index("[sounds]")]
    assert sorted(moved.splitlines()) == sorted(TEXT.splitlines())

    removed = edited(lambda found: found.animations.pop(0))
    assert "speed" not in removed
    assert "count = 2\r\nanimation_id 0\r\n    file = idle\r\nanimation_id 1\r\n" in removed
    for words in ("# made by hand", "// as the menu", "; in the order", "; that is all", "bone_id 4 heavy"):
        assert words in removed

    added = edited(lambda found: found.animations.insert(1, CatAnimation("run", 0)))
    assert 'speed = 1.5\r\nanimation_id 1\r\n\tfile = "run"\r\n\tsound_index = 0\r\nanimation_id 2\r\n' in added
    assert "count = 4" in added
    for lost in ("[animations] ; in the order of the game\r\ncount = 4\r\n\r\n[sounds]",):
        assert lost in edited(lambda found: found.animations.clear()).replace("count = 0", "count = 4")


def test_lists_that_were_not_there() -> None:
    """Are added at the end."""
    text = 'carnivores_character\n[general]\ntitle = "Worm"\nmodel = "worm"'
    made = edited(lambda found: found.animations.append(CatAnimation("walk")), text)
    assert made.startswith(text)
    assert made.endswith('[animations]\ncount = 1\nanimation_id 0\n\tfile = "walk"\n')


@settings(max_examples=200, deadline=None)
@given(
    WORD,
    st.lists(st.tuples(WORD, st.integers(-1, 9)).map(lambda entry: CatAnimation(*entry)), max_size=5),
    st.lists(st.sampled_from(["roar", "steps", "hiss", "é"]), max_size=4),
    st.sampled_from([TEXT, TEXT.replace("\r\n", "\n"), TEXT.rstrip(), TEXT + "\x1a", TEXT.replace("sound", "Sound")]),
)
def test_any_edit_is_said(title: str, animations: list[CatAnimation], sounds: list[str], text: str) -> None:
    """Whatever is left of the old entries."""
    found = cat.read(text.encode())
    wanted = Cat(title, found.model, [*animations, *found.animations[1:]], sounds, source=text.encode())
    assert cat.read(cat.write(wanted)) == wanted


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", "идти"), ("utf-8-sig", "идти"), ("cp1251", "èäòè")])
def test_names_in_russian(folder: Path, encoding: str, shown: str) -> None:
    """The file is found, however the text writes its name; text and files agree when they are written."""
    (folder / "characters" / "walk.ani").rename(folder / "characters" / "идти.ani")
    path = folder / "characters" / "worm.cat"
    path.write_bytes(TEXT.replace("walk", "идти").encode(encoding))
    found = cat_set.read(path.read_bytes())
    assert found.cat.animations[0].file == shown
    found = cat_set.companions(found, path, (), Digest(), with_texture=False)
    assert found.animations[0] is not None
    out = folder / "out" / "worm.cat"
    bundle = {out: cat_set.write(found), **cat_set.beside(found, out)}
    assert bundle[out] == path.read_bytes()
    assert out.with_name(f"{shown}.ani") in bundle
    out.parent.mkdir()
    files.save_all(bundle)
    again = cat_set.companions(cat_set.read(out.read_bytes()), out, (), Digest(), with_texture=False)
    assert again.animations[0] == found.animations[0]
