# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that lie beside a model: the ANI that says which bone hangs on which."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats import places
from ...io_common.formats.errors import FormatError, UserError
from . import ani, hierarchy, keys
from .msh import Msh

if TYPE_CHECKING:
    from ...io_common.formats.digest import Digest
    from ...io_common.formats.places import Place
    from .hierarchy import Hierarchy
    from .keys import Record

_EVEN = 1e-4


@dataclass(eq=False)
class SkeletalMsh(Msh):
    """An MSH, with the bones of an ANI: their names, the `skeleton` they make, the name of that file.

    `skeleton` is None where no ANI was found. `scaled`: bones that the ANI scales unevenly.
    """

    skeleton: Hierarchy | None = None
    skeleton_names: tuple[str, ...] = ()
    skeleton_file: str = ""
    scaled: frozenset[str] = frozenset()

    def hierarchy_for(self, bone_names: list[str], heads: Any) -> Hierarchy:
        """Which bone hangs on which: by the ANI where there is one, else a guess from names and `heads` (b, 3)."""
        if self.skeleton is None:
            return hierarchy.inferred(bone_names, heads)
        return hierarchy.matched(bone_names, self.skeleton, list(self.skeleton_names))


def with_hierarchy(found: Msh, path: Path, options: Any, digest: Digest) -> SkeletalMsh:
    """`found` with the hierarchy of the ANI that `options.hierarchy_from` names, else of the one of the same name.

    A chosen file that cannot be read raises `UserError`; one that only lies there is passed over with a note.
    """
    model = SkeletalMsh(**{entry.name: getattr(found, entry.name) for entry in fields(Msh)})
    if not len(model.bones):
        return model
    chosen = str(getattr(options, "hierarchy_from", ""))
    place = places.of(options)
    source = path.parent / Path(chosen).expanduser() if chosen else beside(path, ".ani", place)
    if source is None:
        return model
    try:
        animation = read_skeleton(source, place)
    except UserError as error:
        error.at(source)
        if chosen:
            raise
        digest.add(
            f"the hierarchy of the bones was guessed, as a file beside the model is of no use: {str(error)[:-1]}"
        )
        return model
    model.skeleton = hierarchy.from_ani(animation)
    model.skeleton_names = tuple(animation.bone_names)
    model.skeleton_file = source.name
    model.scaled = frozenset(
        name for name, rows in zip(model.skeleton_names, animation.records, strict=True) if _uneven(rows)
    )
    for note in model.skeleton.notes:
        digest.add(note, subject=source.name)
    return model


def beside(path: Path, suffix: str, place: Place) -> Path | None:
    """The file of the same name with another extension beside `path`, whatever the case; None without one."""
    return place.beside(path, [path.stem + suffix])[0]


def read_skeleton(path: Path, place: Place, depth: int = 0) -> ani.Ani:
    """The ANI at `path`; of a text list the first file that it names."""
    found = ani.read(place.read(path))
    if isinstance(found, ani.Ani):
        return found
    if not found.files or depth:
        raise FormatError("the list names no ANI file", expected="the name of one")
    name = found.files[0]
    target = place.beside(path, [name.replace("\\", "/").rpartition("/")[2]])[0]
    if target is None:
        raise FormatError(f'the list names "{name}", which does not lie beside it', expected="that file")
    return read_skeleton(target, place, depth + 1)


def _uneven(records: list[Record]) -> bool:
    """Whether a bone is anywhere scaled more along one of its axes than along another."""
    for record in records:
        base = np.asarray(record.base["scale"], np.float64).reshape(-1, 3)
        sizes = np.concatenate((base, keys.values(record.scales).astype(np.float64))) if len(record.scales) else base
        if np.ptp(sizes, axis=1).max() > _EVEN:
            return True
    return False
