# SPDX-License-Identifier: GPL-3.0-or-later
"""Screenshots for the documentation, of our own samples: `python3 dev.py window tests/window/docs_screenshots.py`.

Not collected unless named. Each test leaves build/window/docs-NAME.png, cut to what matters; then
`python3 dev.py python tools/docs_pictures.py screenshots` puts them into docs/images.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
import test_archives as archive_tests
from conftest import CHECKOUT
from mathutils import Vector
from screen import pixels
from test_dialogs import call
from test_fox import HEADER, SECOND_HEADER, THIRD_HEADER, choose, click_header, dressed, open_tab
from test_sidebar import import_model, open_sidebar
from test_window import drawn, find_row  # noqa: F401 (a fixture)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from screen import Screen

DINOSAUR = CHECKOUT / "assets" / "dinosaur.3df"
CREATURE = CHECKOUT / "assets" / "dinosaur.car"
HINGE = (0.0, -146.0, 196.0)  # of its jaw, in file units


@pytest.fixture
def models() -> Iterator[Path]:
    """Give a folder of a plain name with the samples in it: its path is in the picture."""
    folder = Path(tempfile.gettempdir()) / "Models"
    folder.mkdir(exist_ok=True)
    for path in sorted((CHECKOUT / "assets").glob("*.*")):
        shutil.copyfile(path, folder / path.name)
    yield folder
    shutil.rmtree(folder)


def keep(picture: Path, name: str, left: int, bottom: int, right: int, top: int) -> None:
    """Cut a rectangle out of a screenshot, in pixels from its lower left corner, and keep it for the documentation."""
    part = pixels(picture)[bottom:top, left:right]
    rgba = np.ones((*part.shape[:2], 4), np.float32)
    rgba[..., :3] = part
    image = bpy.data.images.new(name, part.shape[1], part.shape[0])
    image.pixels.foreach_set(np.ascontiguousarray(rgba).reshape(-1))
    image.filepath_raw = str(Path(os.environ["WINDOW_OUTPUT"]) / f"docs-{name}.png")
    image.file_format = "PNG"
    image.save()
    assert part.std() > 0.02, "the picture is blank"


def keep_viewport(screen: Screen, name: str, width: int, below: int = 0) -> None:
    """Keep as many pixels of the 3D viewport, from its right edge, where the sidebar is, without the lowest ones."""
    area = screen.area()
    right, top = area.x + area.width, area.y + area.height
    keep(screen.photograph(), name, right - width, area.y + below, right, top)


def look_at_it(screen: Screen) -> None:
    """Show the texture, and the model from its front left, large."""
    view = screen.area().spaces.active
    view.shading.type, view.shading.color_type = "SOLID", "TEXTURE"
    view.overlay.show_floor = view.overlay.show_axis_x = view.overlay.show_axis_y = False
    view.overlay.show_cursor = view.overlay.show_bones = False
    view.show_gizmo = False
    with screen.override():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_orbit(angle=0.7, type="ORBITLEFT")
        bpy.ops.view3d.view_orbit(angle=0.15, type="ORBITUP")
        bpy.ops.view3d.view_selected()
        bpy.ops.view3d.zoom(delta=2)
    screen.wait(5)


def edit_with_head_selected(screen: Screen) -> None:
    with screen.override():
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.carnivores.flags_select(flags={"MORTAL"})
    screen.wait(5)


def test_sidebar(screen: Screen) -> None:
    import_model(screen, DINOSAUR)
    open_sidebar(screen)
    look_at_it(screen)
    edit_with_head_selected(screen)
    keep_viewport(screen, "sidebar", 900)


def test_check(screen: Screen) -> None:
    """The head is made glass and cut-out at once, which would hide the eyes in the game."""
    import_model(screen, DINOSAUR)
    open_sidebar(screen)
    look_at_it(screen)
    edit_with_head_selected(screen)
    with screen.override():
        bpy.ops.carnivores.flags_set(flags={"OPACITY", "TRANSPARENT"})
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.carnivores.check(game="C2")
        bpy.ops.screen.screen_full_area()  # all of the sidebar
    screen.wait(5)
    keep_viewport(screen, "check", 720)
    with screen.override():
        bpy.ops.screen.back_to_previous()


def roar(screen: Screen) -> bpy.types.Object:
    """Import the character, stop in the middle of its roar, return its armature."""
    import_model(screen, CREATURE)
    with screen.override():
        bpy.ops.carnivores.animation_play(number=2)
        bpy.ops.screen.animation_cancel(restore_frame=False)
        bpy.context.scene.frame_set(18)
    screen.wait(3)
    return next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")


def test_creature(screen: Screen) -> None:
    """The list of animations, the chosen one's fields, the sounds."""
    roar(screen)
    open_sidebar(screen)
    look_at_it(screen)
    with screen.override():
        bpy.ops.view3d.zoom(delta=-2)
        bpy.ops.screen.screen_full_area()  # all of the sidebar
    screen.wait(5)
    sidebar = screen.region("UI", screen.area())
    screen.click(sidebar.x + sidebar.width // 2, sidebar.y + sidebar.height - 14)  # closes the first panel
    screen.wait(5)
    keep_viewport(screen, "creature", 900)
    with screen.override():
        bpy.ops.screen.back_to_previous()


def test_creature_bones(screen: Screen) -> None:
    """The jaw is chosen in Pose Mode."""
    rig = roar(screen)
    look_at_it(screen)
    view = screen.area().spaces.active
    view.overlay.show_bones, rig.show_in_front, view.show_region_ui = True, True, False
    jaw = min(rig.data.bones, key=lambda bone: (bone.head_local - Vector(HINGE)).length)
    with screen.override():
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
        rig.data.bones.active = jaw
        chosen = rig.pose.bones[jaw.name]
        (chosen if hasattr(chosen, "select") else jaw).select = True  # since 5.0 it is the pose that knows
        bpy.ops.view3d.zoom(delta=1)
    screen.wait(5)
    area = screen.area()
    right, top = area.x + area.width - 340, area.y + area.height - 90
    keep(screen.photograph(), "creature-bones", right - 560, area.y + 100, right, top - 20)


def test_creature_timeline(screen: Screen) -> None:
    """The sound lies in the sequencer, the keyframes of the bones in the timeline below it."""
    rig = roar(screen)
    area = screen.area()
    with screen.override():
        bpy.ops.object.select_all(action="DESELECT")
        rig.select_set(True)
        bpy.context.view_layer.objects.active = rig
    workspace = screen.window.workspace
    if hasattr(workspace, "sequencer_scene"):  # since 5.0
        workspace.sequencer_scene = bpy.context.scene
    with screen.override():
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.62)
    screen.wait(5)
    upper, lower = sorted((a for a in screen.window.screen.areas if a.type == "VIEW_3D"), key=lambda a: -a.y)
    for area, kind, operator in (
        (upper, "SEQUENCE_EDITOR", bpy.ops.sequencer.view_all),
        (lower, "DOPESHEET", bpy.ops.action.view_all),
    ):
        area.ui_type = kind
        area.spaces.active.show_region_ui = False
        screen.wait(3)
        with screen.override(area):
            operator()
    screen.wait(20)  # the wave is drawn by a job
    rows = lower.y + lower.height - 120
    keep(screen.photograph(), "creature-timeline", lower.x, rows, lower.x + lower.width, upper.y + upper.height)


def test_import_menu(screen: Screen, drawn: list[str]) -> None:  # noqa: F811 (the fixture)
    row = find_row(screen, drawn, "TOPBAR_MT_file_import")
    screen.open_in_file_menu(row)
    screen.key("END")
    picture = screen.photograph("menu")
    for _ in range(3):
        screen.key("ESC")
    keep(picture, "import-menu", 0, 80, 640, screen.window.height)


@pytest.mark.parametrize("verb", ["import", "export"])
def test_dialog(screen: Screen, models: Path, verb: str) -> None:
    import_model(screen, DINOSAUR)
    call(f"{verb.upper()}_SCENE_OT_carnivores_3df", screen)
    dialog = screen.wait_for_dialog()
    area = screen.area("FILE_BROWSER", dialog)
    parameters = area.spaces.active.params
    name = {"import": "dinosaur.3df", "export": "my dinosaur.3df"}[verb]
    parameters.directory, parameters.filename = str(models).encode(), name
    screen.wait(20)  # the list of files is read by a job
    parameters.filename = name
    picture = screen.photograph("dialog")
    files = screen.region("WINDOW", area)
    # The dialog was put 200 pixels from the left and 120 from the top of the screen.
    top = pixels(picture).shape[0] - 120
    left = 200 + files.x
    keep(picture, f"{verb}-dialog", left, top - area.height, 200 + area.width, top)


def shoot(screen: Screen) -> bpy.types.Object:
    """Import the fox with its outfit and clips, stop where the bow is drawn, look at its front; its armature."""
    rig = dressed(screen)
    choose(screen, rig)
    with screen.override():
        bpy.ops.dragonnest.clip_play(number=2)
        bpy.ops.screen.animation_cancel(restore_frame=False)
        bpy.context.scene.frame_set(46)
    screen.wait(3)
    open_tab(screen)
    view = screen.area().spaces.active
    view.shading.type, view.shading.color_type = "SOLID", "TEXTURE"
    view.overlay.show_floor = view.overlay.show_axis_x = view.overlay.show_axis_y = False
    view.overlay.show_cursor = view.overlay.show_bones = view.show_gizmo = False
    with screen.override():
        bpy.ops.view3d.view_axis(type="BACK")  # in its clips it looks to +y
        bpy.ops.view3d.view_orbit(angle=0.6, type="ORBITRIGHT")
        bpy.ops.view3d.view_orbit(angle=0.15, type="ORBITUP")
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.view3d.view_selected()
        bpy.ops.view3d.zoom(delta=-1)
    view.overlay.show_relationship_lines = False
    # Out of the middle of the viewport, of which the picture shows the right side.
    view.region_3d.view_location -= view.region_3d.view_rotation @ Vector((0.34, 0.0, 0.0))
    choose(screen, rig)
    return rig


def test_fox_clips(screen: Screen) -> None:
    """The list of clips, with the shot chosen."""
    shoot(screen)
    with screen.override():
        bpy.ops.screen.screen_full_area()  # all of the sidebar
    screen.wait(5)
    sidebar = screen.region("UI", screen.area())
    click_header(screen, sidebar, HEADER)  # folds up the model
    keep_viewport(screen, "fox-clips", 800, 110)
    click_header(screen, sidebar, HEADER)
    with screen.override():
        bpy.ops.screen.back_to_previous()


def test_fox_material(screen: Screen) -> None:
    """The properties of the bow, which glows."""
    shoot(screen)
    bow = bpy.data.objects["Bow"]
    choose(screen, bow)
    with screen.override():
        bpy.ops.screen.screen_full_area()
    screen.wait(5)
    sidebar = screen.region("UI", screen.area())
    # Folds up the model and the list of clips, opens the material.
    for depth in (HEADER, SECOND_HEADER, THIRD_HEADER):
        click_header(screen, sidebar, depth)
    bow.active_material.dragonnest.active = 4
    screen.wait(5)
    keep_viewport(screen, "fox-material", 800, 110)
    for depth in (SECOND_HEADER, HEADER):
        click_header(screen, sidebar, depth)
    with screen.override():
        bpy.ops.screen.back_to_previous()


def in_archives(screen: Screen, folder: Path) -> None:
    """Mount the fox, other files and a table of characters; search, import, look at it."""
    with screen.override():
        bpy.ops.dragonnest.archive_folder_add(directory=str(archive_tests.game(folder)))
        bpy.ops.dragonnest.archive_import(names="fox.skn", use_animation=True)
        bpy.ops.object.select_all(action="DESELECT")
        bpy.context.view_layer.objects.active = None
    open_tab(screen)
    shown = bpy.context.window_manager.dragonnest_archives
    shown.query, shown.only_live, shown.active = "fox", False, 2
    screen.wait(3)


def test_archives(screen: Screen, models: Path) -> None:
    """Three archives, a search that finds an overridden entry too, the fox that came out of them."""
    in_archives(screen, models / "Game")
    view = screen.area().spaces.active
    view.shading.type, view.shading.color_type = "SOLID", "TEXTURE"
    view.overlay.show_floor = view.overlay.show_axis_x = view.overlay.show_axis_y = False
    view.overlay.show_cursor = view.overlay.show_bones = view.show_gizmo = False
    view.overlay.show_relationship_lines = False
    with screen.override():
        bpy.ops.view3d.view_axis(type="BACK")
        bpy.ops.view3d.view_orbit(angle=0.6, type="ORBITRIGHT")
        bpy.ops.view3d.view_all()
        bpy.ops.view3d.zoom(delta=-1)
    screen.wait(5)
    view.region_3d.view_location -= view.region_3d.view_rotation @ Vector((0.55, 0.0, 0.0))
    with screen.override():
        bpy.ops.screen.screen_full_area()  # all of the sidebar
    screen.wait(5)
    click_header(screen, screen.region("UI", screen.area()), HEADER)  # folds up the model
    keep_viewport(screen, "archives", 680, 110)
    click_header(screen, screen.region("UI", screen.area()), HEADER)
    with screen.override():
        bpy.ops.screen.back_to_previous()
        bpy.ops.dragonnest.archive_unmount(which="ALL")


def test_archives_actor(screen: Screen, models: Path) -> None:
    """The pop-up that asks for a character."""
    with screen.override():
        bpy.ops.dragonnest.archive_mount(filepath=str(archive_tests.actors(models)))
    screen.move(500, 500)
    with screen.override():
        bpy.ops.dragonnest.archive_actor("INVOKE_DEFAULT", actor="Fox (1)")
    screen.wait(5)
    keep(screen.photograph(), "archives-actor", 60, 300, 660, 620)
    screen.key("ESC")
    screen.wait(5)
    with screen.override():
        bpy.ops.dragonnest.archive_unmount(which="ALL")
