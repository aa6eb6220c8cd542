# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion given from one mesh to another: exact where they share vertices, rigid in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from addon.io_carnivores.formats import carry, motion, rigid
from addon.io_carnivores.formats.rigid import Bodies

from tests import characters

if TYPE_CHECKING:
    from addon.io_carnivores.formats.carry import Attachment

MODEL = characters.tube()
REST = MODEL.vertices["position"].astype(np.float64)
OWNER = MODEL.vertices["owner"]
CORNERS = MODEL.faces["corner"].astype(np.int64)


def halfway() -> Attachment:
    """All old vertices, backwards, and behind them the middles of all faces."""
    return carry.attach(np.concatenate([REST[::-1], REST[CORNERS].mean(axis=1)]), REST, CORNERS, OWNER, 0.02)


def test_vertices_find_themselves() -> None:
    """Whatever their order; the others speak for the body that most of their corners belong to."""
    held = halfway()
    assert held.same[: len(REST)].tolist() == list(range(len(REST)))[::-1]
    assert (held.same[len(REST) :] == -1).all()
    most = [np.bincount(three).argmax() for three in OWNER[CORNERS]]
    assert OWNER[held.donor[len(REST) :]].tolist() == most


def test_bodies_carry_what_is_new_on_them() -> None:
    """Old vertices to the bit, new ones as the turn of their body has it."""
    old = motion.positions(characters.swing(MODEL, 300))
    held = halfway()
    found = carry.frames(OWNER, REST, old, held)
    assert np.array_equal(found[:, : len(REST)], old[:, ::-1])
    bodies = Bodies.of(OWNER, 4)
    points = np.ascontiguousarray(old[:, bodies.order].transpose(1, 2, 0))
    moved = rigid.fit(bodies, REST[bodies.order], points, np.ones(len(REST)))
    mine = OWNER[held.donor[held.new]]
    wanted = np.einsum("npij,pj->npi", moved.rotation[:, mine], held.points[held.new]) + moved.translation[:, mine]
    assert np.abs(found[:, held.new] - wanted).max() < 1e-3


def test_blended_vertices_lie_between() -> None:
    """Halfway between two bodies means halfway between their motions."""
    old = motion.positions(characters.swing(MODEL, 5))
    held = halfway()
    hard, soft = (carry.frames(OWNER, REST, old, held, blend=blend) for blend in (False, True))
    mixed = np.array([len(set(three)) > 1 for three in OWNER[CORNERS]])
    away = np.abs(hard - soft).max(axis=(0, 2))[len(REST) :]
    assert away[mixed].max() > 0.1
    assert away[~mixed].max() < 1e-3


def test_without_bodies_triangles_carry() -> None:
    """A vertex out on the normal stays out on it, whatever the triangle does."""
    soft = characters.wander(MODEL, 6)
    old = motion.positions(soft)
    three = REST[CORNERS[4]]
    normal = np.cross(three[1] - three[0], three[2] - three[0])
    normal /= np.linalg.norm(normal)
    held = carry.attach((three.mean(axis=0) + 2 * normal)[None], REST, CORNERS, OWNER, 0.02)
    (found,) = carry.frames(OWNER, REST, old, held).transpose(1, 0, 2)
    now = old[:, CORNERS[4]]
    across = np.cross(now[:, 1] - now[:, 0], now[:, 2] - now[:, 0])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    assert np.abs(found - (now.mean(axis=1) + 2 * across)).max() < 1e-3


def test_from_one_shape_to_another() -> None:
    """Points placed over a posed shape come back to rest with their bodies."""
    posed = motion.positions(characters.swing(MODEL, 9))[2]
    middles = posed[CORNERS].mean(axis=1)
    held = carry.attach(np.concatenate([posed, middles]), posed, CORNERS, OWNER, 0.02)
    found = carry.reshaped(OWNER, posed, REST, held)
    assert np.array_equal(found[: len(REST)], REST)
    whole = np.array([len(set(three)) == 1 for three in OWNER[CORNERS]])
    assert np.abs(found[len(REST) :] - REST[CORNERS].mean(axis=1))[whole].max() < 0.1


def test_nothing_moves_nothing() -> None:
    """An animation without frames stays one."""
    assert carry.frames(OWNER, REST, np.zeros((0, len(REST), 3), np.float32), halfway()).shape[0] == 0
