# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives mounted in Blender: import straight out of them, extraction, and models written back into a patch."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import pytest
from addon.io_common.formats.digest import Digest
from addon.io_common.formats.errors import UserError
from addon.io_common.scene import progress, transfer
from addon.io_common.ui import preferences
from addon.io_dragonnest.formats import dnt, pak
from addon.io_dragonnest.scene import archive_import, table_block
from addon.io_dragonnest.ui import archive_import as archive_import_ui
from addon.io_dragonnest.ui import archive_operators, archive_patch, archive_state
from addon.io_dragonnest.ui.entries import FORMATS

from tests import archives, tables
from tests.archives import Item
from tests.scene.helpers import dragon_scene, scene

if TYPE_CHECKING:
    from collections.abc import Iterator

ASSETS = Path(__file__).parents[2] / "assets"
MODELS, TEXTURES = "\\resource\\char\\fox\\", "\\resource\\texture\\"


def fox_items() -> list[Item]:
    """The sample character, as the game would have it: textures in another folder."""
    paths = sorted(ASSETS.glob("fox*"))
    return [Item((TEXTURES if path.suffix == ".dds" else MODELS) + path.name, path.read_bytes()) for path in paths]


def make(path: Path, *items: Item) -> Path:
    path.write_bytes(archives.make(items))
    return path


@pytest.fixture(autouse=True)
def unmounted() -> Iterator[None]:
    """Leave nothing mounted: preferences outlive a test."""
    yield
    preferences_now = preferences.of(bpy.context)
    getattr(preferences_now, archive_state.NAME).clear()
    getattr(preferences_now, archive_state.FOLDERS).clear()
    archive_state.ARCHIVES.session = type(archive_state.session())()
    archive_state.show(bpy.context)


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """Give a game folder with the fox in its archives, mounted."""
    folder = tmp_path / "game"
    folder.mkdir()
    make(folder / "Resource1.pak", *fox_items(), Item("\\resource\\readme.txt", b"old"))
    make(folder / "Resource10.pak", Item("\\Resource\\README.txt", b"newest"), archives.deleted("\\resource\\gone.msh"))
    make(folder / "Resource2.pak", Item("\\resource\\readme.txt", b"newer"))
    assert bpy.ops.dragonnest.archive_folder_add(directory=str(folder)) == {"FINISHED"}
    return folder


def shown() -> Any:
    return bpy.context.window_manager.dragonnest_archives


def mounted() -> list[str]:
    return [path.name for path in archive_state.paths(bpy.context)]


def objects(kind: str) -> list[bpy.types.Object]:
    return [obj for obj in bpy.data.objects if obj.type == kind]


# Mounting.


def test_a_game_folder_is_mounted_in_natural_order(game: Path) -> None:
    assert mounted() == ["Resource1.pak", "Resource2.pak", "Resource10.pak"]
    shown().query = "readme"
    entry = archive_state.session().entry(0)
    assert entry is not None
    assert (len(shown().rows), entry.archive.name) == (1, "Resource10.pak")
    assert game.is_dir()


def test_what_is_mounted_by_hand_stays_behind_the_game(game: Path, tmp_path: Path) -> None:
    patch = make(tmp_path / "a patch.pak", Item("\\resource\\readme.txt", b"mine"))
    assert bpy.ops.dragonnest.archive_mount(filepath=str(patch)) == {"FINISHED"}
    make(game / "Resource3.pak", Item("\\three", b"3"))
    assert bpy.ops.dragonnest.archive_mount_folders() == {"FINISHED"}
    assert mounted() == ["Resource1.pak", "Resource2.pak", "Resource3.pak", "Resource10.pak", "a patch.pak"]
    assert bpy.ops.dragonnest.archive_mount(filepath=str(patch)) == {"FINISHED"}
    assert len(mounted()) == 5, "mounted twice"


def test_several_are_mounted_at_once_and_a_bad_one_is_named(tmp_path: Path) -> None:
    make(tmp_path / "b2.pak", Item("\\b", b""))
    make(tmp_path / "b10.pak", Item("\\b", b""))
    (tmp_path / "bad.pak").write_bytes(b"no archive at all")
    files = [{"name": name} for name in ("bad.pak", "b10.pak", "b2.pak")]
    assert bpy.ops.dragonnest.archive_mount(directory=str(tmp_path), files=files) == {"FINISHED"}
    assert mounted() == ["b2.pak", "b10.pak"]
    with pytest.raises(RuntimeError, match=r"bad\.pak: this is no PAK archive"):
        bpy.ops.dragonnest.archive_mount(filepath=str(tmp_path / "bad.pak"))
    with pytest.raises(RuntimeError, match="does not exist"):
        bpy.ops.dragonnest.archive_mount(filepath=str(tmp_path / "none.pak"))
    assert mounted() == ["b2.pak", "b10.pak"]


def test_order_and_unmounting(game: Path) -> None:
    settings = preferences.of(bpy.context)
    settings.dragonnest_archives_active = 2
    assert bpy.ops.dragonnest.archive_move(direction="UP") == {"FINISHED"}
    assert mounted() == ["Resource1.pak", "Resource10.pak", "Resource2.pak"]
    assert settings.dragonnest_archives_active == 1
    shown().query = "readme"
    entry = archive_state.session().entry(0)
    assert entry is not None
    assert entry.archive.name == "Resource2.pak"
    assert bpy.ops.dragonnest.archive_unmount() == {"FINISHED"}
    assert mounted() == ["Resource1.pak", "Resource2.pak"]
    assert bpy.ops.dragonnest.archive_unmount(which="ALL") == {"FINISHED"}
    assert mounted() == []
    assert len(shown().rows) == 0
    assert len(list(game.iterdir())) == 3


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_mounting_that_is_stopped_changes_nothing(game: Path, tmp_path: Path, steps: int) -> None:
    """Esc is heard between two archives: neither the list nor what was read changes before the end."""
    bpy.ops.dragonnest.archive_refresh()
    before, catalogue = mounted(), archive_state.session().catalogue
    paths = [make(tmp_path / f"more{number}.pak", Item(f"\\m{number}", b"m")) for number in range(2)]
    make(game / "Resource11.pak", Item("\\m", b"m"))
    for mounting in (archive_operators.mounting(bpy.context, paths), archive_operators.mounting_folders(bpy.context)):
        for _step in range(steps):
            next(mounting)
        mounting.close()
        assert mounted() == before
        assert archive_state.session().catalogue is catalogue
    assert bpy.ops.dragonnest.archive_mount_folders() == {"FINISHED"}
    assert mounted() == [*before, "Resource11.pak"]


def test_nothing_is_read_when_a_file_is_opened(game: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown().query = "fox"
    count = len(shown().rows)
    assert count > 5
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))

    def never(*_arguments: object) -> None:
        raise AssertionError("an archive was read")

    monkeypatch.setattr(pak, "open_archive", never)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert len(shown().rows) == count
    assert shown().query == "fox"
    assert game.name.encode() not in (tmp_path / "scene.blend").read_bytes()


def test_listings_are_kept_in_the_folder_of_the_extension(game: Path) -> None:
    folder = archive_state.cache_folder()
    assert folder is not None
    assert not folder.is_relative_to(Path(archive_state.__file__).parents[2])
    assert len(list(folder.iterdir())) >= len(list(game.iterdir()))


def test_search_fields_want_no_reading_first(game: Path) -> None:
    archive_state.ARCHIVES.session = type(archive_state.session())()
    shown().query = "fox.skn"
    assert len(shown().rows) == 1
    assert len(list(game.iterdir())) == 3


# Importing.


def choose(query: str) -> None:
    shown().query = query
    assert len(shown().rows) == 1


@pytest.mark.parametrize("name", ["fox.skn", "fox.msh"])
def test_a_model_brings_all_it_needs(game: Path, name: str) -> None:
    choose(name)
    assert bpy.ops.dragonnest.archive_import() == {"FINISHED"}
    (rig,) = objects("ARMATURE")
    assert rig.data["dragonnest_hierarchy"] == "ANI"
    assert rig.data["dragonnest_hierarchy_from"] == "fox.ani"
    images = {image.name: image for image in bpy.data.images}
    assert {"fox_body.dds", "fox_face.dds"} <= set(images)
    assert all(image.packed_file is not None for image in images.values())
    for obj in dragon_scene.meshes():
        assert obj.data["dragonnest_archive"] == str(game / "Resource1.pak")
        assert obj.data["dragonnest_msh_entry"] == f"{MODELS}fox.msh"
        assert obj.data["dragonnest_skn_entry"] == f"{MODELS}fox.skn"
    assert sorted(path.name for path in game.rglob("*")) == ["Resource1.pak", "Resource10.pak", "Resource2.pak"]


def test_what_comes_out_of_an_archive_is_what_comes_from_the_disk(game: Path, tmp_path: Path) -> None:
    choose("fox.skn")
    bpy.ops.dragonnest.archive_import()
    scene.select(*dragon_scene.meshes())
    assert dragon_scene.export(tmp_path / "out.msh") == (ASSETS / "fox.msh").read_bytes()
    assert dragon_scene.export(tmp_path / "out.skn") == (ASSETS / "fox.skn").read_bytes()
    assert game.is_dir()


def test_clips_come_along_when_asked_for(game: Path) -> None:
    choose("fox.skn")
    assert bpy.ops.dragonnest.archive_import(use_animation=True) == {"FINISHED"}
    (rig,) = objects("ARMATURE")
    assert len(rig.data.dragonnest_clips) == 3
    assert rig.data["dragonnest_ani_entry"] == f"{MODELS}fox.ani"
    assert game.is_dir()


def test_several_ticked_entries_are_one_import(game: Path) -> None:
    """The outfit goes onto the armature of the fox; materials of a model that is ticked too come once."""
    shown().query = "fox *.msh"
    for row in shown().rows:
        row.use = True
    shown().query = "fox.skn"
    shown().rows[0].use = True
    shown().query = "fox.ani"
    shown().rows[0].use = True
    assert bpy.ops.dragonnest.archive_import(existing_armature="ALWAYS") == {"FINISHED"}
    (rig,) = objects("ARMATURE")
    assert len(rig.data.dragonnest_clips) == 3
    assert {obj.data["dragonnest_msh_entry"] for obj in dragon_scene.meshes()} == {
        f"{MODELS}fox.msh",
        f"{MODELS}fox_ranger.msh",
    }
    assert game.is_dir()


def test_the_hierarchy_may_be_chosen(tmp_path: Path) -> None:
    by_name = {Path(item.name.replace("\\", "/")).name: item for item in fox_items()}  # type: ignore[union-attr]
    other = Item("\\elsewhere\\bones.ani", by_name["fox.ani"].content)
    path = make(tmp_path / "only.pak", by_name["fox.msh"], other)
    bpy.ops.dragonnest.archive_mount(filepath=str(path))
    assert bpy.ops.dragonnest.archive_import(names="fox.msh", hierarchy_from="bones.ani") == {"FINISHED"}
    assert objects("ARMATURE")[0].data["dragonnest_hierarchy_from"] == "bones.ani"
    with pytest.raises(RuntimeError, match=r'no mounted archive has an entry "none\.ani"'):
        bpy.ops.dragonnest.archive_import(names="fox.msh", hierarchy_from="none.ani")


def test_what_cannot_be_imported_is_said_and_leaves_nothing(game: Path) -> None:
    for names, sentence in (
        ("readme.txt", r"README\.txt: this cannot be imported"),
        ("nothing.msh", 'no mounted archive has an entry "nothing.msh"'),
        ("gone.msh", 'no mounted archive has an entry "gone.msh"'),
    ):
        with pytest.raises(RuntimeError, match=sentence):
            bpy.ops.dragonnest.archive_import(names=names)
    shown().query = "gone.msh"
    shown().only_live = False
    assert len(shown().rows) == 1
    with pytest.raises(RuntimeError, match="is deleted and cannot be imported"):
        bpy.ops.dragonnest.archive_import()
    shown().query = "readme"
    shown().active = 0
    with pytest.raises(RuntimeError, match="is overridden by a later one"):
        bpy.ops.dragonnest.archive_import()
    assert not [*bpy.data.objects, *bpy.data.meshes, *bpy.data.collections, *bpy.data.materials, *bpy.data.images]
    assert game.is_dir()


def test_a_damaged_entry_is_one_sentence(tmp_path: Path) -> None:
    items = [
        Item("\\hero.msh", b"x" * 500, payload=b"\x78\x01broken"),
        Item("\\secret.msh", payload=archives.ENCRYPTED),
    ]
    bpy.ops.dragonnest.archive_mount(filepath=str(make(tmp_path / "bad.pak", *items, *fox_items())))
    with pytest.raises(RuntimeError, match=r"hero\.msh.* ends early"):
        bpy.ops.dragonnest.archive_import(names="hero.msh")
    with pytest.raises(RuntimeError, match="archives are encrypted; not supported"):
        bpy.ops.dragonnest.archive_import(names="secret.msh")
    assert bpy.ops.dragonnest.archive_import(names="hero.msh\nfox.skn") == {"FINISHED"}, "one bad entry stops no other"


def test_import_from_the_disk_finds_textures_in_archives(game: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone" / "deep"
    alone.mkdir(parents=True)
    for name in ("fox.msh", "fox.skn"):
        (alone / name).write_bytes((ASSETS / name).read_bytes())
    assert bpy.ops.import_scene.dragonnest_skn(filepath=str(alone / "fox.skn")) == {"FINISHED"}
    images = {image.name: image for image in bpy.data.images}
    assert images["fox_body.dds"].packed_file is not None
    assert game.is_dir()


def test_the_public_function(game: Path) -> None:
    with archive_state.place(bpy.context) as place:
        job = transfer.Job(archive_import.ImportArchiveOptions(), Digest(), FORMATS, progress.Progress())
        made = archive_import.import_from_archives(bpy.context, place, ["fox.skn"], job)
        assert made[0].type == "ARMATURE"
        with pytest.raises(UserError, match="no mounted archive has an entry"):
            archive_import.import_from_archives(bpy.context, place, ["none.skn"], job)
    assert game.is_dir()


def test_an_archive_that_is_missing_is_told_of(game: Path) -> None:
    (game / "Resource2.pak").unlink()
    assert bpy.ops.dragonnest.archive_import(names="fox.skn") == {"FINISHED"}
    assert "Resource2.pak: the archive does not exist any more" in bpy.data.texts[transfer.REPORT].as_string()


def test_a_texture_that_is_damaged_is_told_of(tmp_path: Path) -> None:
    broken = Item("\\z\\fox_body.dds", b"x" * 500, payload=b"\x78\x01broken")
    bpy.ops.dragonnest.archive_mount(filepath=str(make(tmp_path / "bad.pak", *fox_items(), broken)))
    assert bpy.ops.dragonnest.archive_import(names="fox.skn") == {"FINISHED"}
    assert 'the entry "\\z\\fox_body.dds" ends early' in bpy.data.texts[transfer.REPORT].as_string()


# Characters by name.


def with_actors(folder: Path) -> None:
    rows = [(1, b"Archer", b"fox_ranger.skn", b"fox.ani"), (2, b"Fox", b"fox", b"fox.ani"), (3, b"No", b"", b"")]
    data = dnt.write(tables.table(("_StaticName", "_SkinName", "_AniName"), (1, 1, 1), rows))
    bpy.ops.dragonnest.archive_mount(
        filepath=str(make(folder / "tables.pak", Item("\\resource\\ext\\actortable.dnt", data)))
    )


def test_a_character_by_its_name(game: Path, tmp_path: Path) -> None:
    with_actors(tmp_path)
    assert bpy.ops.dragonnest.archive_actor(actor="fox") == {"FINISHED"}
    (rig,) = objects("ARMATURE")
    assert len(rig.data.dragonnest_clips) == 3
    assert bpy.ops.dragonnest.archive_actor(actor="Archer (1)", existing_armature="ALWAYS", use_animation=False) == {
        "FINISHED"
    }
    assert len(objects("ARMATURE")) == 1
    with pytest.raises(RuntimeError, match='the table has no character "No"'):
        bpy.ops.dragonnest.archive_actor(actor="No")
    assert game.is_dir()


def test_the_animations_of_one_character_are_not_those_of_the_next(game: Path, tmp_path: Path) -> None:
    with_actors(tmp_path)
    assert bpy.ops.dragonnest.archive_actor(actor="Fox") == {"FINISHED"}
    last = bpy.context.window_manager.operator_properties_last("dragonnest.archive_actor")
    assert last is None or last.hierarchy_from == ""
    assert game.is_dir()


def test_characters_are_offered_by_what_is_typed(game: Path, tmp_path: Path) -> None:
    with_actors(tmp_path)
    assert len(archive_import_ui.table(bpy.context)) == 2
    for typed, found in (
        ("", ["Archer (1)", "Fox (2)"]),
        ("Fox (2)", ["Fox (2)"]),
        ("RANGER", ["Archer (1)"]),
        ("2", ["Fox (2)"]),
        ("no one", []),
    ):
        assert archive_import_ui.search_actors(None, bpy.context, typed) == found
    assert game.is_dir()


def test_a_character_whose_files_are_numbers(game: Path, tmp_path: Path) -> None:
    rows = [(1, b"Archer", 7, 8), (2, b"Nobody", 0, 0)]
    data = dnt.write(tables.table(("_StaticName", "_SkinName", "_AniName"), (1, 3, 3), rows))
    names = dnt.write(tables.table(("_Path",), (1,), [(7, b"fox_ranger.skn"), (8, b"fox.ani")]))
    items = [Item("\\resource\\ext\\actortable.dnt", data), Item("\\resource\\ext\\other.dnt", names)]
    bpy.ops.dragonnest.archive_mount(filepath=str(make(tmp_path / "tables.pak", *items)))
    assert bpy.ops.dragonnest.archive_actor(actor="archer") == {"FINISHED"}
    assert {obj.data["dragonnest_skn_entry"] for obj in dragon_scene.meshes()} == {f"{MODELS}fox_ranger.skn"}
    assert len(objects("ARMATURE")[0].data.dragonnest_clips) == 3
    assert game.is_dir()


def test_without_a_table_there_are_no_characters(game: Path) -> None:
    with pytest.raises(RuntimeError, match=r'no mounted archive holds "actortable\.dnt"'):
        bpy.ops.dragonnest.archive_actor(actor="fox")
    assert game.is_dir()


# Extracting.


def test_extraction(game: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shown().query = "*.dds"
    assert bpy.ops.dragonnest.archive_extract(directory=str(out), which="MATCHES", flat=True) == {"FINISHED"}
    assert {path.name for path in out.iterdir()} == {path.name for path in ASSETS.glob("fox*.dds")}
    assert (out / "fox_body.dds").read_bytes() == (ASSETS / "fox_body.dds").read_bytes()
    assert bpy.ops.dragonnest.archive_extract(directory=str(out), which="ALL") == {"FINISHED"}
    (extracted,) = [path for path in out.rglob("*") if path.name.lower() == "readme.txt"]
    assert extracted.read_bytes() == b"newest"
    choose("fox.skn")
    with pytest.raises(RuntimeError, match="exists already and is kept"):
        bpy.ops.dragonnest.archive_extract(directory=str(out))
    assert bpy.ops.dragonnest.archive_extract(directory=str(out), overwrite=True) == {"FINISHED"}
    shown().query = "nothing like this"
    with pytest.raises(RuntimeError, match="there is no entry to extract"):
        bpy.ops.dragonnest.archive_extract(directory=str(out), which="MATCHES")
    assert game.is_dir()


def test_extraction_stays_in_its_folder(tmp_path: Path) -> None:
    bad = make(
        tmp_path / "bad.pak", Item("\\..\\..\\evil.txt", b"e"), Item("C:\\evil.txt", b"e"), Item("\\good.txt", b"g")
    )
    bpy.ops.dragonnest.archive_mount(filepath=str(bad))
    out = tmp_path / "deep" / "out"
    assert bpy.ops.dragonnest.archive_extract(directory=str(out), which="ALL") == {"FINISHED"}
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["bad.pak", "deep", "good.txt", "out"]


# Writing back.


def test_a_model_goes_back_under_its_own_names(game: Path, tmp_path: Path) -> None:
    choose("fox.skn")
    bpy.ops.dragonnest.archive_import()
    obj = dragon_scene.meshes()[0]
    obj.data.vertices[0].co.x += 1.0
    scene.select(*dragon_scene.meshes())
    patch = tmp_path / "patch.pak"
    assert bpy.ops.dragonnest.archive_export(filepath=str(patch)) == {"FINISHED"}
    assert mounted()[-1] == "patch.pak"
    with pak.open_archive(patch) as archive:
        assert sorted(archive.names) == [f"{MODELS}fox.msh", f"{MODELS}fox.skn"]
        skn, msh = archive.find(f"{MODELS}fox.skn"), archive.find(f"{MODELS}fox.msh")
        assert skn is not None
        assert msh is not None
        assert archive.read(skn) == (ASSETS / "fox.skn").read_bytes()
        assert archive.read(msh) != (ASSETS / "fox.msh").read_bytes()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert bpy.ops.dragonnest.archive_import(names="fox.msh") == {"FINISHED"}
    assert dragon_scene.meshes()[0].data["dragonnest_archive"] == str(patch)
    assert game.is_dir()


def test_a_patch_is_named_so_that_the_game_takes_it_last(game: Path) -> None:
    choose("fox.skn")
    bpy.ops.dragonnest.archive_import()
    scene.select(*dragon_scene.meshes())
    assert archive_patch.proposed_archive(bpy.context) == game / "Resource11.pak"
    assert bpy.ops.dragonnest.archive_export(filepath=str(game / "a patch.pak")) == {"FINISHED"}
    said = bpy.data.texts[transfer.REPORT].as_string()
    assert "the archive Resource10.pak lies in the same folder and has a name that comes later" in said
    assert archive_patch.proposed_archive(bpy.context) == game / "a patch.pak", "the one that was written to"
    archive_state.session().patch = None
    assert archive_patch.proposed_archive(bpy.context) == game / "Resource11.pak"


def test_a_model_takes_the_place_of_the_chosen_entry(game: Path, tmp_path: Path) -> None:
    """What goes with it gets the name of that entry, too, and a second export adds to the archive."""
    bpy.ops.import_scene.dragonnest_skn(filepath=str(ASSETS / "fox_ranger.skn"))
    scene.select(*dragon_scene.meshes())
    choose("fox.msh")
    patch = tmp_path / "patch"
    assert bpy.ops.dragonnest.archive_export(filepath=str(patch), use_companion=False) == {"FINISHED"}
    with pak.open_archive(tmp_path / "patch.pak") as archive:
        assert archive.names == [f"{MODELS}fox.msh"]
        assert archive.read(0) == (ASSETS / "fox_ranger.msh").read_bytes()
    assert bpy.ops.dragonnest.archive_export(filepath=str(patch), entry_name="\\new\\hero.msh") == {"FINISHED"}
    with pak.open_archive(tmp_path / "patch.pak") as archive:
        assert sorted(archive.names) == ["\\new\\hero.msh", "\\new\\hero.skn", f"{MODELS}fox.msh"]
    assert game.is_dir()


def test_animations_go_back(game: Path, tmp_path: Path) -> None:
    choose("fox.ani")
    bpy.ops.dragonnest.archive_import()
    scene.select(*objects("ARMATURE"))
    assert bpy.ops.dragonnest.archive_export(filepath=str(tmp_path / "patch.pak")) == {"FINISHED"}
    with pak.open_archive(tmp_path / "patch.pak") as archive:
        assert archive.names == [f"{MODELS}fox.ani"]
        assert archive.read(0) == (ASSETS / "fox.ani").read_bytes()
    assert game.is_dir()


def test_what_cannot_be_written_leaves_all_as_it_was(game: Path, tmp_path: Path) -> None:
    bpy.ops.import_scene.dragonnest_skn(filepath=str(ASSETS / "fox.skn"))
    scene.select(*dragon_scene.meshes())
    patch = tmp_path / "patch.pak"
    cases = (
        ({"entry_name": "\\a.dds"}, "is no model and no animation"),
        ({"entry_name": ""}, "no entry is named"),
        ({"entry_name": "\\한글\U0001f600.msh"}, "which Korean Windows text"),
        ({"entry_name": "\\a.msh", "filepath": str(tmp_path / "none" / "patch.pak")}, "cannot be written"),
        ({"entry_name": "\\a.msh", "filepath": str(game / "Resource1.pak")}, "could override what is written"),
    )
    shown().query = "no such entry"
    before = (game / "Resource1.pak").read_bytes()
    for options, sentence in cases:
        with pytest.raises(RuntimeError, match=sentence):
            bpy.ops.dragonnest.archive_export(**{"filepath": str(patch), **options})
        assert not patch.exists()
    assert (game / "Resource1.pak").read_bytes() == before
    assert mounted()[-1] == "Resource10.pak"


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() == 0, reason="a folder that its owner may not write to")
def test_a_cache_that_cannot_be_written_stops_nothing(game: Path) -> None:
    folder = archive_state.cache_folder()
    assert folder is not None
    with contextlib.ExitStack() as stack:
        folder.chmod(0o500)
        stack.callback(folder.chmod, 0o700)
        assert bpy.ops.dragonnest.archive_refresh() == {"FINISHED"}
    assert game.is_dir()


def test_an_actor_whose_files_are_numbers(game: Path, tmp_path: Path) -> None:
    """Another table in the archives says what the numbers stand for; it is found by what it holds."""
    names = tables.table(["_FileName"], [1], [(75, b"fox.skn"), (76, b"fox.ani")])
    rows = [(1, b"Archer", 75, 76)]
    actors = tables.table(["_StaticName", "_SkinName", "_AniName"], [1, 3, 3], rows)
    other = tables.table(["_FileName"], [1], [(75, b"a.dds"), (76, b"b.skn")])
    items = [("actortable", actors), ("filetable", other), ("anything", names)]
    path = make(tmp_path / "tables.pak", *(Item(f"\\resource\\ext\\{n}.dnt", dnt.write(t)) for n, t in items[:2]))
    bpy.ops.dragonnest.archive_mount(filepath=str(path))
    with pytest.raises(RuntimeError, match="no table in the archives has their names"):
        bpy.ops.dragonnest.archive_actor(actor="Archer")
    more = make(tmp_path / "more.pak", Item("\\resource\\ext\\anything.dnt", dnt.write(names)))
    bpy.ops.dragonnest.archive_mount(filepath=str(more))
    assert bpy.ops.dragonnest.archive_actor(actor="Archer") == {"FINISHED"}
    assert any(obj.type == "ARMATURE" for obj in bpy.context.selected_objects)


def test_a_table_opens_as_a_text(game: Path, tmp_path: Path) -> None:
    data = dnt.write(tables.mixed())
    path = make(tmp_path / "tables.pak", Item("\\resource\\ext\\items.dnt", data))
    bpy.ops.dragonnest.archive_mount(filepath=str(path))
    before = len(bpy.data.objects)
    assert bpy.ops.dragonnest.archive_import(names="items.dnt") == {"FINISHED"}
    assert len(bpy.data.objects) == before
    written = tmp_path / "items.dnt"
    assert bpy.ops.dragonnest.table_write_as(text="items.dnt", filepath=str(written)) == {"FINISHED"}
    assert written.read_bytes() == data


def table_text(name: str) -> str:
    return str(bpy.data.texts[name].as_string())


def test_a_table_goes_back_into_a_patch_archive(game: Path, tmp_path: Path) -> None:
    """Under its own name, also after the .blend was saved; the archive it came from stays; the patch is what counts."""
    made = tables.mixed()
    path = make(tmp_path / "tables.pak", Item("\\Resource\\Ext\\Items.dnt", dnt.write(made)))
    before = path.read_bytes()
    bpy.ops.dragonnest.archive_mount(filepath=str(path))
    bpy.ops.dragonnest.archive_import(names="items.dnt")
    blend = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    block = bpy.data.texts["Items.dnt"]
    assert table_block.entry_of(block) == ("Items.dnt", "tables.pak")
    first = f"\n{made.ids[0]},"
    assert first in block.as_string()
    block.from_string(block.as_string().replace(first, "\n77,", 1))
    patch = tmp_path / "patch.pak"
    assert bpy.ops.dragonnest.archive_table(text=block.name, filepath=str(patch)) == {"FINISHED"}
    assert path.read_bytes() == before
    assert mounted()[-1] == "patch.pak"
    assert table_block.entry_of(block) == ("Items.dnt", "patch.pak")
    with pak.open_archive(patch) as archive:
        assert archive.names == ["\\Resource\\Ext\\Items.dnt"]
        assert dnt.read_dnt(archive.read(0)).ids.tolist() == [77, *made.ids.tolist()[1:]]
    old = table_text("Items.dnt")
    bpy.data.texts.remove(block)
    bpy.ops.dragonnest.archive_import(names="items.dnt")
    assert table_text("Items.dnt") == old
    # Once more: a model or a table beside it, into the same archive.
    assert bpy.ops.dragonnest.archive_table(text="Items.dnt", filepath=str(patch), entry_name="/a/b.dnt") == {
        "FINISHED"
    }
    with pak.open_archive(patch) as archive:
        assert archive.names == ["\\Resource\\Ext\\Items.dnt", "\\a\\b.dnt"]
    assert game.is_dir()


def test_a_table_of_another_kind_than_its_name_is_told_of(game: Path, tmp_path: Path) -> None:
    block = bpy.data.texts.new("items.ext")
    block.from_string("id format=dnt,_N:int\n1,1\n")
    patch = tmp_path / "patch.pak"
    assert bpy.ops.dragonnest.archive_table(text=block.name, filepath=str(patch)) == {"FINISHED"}
    assert 'the first line says format=dnt, so "items.ext" holds that' in bpy.data.texts[transfer.REPORT].as_string()
    with pak.open_archive(patch) as archive:
        assert dnt.read_dnt(archive.read(0)).ids.tolist() == [1]
    assert game.is_dir()


def test_a_table_from_the_disk_takes_the_place_of_its_name(game: Path, tmp_path: Path) -> None:
    loose = tmp_path / "ITEMS.dnt"
    loose.write_bytes(dnt.write(tables.mixed()))
    assert bpy.ops.dragonnest.table_open(filepath=str(loose)) == {"FINISHED"}
    block = bpy.data.texts["ITEMS.dnt"]
    here = archive_state.session()
    assert table_block.proposed_entry(block, here.catalogue) == "\\resource\\ext\\items.dnt"
    path = make(tmp_path / "tables.pak", Item("\\Data\\Items.dnt", dnt.write(tables.mixed())))
    bpy.ops.dragonnest.archive_mount(filepath=str(path))
    assert table_block.proposed_entry(block, here.catalogue) == "\\Data\\Items.dnt"
    patch = tmp_path / "patch.pak"
    assert bpy.ops.dragonnest.archive_table(text="ITEMS.dnt", filepath=str(patch)) == {"FINISHED"}
    with pak.open_archive(patch) as archive:
        assert archive.names == ["\\Data\\Items.dnt"]
        assert archive.read(0) == loose.read_bytes()
    assert game.is_dir()


def test_a_table_that_cannot_go_back_leaves_all_as_it_was(game: Path, tmp_path: Path) -> None:
    block = bpy.data.texts.new("items.dnt")
    patch = tmp_path / "patch.pak"
    cases = (
        ("id,_N:int\n1,x\n", {}, r'items.dnt: the Text "items.dnt" makes no table: line 2, column 2'),
        ("id,_N:int\n1,1\n", {"text": "nothing"}, "show a Text that holds a table"),
        ("id,_N:int\n1,1\n", {"entry_name": "\\a.msh"}, '"a.msh" is no table'),
        ("id,_N:int\n1,1\n", {"entry_name": "\\한글\U0001f600.dnt"}, "which Korean Windows text"),
        ("id,_N:int\n1,1\n", {"filepath": str(game / "Resource1.pak")}, "could override what is written"),
        ("id,_N:int\n1,1\n", {"filepath": str(tmp_path / "none" / "x.pak")}, "cannot be written"),
    )
    before = (game / "Resource1.pak").read_bytes()
    for content, options, sentence in cases:
        block.from_string(content)
        with pytest.raises(RuntimeError, match=sentence):
            bpy.ops.dragonnest.archive_table(**{"text": block.name, "filepath": str(patch), **options})
        assert not patch.exists()
        assert table_block.entry_of(block) is None
    assert (game / "Resource1.pak").read_bytes() == before
    assert mounted()[-1] == "Resource10.pak"
