# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives on a real screen: dropped, searched letter by letter, imported from, extracted with Esc, lists drawn."""

from __future__ import annotations

import os
import struct
import time
import zlib
from typing import TYPE_CHECKING, Any

import bpy
import checkout  # noqa: F401 (before the names below)
import numpy as np
import pytest
from addon.io_common.ui import preferences
from addon.io_dragonnest.formats import mount_index
from addon.io_dragonnest.formats.mounts import Mark
from addon.io_dragonnest.ui import archive_state
from checkout import CHECKOUT
from screen import pixels, watched
from test_fox import open_tab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from screen import Screen

FOLDERS = {".dds": "\\resource\\char\\texture\\", ".txt": "\\resource\\script\\"}
MODELS = "\\resource\\char\\fox\\"


def archive(content: dict[str, bytes]) -> bytes:
    """An archive of version 11."""
    body, index = b"", b""
    for name, data in content.items():
        payload = zlib.compress(data, 1)
        numbers = struct.pack("<6I", len(payload), len(data), len(payload), 1024 + len(body), 0, 0)
        index += name.encode("cp949").ljust(256, b"\0") + numbers + bytes(36)
        body += payload
    head = b"EyedentityGames Packing File 0.1".ljust(256, b"\0")
    return (head + struct.pack("<3I", 11, len(content), 1024 + len(body))).ljust(1024, b"\0") + body + index


def fox() -> dict[str, bytes]:
    paths = sorted((CHECKOUT / "assets").glob("fox*"))
    return {FOLDERS.get(path.suffix, MODELS) + path.name: path.read_bytes() for path in paths}


def game(folder: Path) -> Path:
    """Make a game folder: the fox among many other files, and a patch of its bow."""
    folder.mkdir(exist_ok=True)
    others = {f"\\resource\\ui\\icon{number:04d}.dds": bytes([number & 255]) * 400 for number in range(3000)}
    (folder / "Resource00.pak").write_bytes(archive(fox()))
    (folder / "Resource01.pak").write_bytes(archive(others))
    bow = {FOLDERS[".dds"] + "fox_bow.dds": fox()[FOLDERS[".dds"] + "fox_bow.dds"]}
    (folder / "Resource02.pak").write_bytes(archive(bow))
    return folder


@pytest.fixture(autouse=True)
def unmounted() -> Iterator[None]:
    yield
    if bpy.ops.dragonnest.archive_unmount.poll():
        bpy.ops.dragonnest.archive_unmount(which="ALL")
    getattr(preferences.of(bpy.context), archive_state.FOLDERS).clear()


def counted(kind: Any, seen: dict[str, int]) -> Any:
    """Its `draw_item`, counting rows."""
    draw = kind.draw_item

    # Blender counts the arguments.
    def draw_and_tell(
        self: Any, context: Any, layout: Any, data: Any, item: Any, icon: Any, active: Any, prop: Any, index: Any
    ) -> None:
        draw(self, context, layout, data, item, icon, active, prop, index)
        seen[kind.__name__] += 1

    return draw_and_tell


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count how often the panel, and the rows of its lists, came to the end of their drawing."""
    seen = {"panel": 0, "DRAGONNEST_UL_archives": 0, "DRAGONNEST_UL_archive_entries": 0}

    def panel_is_drawn(_context: bpy.types.Context) -> None:
        seen["panel"] += 1

    panel = bpy.types.DRAGONNEST_PT_archives
    monkeypatch.setattr(panel, "draw", watched(panel.draw, panel_is_drawn))
    for kind in (bpy.types.DRAGONNEST_UL_archives, bpy.types.DRAGONNEST_UL_archive_entries):
        monkeypatch.setattr(kind, "draw_item", counted(kind, seen))
    return seen


def look_at_fox(screen: Screen) -> None:
    """Show the textures, and all that was imported from its front left."""
    view = screen.area().spaces.active
    view.shading.type, view.shading.color_type = "SOLID", "TEXTURE"
    with screen.override():
        bpy.ops.view3d.view_axis(type="BACK")  # in its clips it looks to +y
        bpy.ops.view3d.view_orbit(angle=0.6, type="ORBITRIGHT")
        bpy.ops.view3d.view_selected()
    screen.wait(5)


def shown() -> Any:
    return bpy.context.window_manager.dragonnest_archives


def test_dropped_searched_imported(screen: Screen, tmp_path: Path, drawn: dict[str, int]) -> None:
    open_tab(screen)
    screen.photograph("nothing mounted")
    assert drawn["panel"]
    folder = game(tmp_path / "Game")
    names = [{"name": path.name} for path in sorted(folder.iterdir())]
    with screen.override():
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(folder), files=names)
    screen.wait_until(lambda: len(shown().rows) == 1000, "the archives to be mounted", ticks=100)
    screen.redraw()
    screen.photograph("mounted")
    assert drawn["DRAGONNEST_UL_archives"] >= 3
    assert 0 < drawn["DRAGONNEST_UL_archive_entries"] < 200, "only the rows that are seen are drawn"
    for typed in ("f", "fo", "fox", "fox.s"):
        shown().query = typed
        screen.redraw()
    assert len(shown().rows) == 1
    screen.photograph("searched")
    with screen.override():
        assert bpy.ops.dragonnest.archive_import("INVOKE_DEFAULT", use_animation=True) == {"FINISHED"}
    screen.wait(5)
    look_at_fox(screen)
    picture = pixels(screen.photograph("imported"))
    shown().query = "fox"
    shown().only_live = False
    screen.redraw()
    screen.photograph("overridden")
    area = screen.area()
    part = picture[area.y : area.y + area.height, area.x : area.x + area.width // 2]
    assert np.ptp(part, axis=2).max() > 0.2, "no colours: the textures of the fox are not seen"


def test_esc_stops_mounting(screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "Many"
    folder.mkdir()
    for number in range(40):
        (folder / f"Resource{number}.pak").write_bytes(archive({f"\\a{number}.txt": b"a"}))
    load = mount_index.load
    seen: list[str] = []

    def slow(path: Path, *arguments: Any) -> Any:
        seen.append(path.name)
        time.sleep(0.1)
        return load(path, *arguments)

    monkeypatch.setattr(mount_index, "load", slow)
    names = [{"name": path.name} for path in sorted(folder.iterdir())]
    with screen.override():
        bpy.ops.wm.drop_import_file("INVOKE_DEFAULT", directory=str(folder), files=names)
    screen.wait_until(lambda: len(seen) > 1, "the first archives", ticks=100)
    screen.key("ESC")
    screen.wait(20)
    count = len(seen)
    screen.wait(20)
    assert count == len(seen) < len(names), "it goes on"
    assert archive_state.paths(bpy.context) == []
    monkeypatch.undo()
    with screen.override():
        bpy.ops.dragonnest.archive_mount("INVOKE_DEFAULT", directory=str(folder), files=names)
    screen.wait_until(lambda: len(archive_state.paths(bpy.context)) == len(names), "all of them", ticks=100)


def test_extraction_shows_progress_and_esc_stops_it(screen: Screen, tmp_path: Path) -> None:
    with screen.override():
        bpy.ops.dragonnest.archive_folder_add(directory=str(game(tmp_path / "Game")))
    out = tmp_path / "out"
    with screen.override():
        bpy.ops.dragonnest.archive_extract("INVOKE_DEFAULT", which="ALL")
    dialog = screen.wait_for_dialog()
    space = screen.area("FILE_BROWSER", dialog).spaces.active
    out.mkdir()
    space.params.directory = str(out).encode()
    screen.wait(10)
    buttons = screen.region("EXECUTE", screen.area("FILE_BROWSER", dialog))
    screen.click(buttons.x + buttons.width - 60, buttons.y + buttons.height // 2, dialog)
    screen.wait_until(lambda: any(files for _path, _folders, files in os.walk(out)), "the first file", ticks=100)
    screen.key("ESC")
    screen.wait(20)
    count = sum(len(files) for _path, _folders, files in os.walk(out))
    screen.wait(20)
    assert count == sum(len(files) for _path, _folders, files in os.walk(out)), "it goes on"
    assert not [name for _path, _folders, files in os.walk(out) for name in files if name.endswith(".part")]
    screen.close_dialogs()


def test_a_character_is_asked_for(screen: Screen, tmp_path: Path) -> None:
    """The pop-up with the search field and the options is drawn; Enter imports, and leaves nothing for the next one."""
    with screen.override():
        bpy.ops.dragonnest.archive_mount(filepath=str(actors(tmp_path)))
    screen.move(500, 500)
    with screen.override():
        bpy.ops.dragonnest.archive_actor("INVOKE_DEFAULT", actor="Fox (1)")
    screen.wait(5)
    screen.photograph("actor")
    screen.move(460, 531)  # the title: over the field, Enter would edit it
    screen.key("RET")
    screen.wait_until(lambda: bpy.data.armatures, "the fox", ticks=200)
    screen.wait(5)
    look_at_fox(screen)
    screen.photograph("fox")
    assert len(bpy.data.armatures[0].dragonnest_clips) == 3
    last = bpy.context.window_manager.operator_properties_last("dragonnest.archive_actor")
    assert last.hierarchy_from == "", "the next character would get the animations of this one"


def test_every_state_of_the_list_draws(screen: Screen, tmp_path: Path, drawn: dict[str, int]) -> None:
    """An archive that is missing, an encrypted one, an overridden entry; and archives that were not read yet."""
    folder = game(tmp_path / "Game")
    (folder / "Resource03.pak").write_bytes(encrypted({"\\resource\\secret.skn": bytes(range(99))}))
    open_tab(screen)
    with screen.override():
        bpy.ops.dragonnest.archive_folder_add(directory=str(folder))
    (folder / "Resource01.pak").unlink()
    with screen.override():
        bpy.ops.dragonnest.archive_refresh()
    shown().query, shown().only_live = "", False
    assert [listing.encrypted for listing in archive_state.session().catalogue.listings] == [False, False, True]
    before = dict(drawn)
    marks = [archive_state.session().entry(place).mark for place in range(len(shown().rows))]
    assert set(marks) == {Mark.LIVE, Mark.OVERRIDDEN}
    for place in (0, marks.index(Mark.OVERRIDDEN)):
        shown().active = place
        screen.redraw()
    screen.photograph("states")
    assert all(drawn[name] > count for name, count in before.items())
    archive_state.ARCHIVES.session = type(archive_state.session())()
    archive_state.show(bpy.context)
    before = drawn["panel"]
    screen.redraw()
    screen.photograph("not read")
    assert drawn["panel"] > before
    shown().only_live = True


def encrypted(content: dict[str, bytes]) -> bytes:
    """An archive whose payloads start as those of encrypted ones do."""
    data = archive(content)
    return data[:1024] + bytes.fromhex("51f81a804a73307365e4a652c6ac6256") + data[1040:]


def actors(folder: Path) -> Path:
    """Make an archive with the fox and a table that names it."""

    def text(value: str) -> bytes:
        return struct.pack("<H", len(value)) + value.encode()

    columns = b"".join(text(name) + b"\1" for name in ("_StaticName", "_SkinName", "_AniName"))
    row = struct.pack("<I", 1) + text("Fox") + text("fox.skn") + text("fox.ani")
    table = struct.pack("<3HI", 0, 0, 3, 1) + columns + row + b"\5THEND"
    path = folder / "actors.pak"
    path.write_bytes(archive(fox() | {"\\resource\\ext\\actortable.dnt": table}))
    return path


def test_the_dialog_for_a_patch(screen: Screen, tmp_path: Path) -> None:
    with screen.override():
        bpy.ops.dragonnest.archive_mount(filepath=str(actors(tmp_path)))
        bpy.ops.dragonnest.archive_import(names="fox.skn")
        bpy.ops.dragonnest.archive_export("INVOKE_DEFAULT")
    dialog = screen.wait_for_dialog()
    screen.wait(20)
    operator = screen.area("FILE_BROWSER", dialog).spaces.active.active_operator
    assert operator.entry_name == MODELS + "fox.skn"
    screen.photograph("patch")
    screen.close_dialogs()
