# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of bodies that are known: offsets taken along, animations fitted."""

from __future__ import annotations

import numpy as np
from addon.io_carnivores.formats import motion, offsets, recover

from tests import characters


def test_an_offset_turns_with_its_body() -> None:
    """All other vertices keep their places to the bit."""
    model = characters.tube()
    frames = motion.positions(characters.swing(model, 9, strength=0.6))
    rest = model.vertices["position"]
    offset = np.zeros_like(rest)
    offset[30] = (0, 10, 0)
    moved = offsets.carried(model.vertices["owner"], rest, frames, offset)
    assert np.array_equal(np.delete(moved, 30, axis=1), np.delete(frames, 30, axis=1))
    away = moved[:, 30] - frames[:, 30]
    assert np.allclose(np.linalg.norm(away, axis=1), 10, atol=1e-3)
    assert np.abs(away[0] - (0, 10, 0)).max() < 0.05
    assert np.abs(away[2] - (0, 10, 0)).max() > 3, "the body is turned there"


def test_refit_finds_the_motion_of_known_bodies() -> None:
    """Thin and empty bodies and vertices of none included."""
    model = characters.tube()
    frames = characters.swing(model, 9)
    body = model.vertices["owner"].astype(np.int64)
    body[40] = 4  # a body of a single vertex, on the last one
    body[0] = -1
    parent = np.array([-1, 0, 1, 2, 3, 4])
    clip = recover.refit(body, parent, model.vertices["position"], frames)
    assert clip.rotation.shape == (9, 6, 3, 3)
    carried = np.einsum("nvij,vj->nvi", clip.rotation[:, body], model.vertices["position"]) + clip.translation[:, body]
    assert np.abs(carried - frames / 16)[:, 1:].max() < 0.15
    assert np.allclose(clip.rotation[:, 5], clip.rotation[:, 4])
