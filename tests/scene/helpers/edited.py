# SPDX-License-Identifier: GPL-3.0-or-later
"""One imported model, to be edited and exported."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from addon.io_carnivores.formats import model_3df
from addon.io_carnivores.formats.model import Model

from . import scene


class Case:
    """One imported model, to be edited and exported."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.model = model
        self.folder = folder
        self.data, self.obj = scene.bring_model(folder / "beast.3df", model)
        self.rig = self.obj.parent

    def out(self, **options: Any) -> bytes:
        return scene.export(self.folder / "out.3df", self.obj, **options)

    def result(self, **options: Any) -> Model:
        read: Model = model_3df.read(self.out(**options))
        return read

    def changes(self, **options: Any) -> dict[str, list[int]]:
        return scene.changes(self.data, self.out(**options))


def triangles(model: Model) -> Counter[tuple[Any, ...]]:
    """The faces as a bag: what each shows and where, whatever the numbers of its vertices and its place."""
    found: Counter[tuple[Any, ...]] = Counter()
    for face in model.faces:
        corners = [
            (*model.vertices["position"][face["corner"][slot]].tolist(), int(face["u"][slot]), int(face["v"][slot]))
            for slot in range(3)
        ]
        found[(*corners, int(face["flags"]), int(face["group"]), int(face["distant"]))] += 1
    return found
