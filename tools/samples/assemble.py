# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes and texels to models and to the bytes of the sample files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from addon.io_carnivores.formats import car, model_3df, model_3dn, motion, texels, tga
from addon.io_carnivores.formats.model import BONE, FACE, VERTEX, Model, name_field

from tools.samples import dinosaur, fern, hide, moves, pose, voice

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tools.samples.shape import Bone, Shape


def assemble(shape: Shape, bones: Sequence[Bone], words: npt.NDArray[np.uint16]) -> Model:
    """Return a model with the texture inside."""
    faces = np.zeros(len(shape.corners), FACE)
    faces["corner"] = shape.corners
    texel = np.array(shape.texels, np.int32)
    faces["u"], faces["v"] = texel[:, :, 0], texel[:, :, 1]
    faces["flags"], faces["group"] = shape.flags, shape.groups
    faces["next"] = -1  # no draw list: the games make their own
    vertices = np.zeros(len(shape.positions), VERTEX)
    vertices["position"], vertices["owner"], vertices["hide"] = shape.positions, shape.owners, shape.hidden
    table = np.zeros(len(bones), BONE)
    table["name"] = [np.void(name_field(bone.name)) for bone in bones]
    table["position"], table["parent"] = [bone.position for bone in bones], [bone.parent for bone in bones]
    return Model(faces, vertices, table, words.astype("<u2"))


def animate(model: Model) -> car.Character:
    """Return the dinosaur with all that it can do. A character has owners, but no bones."""
    still = replace(model, bones=model.bones[:0])
    character = car.Character(still, name_field("dinosaur"))
    for name, kps, poses in (
        ("walk", moves.WALK_KPS, moves.walk()),
        ("idle", moves.IDLE_KPS, moves.idle()),
        ("roar", moves.ROAR_KPS, moves.roar()),
    ):
        places = pose.frames(poses, still.vertices["position"], still.vertices["owner"])
        character.animations.append(motion.Animation(name_field(name), kps, motion.quantise(places)))
    character.sounds = [car.Sound(name_field("steps"), voice.steps()), car.Sound(name_field("roar"), voice.roar())]
    character.table = car.table_from(np.array([0, -1, 1], np.int32))
    return character


def files() -> dict[str, bytes]:
    """Every sample file: its name in the folder of assets, its bytes."""
    animal = assemble(dinosaur.build(), dinosaur.BONES, hide.paint())
    plant = assemble(fern.build(), fern.BONES, fern.paint())
    mobile = replace(animal, texels=animal.texels[:0], texture_name=name_field("dinosaur"))
    return {
        "dinosaur.car": car.write(animate(animal)),
        "dinosaur.3df": model_3df.write(animal),
        "dinosaur.3dn": model_3dn.write(mobile),
        "dinosaur.tga": tga.write(texels.expand_keyed(animal.texels)),
        "fern.3df": model_3df.write(plant),
    }
