# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample character of Dragon Nest: sound files, a pose that is right, and the steps of its guide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
import pytest
from addon.io_dragonnest.formats import ani, checks, hierarchy, msh, names, pose, sampling, skn, submesh, triangles
from mathutils import Vector

from tools import demo, demo_fox, make_samples

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

ASSETS = make_samples.ASSETS
MODELS = ("fox.msh", "fox_ranger.msh")
PICTURES = ("fox_body.dds", "fox_bow.dds", "fox_bow_glow.dds", "fox_face.dds", "fox_ranger.dds")


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> msh.Msh:
    """Each of the two models."""
    return msh.read((ASSETS / request.param).read_bytes())


@pytest.fixture(scope="module")
def clips() -> ani.Ani:
    """The clips."""
    found = ani.read((ASSETS / "fox.ani").read_bytes())
    assert isinstance(found, ani.Ani)
    return found


def _shown(name: str, clips: ani.Ani, clip: int, at: list[int]) -> dict[str, npt.NDArray[np.float64]]:
    whole = msh.read((ASSETS / name).read_bytes())
    return {part.label: found for part, found in zip(whole.submeshes, pose.shown(whole, clips, clip, at), strict=True)}


def test_the_checks_have_nothing_to_say(model: msh.Msh) -> None:
    """Nothing that the game would stumble over."""
    assert checks.check_msh(model, "") == []


def test_what_the_files_show_off(clips: ani.Ani) -> None:
    """Newest versions, a strip, rigid parts, colours, holes, a glow, dummies, collisions."""
    fox, ranger = (msh.read((ASSETS / name).read_bytes()) for name in MODELS)
    assert (fox.version, ranger.version, clips.version) == (13, 13, 11)
    facts = {
        part.label: (part.is_strip, part.skin is not None, part.colours is not None, names.text(part.parent))
        for part in (*fox.submeshes, *ranger.submeshes)
    }
    assert facts == {
        "Head": (False, True, False, "Scene Root"),
        "Body": (False, True, False, "Scene Root"),
        "Cape": (True, True, True, "Scene Root"),
        "Hat": (False, False, False, "Bip01 Head"),
        "Quiver": (False, False, False, "Bip01 Spine1"),
        "Bow": (False, True, False, "Scene Root"),
        "Arrow": (False, False, False, "Bone_Arrow"),
    }
    assert [entry.kind.name for entry in fox.collisions] == ["CAPSULE", "SPHERE"]
    assert [entry.label for entry in (*fox.dummies, *ranger.dummies)] == ["#FX_Head", "#FX_Foot", "#FX_Bow"]
    skins = [skn.read((ASSETS / name.replace(".msh", ".skn")).read_bytes()) for name in MODELS]
    assert [skin.version for skin in skins] == [11, 11]
    assert [names.text(skin.mesh_name) for skin in skins] == list(MODELS)
    assert [len(skin.materials) for skin in skins] == [2, 5]
    used = {entry.texture for skin in skins for one in skin.materials for entry in one.properties if entry.texture}
    assert used == set(PICTURES)


def test_weights_are_smooth_and_sorted(model: msh.Msh) -> None:
    """Up to four, the heaviest first, their sum one; some vertex has three at the least."""
    most = 0
    for part in model.submeshes:
        if part.skin is None:
            continue
        _slots, weights, lost = submesh.influences(part)
        assert lost == 0
        assert np.allclose(weights.sum(axis=1), 1.0, atol=1e-6)
        assert (np.diff(weights, axis=1) <= 0).all()
        most = max(most, int((weights > 0).sum(axis=1).max()))
    assert most >= 3


def test_faces_look_outwards(model: msh.Msh) -> None:
    """The raw cross product lies along the stored normals, as in the files of the game."""
    for part in model.submeshes:
        corners = part.positions[triangles.of(part).corners].astype(np.float64)
        facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = part.normals[triangles.of(part).corners].mean(axis=1)
        assert ((facing * normals).sum(axis=1) > 0).mean() > 0.97, part.label


def test_inverse_binds_are_those_of_the_clips(model: msh.Msh, clips: ani.Ani) -> None:
    """The base of the clips is the bind pose."""
    base = pose.world(sampling.base(clips).matrices(), hierarchy.from_ani(clips).parents)[0]
    found = pose.matched_world(model.bone_names, clips, base)
    assert np.abs(pose.skin_matrices(model, found) - np.eye(4)).max() < 1e-4


def test_it_looks_like_a_character_of_the_game(clips: ani.Ani) -> None:
    """About a hundred units tall, on the ground, facing -z at rest and +z in its clips."""
    fox = msh.read((ASSETS / "fox.msh").read_bytes())
    assert 95 < fox.maximum[1] < 110
    assert -0.1 < fox.minimum[1] < 0.1
    head = next(part for part in fox.submeshes if part.label == "Head")
    nose = int(head.positions[:, 2].argmin())
    assert head.positions[nose, 2] < -18
    for clip in range(3):
        assert _shown("fox.msh", clips, clip, [0])["Head"][0, nose, 2] > 15, clips.clips[clip]
        lowest = _shown("fox.msh", clips, clip, list(range(int(clips.lengths[clip]))))["Body"][..., 1].min()
        assert -0.6 < lowest < 0.1, "no foot sinks in"


def test_clips_end_as_they_begin(clips: ani.Ani) -> None:
    """All of them repeat; one follows the other without a jump but for the run."""
    assert clips.clips == ["Fox_Stand", "Fox_Run", "Fox_Attack"]
    assert clips.lengths.tolist() == [121, 37, 73]
    starts = []
    for clip, length in enumerate(clips.lengths.tolist()):
        both = pose.clip_world(clips, clip, [0, length - 1])
        assert np.abs(both[0] - both[1]).max() < 0.05, clips.clips[clip]
        starts.append(both[0])
    assert np.abs(starts[0] - starts[2]).max() < 0.05


def test_it_shoots(clips: ani.Ani) -> None:
    """The arrow is as good as not there, appears, lies on the drawn string, and flies."""
    at = [0, 20, 46, 58]
    arrow = _shown("fox_ranger.msh", clips, 2, at)["Arrow"]
    sizes = np.linalg.norm(np.ptp(arrow, axis=1), axis=-1)
    assert sizes[0] < 2
    assert (sizes[1:] > 30).all()
    bow = _shown("fox_ranger.msh", clips, 2, at)["Bow"]
    assert bow[2, :, 2].max() - bow[2, :, 2].min() > 25, "the string is drawn"
    assert arrow[3, :, 2].min() > bow[3, :, 2].max() + 20


def test_it_comes_together_on_one_armature() -> None:
    """As in the guide: body, outfit onto the same armature, clips; every texture is found."""
    rig = demo_fox.import_fox()
    assert [obj for obj in bpy.data.objects if obj.type == "ARMATURE"] == [rig]
    assert len(rig.data.bones) == 32
    assert {obj.name for obj in demo_fox.parts(rig)} == {"Head", "Body", "Cape", "Hat", "Quiver", "Bow", "Arrow"}
    assert rig.data.bones["Bone_Cape02"].parent.name == "Bone_Cape01", "guessed with the outfit, known from the clips"
    assert rig.data.bones["~BoxBone01"].parent.name == "Bip01 L Hand"
    assert {image.name for image in bpy.data.images if image.source == "FILE"} == set(PICTURES)
    assert all(image.size[0] for image in bpy.data.images if image.source == "FILE"), "Blender reads our DDS"
    assert demo_fox.describe(rig) == [
        "Fox_Stand    121 frames  2.02 s",
        "Fox_Run       37 frames  0.62 s",
        "Fox_Attack    73 frames  1.22 s",
    ]


@pytest.mark.parametrize(("clip", "frame"), [("Fox_Stand", 40), ("Fox_Run", 9), ("Fox_Attack", 46)])
def test_blender_shows_what_the_game_shows(clips: ani.Ani, clip: str, frame: int) -> None:
    """Every vertex of every part is where the reference puts it, to a thousandth of its height."""
    rig = demo_fox.import_fox()
    demo_fox.show(rig, clip, frame)
    wanted: dict[str, npt.NDArray[np.float64]] = {}
    for name in MODELS:
        wanted |= _shown(name, clips, clips.clips.index(clip), [frame])
    graph = bpy.context.evaluated_depsgraph_get()
    for obj in demo_fox.parts(rig):
        shown = obj.evaluated_get(graph)
        places = np.empty(3 * len(shown.data.vertices), np.float32)
        shown.data.vertices.foreach_get("co", places)
        world = np.array(shown.matrix_world)
        found = (places.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]) * 100
        assert np.abs(found - wanted[obj.name][0][:, [0, 2, 1]]).max() < 0.1, obj.name


def test_normals_turn_with_the_bones() -> None:
    """At rest it faces the one way and in its clips the other: light has to follow."""
    rig = demo_fox.import_fox()
    demo_fox.show(rig, "Fox_Stand", 0)
    head = bpy.data.objects["Head"]
    shown = head.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    facing, normals = (np.empty(3 * count, np.float32) for count in (len(shown.polygons), len(shown.loops)))
    shown.polygons.foreach_get("normal", facing)
    shown.corner_normals.foreach_get("vector", normals)
    assert (normals.reshape(-1, 3, 3).mean(axis=1) * facing.reshape(-1, 3)).sum(axis=1).mean() > 0.8


def test_bytes_survive_a_saved_blend(tmp_path: Path) -> None:
    """Import, save, open, export: the same five files."""
    demo_fox.import_fox()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
    demo_fox.export_again(tmp_path / "fox.blend", tmp_path)
    for name in demo_fox.FILES:
        assert (tmp_path / name).read_bytes() == (ASSETS / name).read_bytes(), name
    assert {path.name for path in tmp_path.iterdir()} == {"fox.blend", *demo_fox.FILES}


def test_a_clip_is_edited_as_in_the_guide(clips: ani.Ani, tmp_path: Path) -> None:
    """The head is bowed in one clip: only that clip changes, the others go back as they came."""
    rig = demo_fox.import_fox()
    demo_fox.show(rig, "Fox_Stand", 60)
    head = rig.pose.bones["Bip01 Head"]
    head.rotation_mode = "QUATERNION"
    head.rotation_quaternion.rotate(Vector((0.0, 0.0, 1.0)).rotation_difference(Vector((0.0, 0.4, 1.0))))
    head.keyframe_insert("rotation_quaternion", frame=60)
    bpy.ops.export_scene.dragonnest_ani(filepath=str(tmp_path / "fox.ani"))
    edited = ani.read((tmp_path / "fox.ani").read_bytes())
    assert isinstance(edited, ani.Ani)
    rows = [name for name in edited.bone_names if _differs(edited, clips, 0, name)]
    assert rows == ["Bip01 Head"]
    assert not [name for name in edited.bone_names for clip in (1, 2) if _differs(edited, clips, clip, name)]


def _differs(one: ani.Ani, other: ani.Ani, clip: int, bone: str) -> bool:
    records = [found.records[found.bone_names.index(bone)][clip] for found in (one, other)]
    tracks = [b"|".join(track.tobytes() for track in record.tracks) for record in records]
    return tracks[0] != tracks[1]


def test_the_demo_poses_are_what_they_say() -> None:
    """Frozen side by side: in the shot the bow is upright and the string drawn."""
    rig = demo_fox.import_fox()
    copies = demo_fox.freeze_poses(rig, [("Fox_Run", 4), ("Fox_Attack", 46)], Vector((-2.0, 0.0, 0.0)))
    assert len(copies) == 2 * len(demo_fox.parts(rig))
    bows = [copy for copy in copies if copy.name.endswith("Bow")]
    spans = []
    for bow in bows:
        places = np.array([bow.matrix_world @ vertex.co for vertex in bow.data.vertices])
        spans.append(np.ptp(places, axis=0))
    assert spans[1][2] > 0.6
    assert spans[1][1] > 0.25
    assert demo.ASSETS == ASSETS
