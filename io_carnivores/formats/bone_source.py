# SPDX-License-Identifier: GPL-3.0-or-later
"""A bone table for a creature out of a model file of the same creature.

In files that were made together the owner numbers of the CAR are the bone numbers of the 3DF. Where they are not, bones
are found by the places of the vertices that hang on them, and then give names only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats import files, registry
from ...io_common.formats.errors import FormatError, UserError
from . import bone_match, model_3df, model_3dn
from .bone_match import Skeleton
from .model import BONE, bone_names

if TYPE_CHECKING:
    from pathlib import Path

    from .model import Model
    from .rigid import Doubles

_SUFFIXES = (".3df", ".3dn")
_NEAR = 0.1  # of the size: owners this near to each other are the same
_SURE = 0.9  # share of the vertices whose owner is the same, beyond which nothing else is tried
_ENOUGH = 0.6  # share that must be
# Share of the vertices that both models have on the same bones, found by place: the same creature with other numbers
# has 0.98, two different ones of the original game have 0.52 at most.
_COMMON = 0.7


def read(path: Path) -> Model:
    """A 3DF or 3DN with bones. Raises `UserError` for any other file."""
    data = files.read_file(path)
    head, size = data[: registry.HEAD], len(data)
    if path.suffix.lower() not in _SUFFIXES and not (model_3df.sniff(head, size) or model_3dn.sniff(head, size)):
        raise FormatError("this is another kind of file", expected="a 3DF or 3DN model with bones", path=path)
    try:
        if model_3dn.sniff(head, size) and not model_3df.sniff(head, size):
            found = model_3dn.read(data)
        else:
            found = model_3df.read(data)
    except UserError as error:
        raise error.at(path) from error
    if not len(found.bones):
        raise UserError("this model has no bones to take names from", path=path)
    return found


def table(source: Model, vertices: npt.NDArray[Any], path: Path) -> npt.NDArray[Any]:
    """A bone table (B,) of `model.BONE` whose numbers are the owners of `vertices` (V,) VERTEX; for `recover.Options`.

    Bones it does not know have no name and a position that is no number. Raises `UserError`, about `path`, when the
    model is of another creature.
    """
    owner = vertices["owner"].astype(np.int64)
    used = np.unique(owner[owner >= 0])
    size = float(np.linalg.norm(np.ptp(vertices["position"].astype(np.float64), axis=0))) if len(vertices) else 0.0
    if len(used) and int(used.max()) < len(source.bones) and size > 0:
        near, alike = _agreement(source, vertices, used, size)
    else:
        near = alike = 0.0
    if max(near, alike) < _SURE:
        found, common = _by_place(source, vertices, used)
        if common >= _COMMON:
            return found
        if max(near, alike) < _ENOUGH:
            raise UserError(
                "the bones of this model are not those of the creature: no more than "
                f"{100 * max(near, alike, common):.0f} % of the vertices are on bones that both have",
                path=path,
            )
    # The same model in another pose has as many vertices on each bone.
    return source.bones if near >= _ENOUGH else _names_only(source.bones)


def _agreement(
    source: Model, vertices: npt.NDArray[Any], used: npt.NDArray[np.int64], size: float
) -> tuple[float, float]:
    """Shares of the vertices whose owner is in the same place in `source`, and has as many vertices there."""
    mine, counts = _centres(vertices, used)
    other, others = _centres(source.vertices, used)
    near = np.linalg.norm(mine - other, axis=1) <= _NEAR * size
    return float(counts[near & (others > 0)].sum() / counts.sum()), float(counts[counts == others].sum() / counts.sum())


def _centres(vertices: npt.NDArray[Any], numbers: npt.NDArray[np.int64]) -> tuple[Doubles, npt.NDArray[np.int64]]:
    """The middle of each owner's vertices (n, 3), and how many there are (n,)."""
    owner = vertices["owner"].astype(np.int64)
    place = np.searchsorted(numbers, owner)
    known = (place < len(numbers)) & (numbers[np.minimum(place, max(len(numbers) - 1, 0))] == owner)
    count = np.bincount(place[known], minlength=len(numbers))
    points = vertices["position"].astype(np.float64)
    sums = [np.bincount(place[known], points[known, axis], len(numbers)) for axis in range(3)]
    return np.stack(sums, axis=1) / np.maximum(count, 1)[:, None], count


def _names_only(bones: npt.NDArray[Any]) -> npt.NDArray[Any]:
    found = bones.copy()
    found["position"] = np.nan
    return found


def _by_place(source: Model, vertices: npt.NDArray[Any], used: npt.NDArray[np.int64]) -> tuple[npt.NDArray[Any], float]:
    """The table by the places of owners, and the share of the vertices that both models have on the same bones."""
    theirs = np.unique(source.vertices["owner"].astype(np.int64))
    theirs = theirs[(theirs >= 0) & (theirs < len(source.bones))]
    mine, counts = _centres(vertices, used)
    other, others = _centres(source.vertices, theirs)
    titles = bone_names(source.bones)
    match = bone_match.match(
        Skeleton([""] * len(used), mine, mine),
        Skeleton([titles[number] for number in theirs.tolist()], other, other),
        by_name=False,
    )
    on = match.source >= 0
    found = np.zeros(int(used.max(initial=-1)) + 1, BONE)
    found["position"], found["parent"] = np.nan, -1
    found["name"][used[on]] = source.bones["name"][theirs[match.source[on]]]
    shares = counts[on] / max(counts.sum(), 1), others[match.source[on]] / max(others.sum(), 1)
    return found, float(np.minimum(*shares).sum())
