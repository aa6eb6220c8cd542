# SPDX-License-Identifier: GPL-3.0-or-later
"""A further part of a character: onto the armature that is there, or onto one of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import pytest
from addon.io_common.scene import mesh as meshes
from addon.io_dragonnest.formats import ani, msh, names, space
from addon.io_dragonnest.formats.collision import Collision, Kind
from addon.io_dragonnest.formats.dummy import Dummy

from tests import dragons

from .helpers import dragon_scene, scene

if TYPE_CHECKING:
    from pathlib import Path

HEIGHT = 1e-4  # of the model's height: what positions may be off


def _shown(obj: bpy.types.Object) -> np.ndarray:
    """(V, 3): where the evaluated mesh has its vertices in the world, in file axes."""
    bpy.context.view_layer.update()
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    return space.AXES.undo(meshes.get_positions(evaluated.data) @ matrix[:3, :3].T + matrix[:3, 3])


def _height(model: msh.Msh) -> float:
    return float(np.ptp(np.concatenate([part.positions for part in model.submeshes]), axis=0).max())


def _second_part(**changes: Any) -> msh.Msh:
    """Names in another case, one bone that the first part lacks."""
    model = dragons.character()
    model.submeshes = [dragons.part(name="Hat", bones=("BIP01 HEAD", "Feather"))]
    table = model.bones[[3, 3]].copy()
    table["name"] = names.fields([b"BIP01 HEAD", b"Feather"])
    table["inverse_bind"][1, 3, 1] -= 4
    table["inverse_bind"][0, 3, 0] += changes.get("shift", 0.0)
    model.bones = table
    return model


def _armatures() -> list[bpy.types.Object]:
    return [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]


class TestSecondPart:
    """A costume part onto the armature that is there."""

    def test_bones_are_matched_and_added(self, tmp_path: Path) -> None:
        first = dragon_scene.save(tmp_path / "a.msh", dragons.character())
        second = dragon_scene.save(tmp_path / "b.msh", _second_part())
        dragon_scene.bring(tmp_path / "a.msh")
        bpy.context.view_layer.objects.active = None
        for obj in bpy.context.selected_objects:
            obj.select_set(False)
        dragon_scene.bring(tmp_path / "b.msh")
        armature = dragon_scene.rig()
        assert sorted(bone.name for bone in armature.data.bones) == sorted([*dragons.BONES, "Feather"])
        hat = bpy.data.objects["Hat"]
        assert [group.name for group in hat.vertex_groups] == ["Bip01 Head", "Feather"]
        assert hat.parent is armature
        model = _second_part()
        assert np.abs(_shown(hat) * 100 - model.submeshes[0].positions).max() <= HEIGHT * _height(model)
        assert dragon_scene.export(tmp_path / "b2.msh", hat) == second
        assert dragon_scene.export(tmp_path / "a2.msh", bpy.data.objects["Body"], bpy.data.objects["Blade"]) == first
        # The armature stands for all it carries: one file for each part, named as its collection.
        (tmp_path / "out").mkdir()
        scene.select(armature)
        bpy.ops.export_scene.dragonnest_msh(filepath=str(tmp_path / "out" / "any.msh"))
        assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == {
            "a.msh": first,
            "b.msh": second,
        }

    def test_another_bind_pose_is_kept_and_told(self, tmp_path: Path) -> None:
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        second = dragon_scene.save(tmp_path / "b.msh", _second_part(shift=3.0))
        dragon_scene.bring(tmp_path / "a.msh")
        dragon_scene.bring(tmp_path / "b.msh", existing_armature="ALWAYS")
        text = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
        assert "stand otherwise in the armature" in text
        assert dragon_scene.export(tmp_path / "b2.msh", bpy.data.objects["Hat"]) == second

    def test_it_can_have_its_own(self, tmp_path: Path) -> None:
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        dragon_scene.save(tmp_path / "b.msh", _second_part())
        dragon_scene.bring(tmp_path / "a.msh")
        dragon_scene.bring(tmp_path / "b.msh", existing_armature="NEVER")
        assert len(_armatures()) == 2

    def test_what_is_there_already_comes_a_second_time(self, tmp_path: Path) -> None:
        """The same file again is no further part, with a part of its own less so."""
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        dragon_scene.save(tmp_path / "b.msh", _second_part())
        dragon_scene.bring(tmp_path / "a.msh")
        dragon_scene.bring(tmp_path / "b.msh")
        dragon_scene.bring(tmp_path / "a.msh")
        assert len(_armatures()) == 2
        dragon_scene.bring(tmp_path / "b.msh")  # onto the one that lacks it
        assert [len([obj for obj in rig.children if obj.type == "MESH"]) for rig in _armatures()] == [3, 3]

    @pytest.mark.parametrize("odd", ["shifted", "turned", "few", "origin", "other"])
    def test_what_does_not_plainly_fit_gets_its_own(self, odd: str, tmp_path: Path) -> None:
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        model = _second_part(shift=0.5 if odd == "shifted" else 0.0)
        if odd == "turned":
            model.bones["inverse_bind"][0, :3, :3] = np.eye(3)[[1, 0, 2]]
        elif odd == "few":
            model.bones = model.bones[[0, 1, 1]]
            model.bones["name"][2] = names.field("Quill")
        elif odd == "origin":
            model.bones = model.bones[:1]
            model.bones["inverse_bind"][0] = np.eye(4)
        dragon_scene.bring(tmp_path / "a.msh")
        if odd == "origin":
            for bone in dragon_scene.rig().data.bones:
                bone["dragonnest_bind"] = np.eye(4, dtype="<f4").tobytes()
        if odd == "other":
            del dragon_scene.rig().data["dragonnest_hierarchy"]
        data = dragon_scene.save(tmp_path / "b.msh", model)
        dragon_scene.bring(tmp_path / "b.msh")
        assert len(_armatures()) == 2
        assert dragon_scene.export(tmp_path / "b2.msh", bpy.data.objects["Hat"]) == data

    def test_of_two_that_fit_the_selected_one_counts(self, tmp_path: Path) -> None:
        data = dragon_scene.save(tmp_path / "a.msh", dragons.character())
        second = dragon_scene.save(tmp_path / "b.msh", _second_part())
        dragon_scene.bring(tmp_path / "a.msh")
        dragon_scene.bring(tmp_path / "a.msh")
        scene.select(dragon_scene.meshes()[0])
        bpy.context.view_layer.objects.active.select_set(state=False)
        bpy.context.view_layer.objects.active = None
        dragon_scene.bring(tmp_path / "b.msh")
        assert len(_armatures()) == 3
        text = bpy.data.texts["Carnivores & Dragon Nest Report"].as_string()
        assert "several armatures have these bones" in text
        wanted = _armatures()[1]
        scene.select(wanted)
        (tmp_path / "c.msh").write_bytes(second)
        made = dragon_scene.bring(tmp_path / "c.msh")
        assert [obj.parent for obj in made] == [wanted]
        assert dragon_scene.export(tmp_path / "c2.msh", *made) == second
        rest = [obj for obj in wanted.children if obj not in made]
        assert dragon_scene.export(tmp_path / "a2.msh", *rest) == data

    def test_a_model_joins_the_bones_of_its_animations(self, tmp_path: Path) -> None:
        """The ANI first, then the parts; what it knows of the bones is as near as animations are."""
        (tmp_path / "c.ani").write_bytes(ani.write(dragons.animation()))
        first = dragon_scene.save(tmp_path / "a.msh", dragons.character())
        second = dragon_scene.save(tmp_path / "b.msh", _second_part())
        for name in ("c.ani", "a.msh", "b.msh"):
            dragon_scene.bring(tmp_path / name)
        scene.reopen(tmp_path / "scene.blend")
        rest, hat = [bpy.data.objects[name] for name in ("Body", "Blade")], bpy.data.objects["Hat"]
        assert dragon_scene.export(tmp_path / "a2.msh", *rest) == first
        assert dragon_scene.export(tmp_path / "b2.msh", hat) == second
        assert dragon_scene.export(tmp_path / "c2.ani", dragon_scene.rig()) == (tmp_path / "c.ani").read_bytes()

    def test_bones_that_a_part_names_without_having_them_stay_out(self, tmp_path: Path) -> None:
        """The armature has them now; the file still has not."""
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        model = _second_part()
        model.submeshes.append(dragons.part(1, 1, name="Pin", parent="Bip01 Spine"))
        model.submeshes[0].skin.names = names.fields([b"BIP01 HEAD", b"Bip01 L Thigh"])
        model.dummies = [Dummy(names.field("#FX"), names.field("Bip01 R Thigh"))]
        model.collisions = [Collision(Kind.SPHERE, names.lpstr("Bip01 Pelvis"), np.ones(4, "<f4"))]
        model.maximum, model.minimum = msh.bounds(model)
        second = dragon_scene.save(tmp_path / "b.msh", model)
        dragon_scene.bring(tmp_path / "a.msh")
        dragon_scene.bring(tmp_path / "b.msh")
        assert len(_armatures()) == 1
        made = [bpy.data.objects[name] for name in ("Hat", "Pin")]
        assert dragon_scene.export(tmp_path / "b2.msh", *made) == second
        # What is hung on another bone since has to have it in the file.
        made[1].parent_bone = "Bip01 Head"
        bpy.data.objects["Hat"].vertex_groups.new(name="Bip01").add([0], 0.5, "ADD")
        found = msh.read(dragon_scene.export(tmp_path / "b3.msh", *made))
        assert found.bone_names == ["BIP01 HEAD", "Feather", "Bip01"]

    def test_a_guessed_hierarchy_is_mended_by_a_part_with_an_ani(self, tmp_path: Path) -> None:
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        dragon_scene.bring(tmp_path / "a.msh")
        dragon_scene.save(tmp_path / "b.msh", _second_part())
        (tmp_path / "b.ani").write_bytes(ani.write(dragons.animation()))
        dragon_scene.bring(tmp_path / "b.msh")
        armature = dragon_scene.rig()
        assert armature.data["dragonnest_hierarchy"] == "ANI"
        assert armature.data.bones["BoxBone01"].parent.name == "Bip01 Spine"

    def test_a_mesh_made_here_takes_the_bones_it_needs(self, tmp_path: Path) -> None:
        """On an armature that carries parts of the game, with those above them; not all of what others brought."""
        dragon_scene.save(tmp_path / "a.msh", dragons.character())
        dragon_scene.save(tmp_path / "b.msh", _second_part())
        dragon_scene.bring(tmp_path / "a.msh")
        dragon_scene.bring(tmp_path / "b.msh")
        mesh = bpy.data.meshes.new("Glove")
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [], [(0, 1, 2)])
        mesh.uv_layers.new()
        obj = bpy.data.objects.new("Glove", mesh)
        bpy.context.scene.collection.objects.link(obj)
        obj.parent = dragon_scene.rig()
        obj.vertex_groups.new(name="Bip01 Spine").add([0, 1, 2], 1.0, "REPLACE")
        obj.modifiers.new("", "ARMATURE").object = dragon_scene.rig()
        found = msh.read(dragon_scene.export(tmp_path / "glove.msh", obj))
        above = [bone.name for bone in dragon_scene.rig().data.bones["Bip01 Spine"].parent_recursive]
        assert found.bone_names == [*reversed(above), "Bip01 Spine"]
