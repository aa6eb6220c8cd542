# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of clips in the file dialog and in the sidebar."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import MagicMock

import bpy
import pytest
from addon.io_common.formats.errors import UserError
from addon.io_dragonnest.formats import ani, ani_list
from addon.io_dragonnest.scene import clips
from addon.io_dragonnest.ui import clip_chooser, clip_panel

from tests import dragons

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "hero.ani"
    path.write_bytes(ani.write(dragons.animation()))
    return path


def rig() -> bpy.types.Object:
    (found,) = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    return found


def names() -> list[str]:
    return [item.name for item in clips.listed(rig())]


class Choice(SimpleNamespace):
    """Stands for the operator in its dialog."""

    def __init__(self, path: Path) -> None:
        super().__init__(filepath=str(path), listed="", choices=Choices(), clips="")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "all_clips":
            for item in self.choices:
                item.use = True
        super().__setattr__(name, value)

    def paths(self) -> list[Path]:
        from pathlib import Path

        return [Path(self.filepath)]

    show_clips_of = clip_chooser.ClipChooser.show_clips_of
    check = clip_chooser.ClipChooser.check


class Choices(list[Any]):
    """Stands for a collection of properties."""

    def add(self) -> Any:
        self.append(SimpleNamespace(use=True))
        return self[-1]


def test_the_dialog_lists_the_clips_of_the_chosen_file(file: Path) -> None:
    choice = Choice(file)
    assert choice.check(bpy.context)
    assert [(item.name, item.frames, item.use) for item in choice.choices] == [
        ("Stand", 12, True),
        ("공격", 5, True),
        ("Rest", 1, True),
    ]
    assert not choice.check(bpy.context)
    (file.parent / "list.ani").write_bytes(ani_list.AniList(b"HERO.ani\r\nnone.ani\r\nhero.ani").raw)
    choice.filepath = str(file.parent / "list.ani")
    assert choice.check(bpy.context)
    assert [(item.part, item.clip) for item in choice.choices] == [divmod(number, 3) for number in range(6)]
    for odd in (b"", b"\xff" * 40, ani.write(dragons.animation())[:1300]):
        (file.parent / "odd.ani").write_bytes(odd)
        choice.listed = ""
        choice.filepath = str(file.parent / "odd.ani")
        choice.check(bpy.context)
        assert not choice.choices


def test_ticked_clips_are_imported_and_more_later(file: Path) -> None:
    choices = [
        {"name": name, "part": 0, "clip": clip, "frames": 0, "use": clip != 1}
        for clip, name in enumerate(("Stand", "공격", "Rest"))
    ]
    bpy.ops.import_scene.dragonnest_ani(filepath=str(file), listed=str(file), choices=choices)
    assert names() == ["Stand", "Rest"]
    choice = Choice(file)
    bpy.context.view_layer.objects.active = rig()
    choice.check(bpy.context)
    assert [item.use for item in choice.choices] == [False, True, False]
    for item, ticked in zip(choices, choice.choices, strict=True):
        item["use"] = ticked.use
    bpy.ops.import_scene.dragonnest_ani(filepath=str(file), listed=str(file), choices=choices)
    assert names() == ["Stand", "Rest", "공격"]
    with pytest.raises(RuntimeError, match="no clip is ticked"):
        bpy.ops.import_scene.dragonnest_ani(
            filepath=str(file), listed=str(file), choices=[{**item, "use": False} for item in choices]
        )


def test_list_operators(file: Path, tmp_path: Path) -> None:
    bpy.ops.import_scene.dragonnest_ani(filepath=str(file))
    obj = rig()
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.dragonnest.clip_play(number=1) == {"FINISHED"}
    assert obj.animation_data.action == clips.listed(obj)[1].action
    assert (bpy.context.scene.frame_end, bpy.context.scene.render.fps) == (4, 60)
    bpy.ops.dragonnest.clip_stop()
    bpy.ops.dragonnest.clip_move(number=0, direction="DOWN")
    assert names() == ["공격", "Stand", "Rest"]
    bpy.ops.dragonnest.clip_move(number=0, direction="UP")
    bpy.ops.dragonnest.clip_tick(what="INVERT")
    assert not any(item.use_export for item in clips.listed(obj))
    bpy.ops.dragonnest.clip_tick(what="ALL")
    clips.listed(obj)[1].length = 20
    bpy.ops.dragonnest.clip_remove(number=2)
    assert names() == ["공격", "Stand"]
    out = tmp_path / "out.ani"
    bpy.ops.export_scene.dragonnest_ani(filepath=str(out), use_check=False)
    found = ani.read(out.read_bytes())
    assert (found.clips, found.lengths.tolist()) == (["공격", "Stand"], [5, 20])
    with pytest.raises(RuntimeError, match="has no clip 7"):
        bpy.ops.dragonnest.clip_play(number=7)
    with pytest.raises(RuntimeError, match="no window"):
        bpy.ops.dragonnest.clip_load()


def test_actions_of_ones_own_come_into_the_list(file: Path) -> None:
    bpy.ops.import_scene.dragonnest_ani(filepath=str(file))
    obj = rig()
    bpy.context.view_layer.objects.active = obj
    own = clips.listed(obj)[0].action.copy()
    own.name = "Own"
    with pytest.raises(RuntimeError, match="stand in the list"):
        bpy.ops.dragonnest.clip_add(what="ACTIVE")
    bpy.ops.dragonnest.clip_add(what="FITTING")
    assert names() == ["Stand", "공격", "Rest", "Own"]
    bpy.data.objects.new("other", bpy.data.armatures.new("other"))


def test_panel_and_lists_draw(file: Path) -> None:
    bpy.ops.import_scene.dragonnest_ani(filepath=str(file))
    bpy.context.view_layer.objects.active = rig()
    layout = MagicMock()
    clip_panel.DRAGONNEST_PT_clips.draw(
        SimpleNamespace(
            layout=layout,
            _buttons=clip_panel.DRAGONNEST_PT_clips._buttons,
            _chosen=lambda item: clip_panel.DRAGONNEST_PT_clips._chosen(SimpleNamespace(layout=layout), item),
            _files=lambda obj: clip_panel.DRAGONNEST_PT_clips._files(SimpleNamespace(layout=layout), obj),
        ),
        bpy.context,
    )
    layout.row.return_value.template_list.assert_called_once()
    for kind in (clip_panel.DRAGONNEST_UL_clips, clip_chooser.DRAGONNEST_UL_clip_choices):
        item = MagicMock(label="")
        kind.draw_item(SimpleNamespace(), bpy.context, layout, None, item, 0, None, "", 0)
    assert UserError is not None
