# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of the sidebar: what an export would write, looked at without writing, and shown in the mesh."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import UserError
from ...io_common.formats.issues import Issue, Severity
from ...io_common.scene import transfer
from ..formats import ani_set, check_skn, checks, msh, skn
from . import extract_ani, extract_msh, extract_skn, groups
from .options import ExportAniOptions, ExportMshOptions, ExportSknOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import bpy

    from ...io_common.formats.digest import Digest
    from .pieces import Piece


@dataclass(frozen=True, eq=False)
class Finding:
    """An issue of the file called `title`; `obj`: the object it is about, None for the model as a whole.

    `vertices` (n,): those of the mesh of `obj` that it is about; none where a modifier made others of them.
    """

    title: str
    issue: Issue
    obj: bpy.types.Object | None = None
    vertices: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


def inspect(context: bpy.types.Context, digest: Digest) -> list[Finding]:
    """Findings about the model, the materials and the clips that the selection would be written as, errors first.

    Raises `UserError` where nothing is selected that could be. `digest` gets what the exports would tell.
    """
    found: list[Finding] = []
    rigs: list[bpy.types.Object] = []
    for group in groups.gather(context, ExportMshOptions()):
        found += _files(context, group.name, group.objects, digest)
        rig = groups.sort(group.objects).rig
        if rig is not None and rig not in rigs and extract_ani.has_clips(rig):
            rigs.append(rig)
            found += _clips(context, group.name, rig, digest)
    return sorted(found, key=lambda finding: finding.issue.severity is not Severity.ERROR)


def _files(context: bpy.types.Context, name: str, objects: list[bpy.types.Object], digest: Digest) -> list[Finding]:
    """Findings about an MSH and the SKN beside it."""
    path = Path(f"{name}.msh")
    made: list[Piece] = []

    def model() -> msh.Msh:
        found, pieces = extract_msh.extract_with_pieces(context, objects, ExportMshOptions(), digest)
        made.extend(pieces)
        return found

    def materials() -> skn.Skn:
        used = [piece.material for piece in made]
        options = ExportSknOptions()
        return extract_skn.skin_of(objects, used, options, digest, path.with_suffix(".skn"), mesh_name=path.name)

    found = _look(path.name, model, checks.check_msh, lambda model: _is_known(objects, msh.write(model)), made)
    if not made:
        return found
    skin = path.with_suffix(".skn").name
    return found + _look(skin, materials, check_skn.check, lambda model: _is_known(objects, skn.write(model)))


def _clips(context: bpy.types.Context, name: str, rig: bpy.types.Object, digest: Digest) -> list[Finding]:
    """Findings about an ANI."""
    path = Path(f"{name}.ani")

    def clips() -> ani_set.AniSet:
        return extract_ani.extract(context, [rig], ExportAniOptions(), digest, path)

    return _look(path.name, clips, ani_set.check, lambda model: _is_known([rig], ani_set.write(model)))


def _is_known(objects: Sequence[bpy.types.Object], data: bytes) -> bool:
    return transfer.is_an_imported_file(objects, data)


def _look(
    title: str,
    make: Callable[[], Any],
    check: Callable[[Any], list[Issue]],
    is_untouched: Callable[[Any], bool],
    pieces: Sequence[Piece] = (),
) -> list[Finding]:
    """Findings about one file; that it cannot be made at all is one, too."""
    try:
        model = make()
        issues = check(model)
        # What came out of a file may go back into it, whatever a game thinks of it.
        if any(issue.severity is Severity.ERROR for issue in issues) and is_untouched(model):
            issues = [replace(issue, severity=Severity.WARNING) for issue in issues]
    except UserError as error:
        return [Finding(title, Issue(Severity.ERROR, "not-writable", str(error).rstrip(".")))]
    return [_placed(title, issue, pieces) for issue in issues]


def _placed(title: str, issue: Issue, pieces: Sequence[Piece]) -> Finding:
    if not 0 <= issue.part < len(pieces):
        return Finding(title, issue)
    piece = pieces[issue.part]
    vertices = np.unique(piece.origin[issue.vertices[issue.vertices < len(piece.origin)]])
    count = len(cast("bpy.types.Mesh", piece.obj.data).vertices) if piece.obj.type == "MESH" else 0
    whole = sum(1 for modifier in piece.obj.modifiers if modifier.show_viewport and modifier.type != "ARMATURE") == 0
    return Finding(title, issue, piece.obj, vertices if whole and vertices.max(initial=-1) < count else vertices[:0])


def select(obj: bpy.types.Object, vertices: npt.NDArray[np.int64]) -> int:
    """Select these vertices of the mesh of `obj`, in Object Mode, and no others; how many of them can be seen."""
    mesh = cast("bpy.types.Mesh", obj.data)
    wanted = np.zeros(len(mesh.vertices), np.bool_)
    wanted[vertices] = True
    hidden = np.zeros(len(wanted), np.bool_)
    mesh.vertices.foreach_get("hide", hidden)
    for elements in (mesh.edges, mesh.polygons):
        elements.foreach_set("select", np.zeros(len(elements), np.bool_))
    mesh.vertices.foreach_set("select", wanted & ~hidden)
    return int((wanted & ~hidden).sum())
