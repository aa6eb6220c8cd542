# SPDX-License-Identifier: GPL-3.0-or-later
"""What the game, or a file, would trip over, looked for before it is written.

The limits are those of the game's own exporter and shaders as far as they are known: 50 bones and 65 535 vertices a
sub-mesh, names of 255 bytes in CP949.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.issues import Issue, Severity
from . import blocks, collision, dummy, hierarchy, names, submesh, triangles

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from .msh import Msh
    from .submesh import Submesh

MOST_BONES = 50  # names of one sub-mesh: constants of a shader
MOST_VERTICES = 65535
MOST_UV_SETS = submesh.MOST_UV_SETS
_SUM = 1e-3  # how far from one the weights of a vertex may add up
_UNIT = 1e-2  # how far from one a normal may be long


def error(code: str, message: str, **where: npt.NDArray[np.bool_]) -> Issue:
    """An issue that stops an export; `faces` and `vertices` are masks."""
    return _issue(Severity.ERROR, code, message, where)


def warning(code: str, message: str, **where: npt.NDArray[np.bool_]) -> Issue:
    """An issue that is only listed."""
    return _issue(Severity.WARNING, code, message, where)


def _issue(severity: Severity, code: str, message: str, where: dict[str, npt.NDArray[np.bool_]]) -> Issue:
    found = {name: np.flatnonzero(mask) for name, mask in where.items()}
    nothing = np.zeros(0, np.intp)
    return Issue(severity, code, message, found.get("faces", nothing), found.get("vertices", nothing))


def count(number: int | np.integer[Any], one: str, many: str = "") -> str:
    """A number with its noun: "1 face", "2 faces"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def sorted_issues(found: list[Issue]) -> list[Issue]:
    """Errors first, otherwise in the order they were found."""
    return sorted(found, key=lambda issue: issue.severity is not Severity.ERROR)


def check_msh(model: Msh, _game: str = "") -> list[Issue]:
    """Issues of an MSH; errors first. `vertices` and `faces` count within the sub-mesh that the message names.

    Messages are clauses without a full stop. Raises nothing for any model that can be read.
    """
    found = list(_whole(model))
    table = set(map(names.key, model.bone_names))
    for number, part in enumerate(model.submeshes):
        who = f'sub-mesh {number} "{part.label}"'
        own = [issue for rule in (_sizes, _geometry, _normals) for issue in rule(part, who)]
        own.extend(_skin(part, who, table))
        if part.skin is None and not names.is_root(part.parent) and names.key(part.parent) not in table:
            own.append(
                warning(
                    "missing-parent-bone", f'{who} hangs on "{names.text(part.parent)}", which is no bone of the model'
                )
            )
        found.extend(replace(issue, part=number) for issue in own)
    found.extend(_dummies(model))
    return sorted_issues(found)


def _whole(model: Msh) -> Iterator[Issue]:
    if not any(len(part.positions) for part in model.submeshes):
        yield error("empty", "the model has no vertices, so there is nothing to load")
    bone_names = model.bone_names
    repeated = hierarchy.duplicates(bone_names)
    if repeated:
        yield error(
            "duplicate-bones",
            f"{count(len(repeated), 'bone')} of the model {'has' if len(repeated) == 1 else 'have'} the name of "
            f'another ("{bone_names[repeated[0]]}"); the game finds bones by name, whatever the case, so rename them',
        )
    fields = [bytes(raw) for raw in model.bones["name"].tolist()]
    fields += [raw for part in model.submeshes for raw in (part.parent, part.name)]
    fields += [
        (b"L" if entry.parent and model.version < dummy.MATRIX_FROM else b"") + entry.name for entry in model.dummies
    ]
    endless = sum(len(raw) >= names.FIELD and b"\0" not in raw[: names.FIELD] for raw in fields)
    if endless:
        yield warning(
            "name-without-end", f"{count(endless, 'name')} fill the whole field, without the NUL that ends them"
        )
    labels = [names.key(part.name) for part in model.submeshes]
    if len(set(labels)) < len(labels):
        yield warning("duplicate-sub-meshes", "several sub-meshes have the same name")
    if model.trailing:
        yield warning("trailing-bytes", f"{count(len(model.trailing), 'byte')} stand behind the end of the model")


def _sizes(part: Submesh, who: str) -> Iterator[Issue]:
    vertices = len(part.positions)
    if vertices > MOST_VERTICES:
        yield error(
            "too-many-vertices",
            f"{who} has {vertices} vertices, but indices of 16 bits reach {MOST_VERTICES}; split it",
            vertices=np.arange(vertices) >= MOST_VERTICES,
        )
    if not 1 <= len(part.uvs) <= MOST_UV_SETS:
        yield error("uv-sets", f"{who} has {count(len(part.uvs), 'UV set')}, but it needs 1 to {MOST_UV_SETS}")
    if not len(part.indices):
        yield warning("no-faces", f"{who} has no faces")
    elif not part.is_strip and len(part.indices) % 3:
        yield warning("incomplete-triangle", f"the last triangle of {who} has fewer than three corners and is ignored")


def _geometry(part: Submesh, who: str) -> Iterator[Issue]:
    if not part.is_strip:
        shown = triangles.of(part)
        if shown.degenerate:
            yield warning(
                "degenerate-faces",
                f"{count(shown.degenerate, 'face')} of {who} {'uses' if shown.degenerate == 1 else 'use'} a vertex "
                "twice and cannot be seen",
            )
    if len(part.indices):
        used = np.zeros(max(len(part.positions), int(part.indices.max()) + 1), bool)
        used[part.indices] = True
        loose = ~used[: len(part.positions)]
        if loose.any():
            yield warning(
                "unused-vertices",
                f"{count(loose.sum(), 'vertex', 'vertices')} of {who} belong to no face",
                vertices=loose,
            )
    broken = np.zeros(len(part.positions), bool)
    for uv in part.uvs:
        broken |= ~np.isfinite(uv).all(axis=1)
    if broken.any():
        yield error(
            "uv-no-number",
            f"the UVs of {count(broken.sum(), 'vertex', 'vertices')} of {who} are no numbers",
            vertices=broken,
        )


def _normals(part: Submesh, who: str) -> Iterator[Issue]:
    wide = blocks.wide(part.normals)
    length = np.sqrt(np.einsum("ij,ij->i", wide, wide)) if np.isfinite(wide).all() else _lengths(wide)
    odd = ~(np.abs(length - 1.0) < _UNIT)
    if odd.any():
        yield warning(
            "normals-not-unit",
            f"the normals of {count(odd.sum(), 'vertex', 'vertices')} of {who} are not of length one",
            vertices=odd,
        )


def _lengths(normals: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    good = np.isfinite(normals).all(axis=1)
    out = np.zeros(len(normals))
    out[good] = np.sqrt(np.square(normals[good]).sum(axis=1))
    return out


def _skin(part: Submesh, who: str, table: set[str]) -> Iterator[Issue]:
    if part.skin is None:
        return
    labels = names.texts(part.skin.names)
    if len(labels) > MOST_BONES:
        yield error(
            "too-many-bones",
            f"{who} is moved by {len(labels)} bones, but the game holds {MOST_BONES} for one sub-mesh; split it, "
            'or turn on "Split Large Meshes"',
        )
    unknown = [label for label in labels if names.key(label) not in table]
    if unknown:
        yield error(
            "unknown-bone",
            f'{who} is moved by "{unknown[0]}"'
            + (f" and {count(len(unknown) - 1, 'other')}" if len(unknown) > 1 else "")
            + ", which the bone table of the model lacks",
        )
    _slots, weights, _lost = submesh.influences(part)
    stored = part.skin.weights
    lost = ((weights == 0) & ~(stored == 0)).any(axis=1)
    if lost.any():
        yield error(
            "weight-without-bone",
            f"{count(lost.sum(), 'vertex', 'vertices')} of {who} {'has' if lost.sum() == 1 else 'have'} a weight "
            "that is no positive number or belongs to no bone of the sub-mesh",
            vertices=lost,
        )
    total = weights.sum(axis=1)
    free = (total == 0) & ~lost
    if free.any():
        yield warning(
            "no-weight",
            f"{count(free.sum(), 'vertex', 'vertices')} of {who} {'follows' if free.sum() == 1 else 'follow'} no bone "
            "at all",
            vertices=free,
        )
    uneven = (np.abs(total - 1.0) > _SUM) & ~free & ~lost
    if uneven.any():
        yield warning(
            "weights-not-one",
            f"the weights of {count(uneven.sum(), 'vertex', 'vertices')} of {who} do not add up to one",
            vertices=uneven,
        )


def _dummies(model: Msh) -> Iterator[Issue]:
    for entry in model.dummies:
        trouble = dummy.unwritable(entry, model.version)
        if trouble:
            yield error("dummy-name", trouble)
    lost = lost_turns(model, model.version)
    if lost:
        yield warning("dummy-rotation", lost)


def lost_turns(model: Msh, version: int) -> str:
    """What an MSH of `version` does not hold of the dummies, as a clause; empty where it holds all."""
    turned = 0
    for entry in model.dummies:
        place = np.array(entry.matrix, np.float64)
        place[3, :3] = 0.0
        turned += not np.allclose(place, np.eye(4), atol=1e-5)
    if not turned or version >= dummy.MATRIX_FROM:
        return ""
    return (
        f"{count(turned, 'dummy', 'dummies')} {'is' if turned == 1 else 'are'} turned or scaled, which MSH {version} "
        "cannot hold; only the place is written (MSH 13 holds all)"
    )


def lost_parents(model: Msh, version: int) -> str:
    """What an MSH of `version` does not hold of the collisions, as a clause; empty where it holds all."""
    hung = sum(not names.is_root(entry.parent) for entry in model.collisions)
    if not hung or version >= collision.NAMED_FROM:
        return ""
    return (
        f"{count(hung, 'collision')} {'hangs' if hung == 1 else 'hang'} on a bone, which MSH {version} cannot hold; "
        f"MSH {collision.NAMED_FROM} and newer do"
    )
