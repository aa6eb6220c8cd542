# SPDX-License-Identifier: GPL-3.0-or-later
"""The model that the tests of the command line work with."""

from __future__ import annotations

import numpy as np
from addon.io_carnivores.formats import model as records


def make_model(flags: int = 0x0005, rows: int = 256) -> records.Model:
    """Two quads' worth of triangles: plain ones, and ones with `flags`; two bones; a picture with a hole in it."""
    vertices = np.zeros(8, records.VERTEX)
    square = np.array([(0, 0, 0), (32, 0, 0), (32, 64, 0), (0, 64, 0)], np.float32)
    vertices["position"] = np.concatenate((square, square + np.float32([0, 0, 16])))
    vertices["owner"][4:] = 1
    faces = np.zeros(4, records.FACE)
    faces["corner"] = [(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)]
    faces["u"] = [(0, 255, 255), (0, 255, 0)] * 2
    faces["v"] = [(255, 255, 0), (255, 0, 0)] * 2
    faces["flags"][2:] = flags
    faces["group"] = [0, 1, 2, 3]
    bones = np.zeros(2, records.BONE)
    bones["name"] = [np.void(records.name_field(name)) for name in ("Body", "Tail")]
    bones["position"][1] = (0, 64, 16)
    bones["parent"] = (-1, 0)
    texels = (np.arange(rows * 256, dtype=np.uint16) % 0x7FFF + 1).astype("<u2").reshape(rows, 256)
    texels[:32, :32] = 0
    return records.Model(faces, vertices, bones, texels)
