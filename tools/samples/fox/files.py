# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes, colours and clips of the fox to the bytes of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from addon.io_dragonnest.formats import ani, effects, msh, names, skn
from addon.io_dragonnest.formats.collision import Collision, Kind
from addon.io_dragonnest.formats.dummy import Dummy

from tools.samples import exact
from tools.samples.fox import body, clips, dds, head, outfit, paint, paint_outfit
from tools.samples.fox.skeleton import JOINTS, NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy.typing as npt
    from addon.io_dragonnest.formats.submesh import Submesh

    from tools.samples.exact import Vector

BODY_BONES = tuple(name for name in NAMES if not name.startswith(("Bone_Cape", "Bone_String", "Bone_Arrow", "~")))
RANGER_BONES = (
    "Bip01 Spine1", "Bip01 Head", "Bip01 L Clavicle", "Bip01 R Clavicle", "Bip01 L Hand", "Bip01 R Hand",
    outfit.BOW, outfit.STRING, outfit.ARROW, "Bone_Cape01", "Bone_Cape02",
)  # fmt: skip
Properties = dict[str, "float | Sequence[float] | str"]


def bone_table(bones: Sequence[str]) -> npt.NDArray[Any]:
    """Return the bones of an MSH, which holds where they are not: the inverse of where they are."""
    table = np.zeros(len(bones), msh.BONE)
    table["name"] = names.fields([names.field(name) for name in bones])
    for row, name in zip(table, bones, strict=True):
        joint = JOINTS[NAMES.index(name)]
        columns = [tuple(line[number] for line in joint.axes) for number in range(3)]
        row["inverse_bind"][:3, :3] = joint.axes
        row["inverse_bind"][3, :3] = [-exact.dot(joint.head, (x, y, z)) for x, y, z in columns]
        row["inverse_bind"][3, 3] = 1.0
    return table


def _model(parts: Sequence[Submesh], bones: Sequence[str]) -> msh.Msh:
    found = msh.Msh(13, list(parts), bone_table(bones))
    found.maximum, found.minimum = msh.bounds(found)
    return found


def fox() -> msh.Msh:
    """Return the fox itself: head and body, where it is hit, and where things are hung on it."""
    found = _model([head.build().submesh("Head"), body.build().submesh("Body")], BODY_BONES)
    found.collisions = [
        Collision(Kind.CAPSULE, names.lpstr("Scene Root"), np.array([0, 14, 0, 0, 34, 0, 12], "<f4")),
        Collision(Kind.SPHERE, names.lpstr("Bip01 Head"), np.array([0, 74, 0, 17], "<f4")),
    ]
    found.dummies = [_dummy("#FX_Head", "Bip01 Head", (26.0, 0.0, 0.0)), _dummy("#FX_Foot", "Bip01", (-37.0, 0.0, 0.0))]
    found.maximum, found.minimum = msh.bounds(found)
    return found


def ranger() -> msh.Msh:
    """Return what it wears: a cape as one strip with vertex colours, rigid parts, a skinned bow."""
    found = _model(
        [
            outfit.cape().submesh("Cape", strip=True, colour=_shade),
            outfit.hat().submesh("Hat", parent="Bip01 Head"),
            outfit.quiver().submesh("Quiver", parent="Bip01 Spine1"),
            outfit.bow().submesh("Bow"),
            outfit.arrow().submesh("Arrow", parent=outfit.ARROW),
        ],
        RANGER_BONES,
    )
    found.dummies = [_dummy("#FX_Bow", outfit.BOW, (3.0, 0.0, 0.0))]
    return found


def _dummy(name: str, parent: str, place: Vector) -> Dummy:
    matrix = np.eye(4, dtype="<f4")
    matrix[3, :3] = place
    return Dummy(names.field(name), names.field(parent), matrix)


def _shade(place: Vector, _normal: Vector) -> tuple[int, int, int, int]:
    """Return a colour (b, g, r, a) that darkens towards the hem."""
    light = int(255.0 - 70.0 * (60.0 - place[1]) / 32.0)
    return (light, light, light, 255)


def _skin(mesh: str, materials: Sequence[tuple[str, str, Properties]], order: int) -> skn.Skn:
    found = skn.Skn(11, mesh_name=names.field(mesh), order=order)
    for name, effect, properties in materials:
        entries = []
        for key, value in properties.items():
            entries.append(skn.Property.of(key, effects.PARAMETERS[key][0], value))
        found.materials.append(skn.Material(names.field(name), names.field(effect), properties=entries))
    return found


def _plain(texture: str) -> Properties:
    grey = (0.682, 0.682, 0.682, 1.0)
    return {"g_MaterialAmbient": grey, "g_MaterialDiffuse": grey, "g_DiffuseTex": texture}


def fox_skin() -> skn.Skn:
    """Return the materials of the fox."""
    return _skin(
        "fox.msh",
        [("fox_face", "Diffuse.fx", _plain("fox_face.dds")), ("fox_body", "Diffuse.fx", _plain("fox_body.dds"))],
        2,
    )


def ranger_skin() -> skn.Skn:
    """Return the materials of the outfit: holes in cape and feather, runes that glow on the bow."""
    cut = _plain("fox_ranger.dds") | {"g_AlphaRef": 0.5}
    shining = _plain("fox_bow.dds") | {
        "g_EmissiveTex": "fox_bow_glow.dds",
        "g_EmissivePower": 1.5,
        "g_EmissivePowerRange": 0.5,
        "g_EmissiveAniSpeed": 2.0,
    }
    return _skin(
        "fox_ranger.msh",
        [
            ("cape", "Diffuse.fx", cut),
            ("hat", "Diffuse.fx", cut),
            ("quiver", "Diffuse.fx", _plain("fox_ranger.dds")),
            ("bow", "Default.fx", shining),
            ("arrow", "Diffuse.fx", _plain("fox_ranger.dds")),
        ],
        4,
    )


def files() -> dict[str, bytes]:
    """Every file of the fox: its name in the folder of assets, its bytes."""
    face, skin, worn, bow, glow = (
        paint.face(),
        paint.body(),
        paint_outfit.ranger(),
        paint_outfit.bow(),
        paint_outfit.glow(),
    )
    return {
        "fox.msh": msh.write(fox()),
        "fox.skn": skn.write(fox_skin()),
        "fox.ani": ani.write(clips.animation()),
        "fox_face.dds": dds.encode(face.paint),
        "fox_body.dds": dds.encode(skin.paint),
        "fox_ranger.msh": msh.write(ranger()),
        "fox_ranger.skn": skn.write(ranger_skin()),
        "fox_ranger.dds": dds.encode(worn.paint, worn.cover),
        "fox_bow.dds": dds.encode(bow.paint),
        "fox_bow_glow.dds": dds.encode(glow.paint, glow.cover),
    }
