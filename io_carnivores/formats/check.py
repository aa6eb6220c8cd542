# SPDX-License-Identifier: GPL-3.0-or-later
"""What a game would trip over in a static model, looked for before it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...io_common.formats.issues import Issue, Severity
from .flags import FaceFlag
from .limits import LIMITS, ROWS, Limits
from .model import ROW_BYTES
from .texels import OPAQUE_FROM, key_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from .model import Model

    Mask = npt.NDArray[np.bool_]

PC_KINDS = ("3df", "car")

_KNOWN_FLAGS = int(np.bitwise_or.reduce([int(flag) for flag in FaceFlag]))
_RUN_TIME_FLAGS = int(FaceFlag.NEED_VC | FaceFlag.DARK)
_WEAPON_FLAGS = int(FaceFlag.PHONG | FaceFlag.ENV_MAP)
_INT16 = (-0x8000, 0x7FFF)


@dataclass(frozen=True)
class _Subject:
    """One model as it is checked. `flags` (F,) i64."""

    model: Model
    kind: str
    limits: Limits
    flags: npt.NDArray[np.int64]

    @property
    def name(self) -> str:
        return self.limits.label

    @property
    def pc(self) -> bool:
        """Whether it goes into a file of the PC games, with its texture inside."""
        return self.kind in PC_KINDS


def check(model: Model, game: str, kind: str) -> list[Issue]:
    """Issues of `model` (to be written as `kind`, "3df", "car" or "3dn") for `game`, a key of `LIMITS`; errors first.

    Messages are clauses without a full stop. Raises nothing for any model that can be read.
    """
    subject = _Subject(model, kind, LIMITS[game], model.faces["flags"].astype(np.int64))
    found = [issue for rule in _RULES for issue in rule(subject)]
    return sorted(found, key=lambda issue: issue.severity is not Severity.ERROR)


def _error(code: str, message: str, *, faces: Mask | None = None, vertices: Mask | None = None) -> Issue:
    return _issue(Severity.ERROR, code, message, faces, vertices)


def _warning(code: str, message: str, *, faces: Mask | None = None, vertices: Mask | None = None) -> Issue:
    return _issue(Severity.WARNING, code, message, faces, vertices)


def _issue(severity: Severity, code: str, message: str, faces: Mask | None, vertices: Mask | None) -> Issue:
    none = np.zeros(0, np.intp)
    return Issue(
        severity,
        code,
        message,
        none if faces is None else np.flatnonzero(faces),
        none if vertices is None else np.flatnonzero(vertices),
    )


def _count(number: int | np.integer[Any], one: str, many: str = "") -> str:
    """A number with its noun: "1 face", "2 faces"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _verb(number: int | np.integer[Any], one: str, many: str) -> str:
    return one if number == 1 else many


def _empty(subject: _Subject) -> Iterator[Issue]:
    if not len(subject.model.vertices):
        yield _error("empty", "the model has no vertices, so there is nothing to load")
    elif not len(subject.model.faces):
        yield _error("empty", "the model has no faces, so there is nothing to draw; a game model needs at least one")


def _sizes(subject: _Subject) -> Iterator[Issue]:
    model, limits = subject.model, subject.limits
    for noun, many, table, most, advised in (
        ("vertex", "vertices", model.vertices, limits.vertices, limits.advised_vertices),
        ("face", "faces", model.faces, limits.faces, limits.advised_faces),
        ("bone", "bones", model.bones, limits.bones, None),
    ):
        number = len(table)
        counted = " (triangles)" if many == "faces" else ""
        if most is not None and number > most:
            yield _error(
                f"too-many-{many}",
                f"the model has {number} {many}{counted}, but {subject.name} holds no more than {most}; "
                f"remove {number - most} of them",
                **_behind(many, number, most),
            )
        elif advised is not None and number > advised:
            yield _warning(
                f"many-{many}",
                f"the model has {_count(number, noun, many)}{counted}, more than the {advised} that {limits.measure}",
                **_behind(many, number, advised),
            )


def _behind(many: str, number: int, most: int) -> dict[str, Mask]:
    """What stands behind the limit in the file, to be selected."""
    return {} if many == "bones" else {many: np.arange(number) >= most}


def _indices(subject: _Subject) -> Iterator[Issue]:
    faces, count = subject.model.faces, len(subject.model.vertices)
    bad = cast("Mask", (faces["corner"] >= count).any(axis=1))
    if bad.any():
        number = int(bad.sum())
        yield _error(
            "missing-vertex",
            f"{_count(number, 'face')} {_verb(number, 'uses', 'use')} a vertex that does not exist "
            f"(there are {count}); delete {_verb(number, 'it', 'them')}",
            faces=bad,
        )


def _texture_size(subject: _Subject) -> Iterator[Issue]:
    if not subject.pc:
        return
    model, most = subject.model, subject.limits.texture
    if model.texture_missing:
        yield _warning(
            "texture-cut-off",
            f"the file promises a texture of {model.texture_missing} bytes and ends before it; "
            "give the model a texture",
        )
    elif not model.texture_bytes:
        yield _warning(
            "no-texture", f"the model has no texture, which {subject.name} draws it with; add a material with a picture"
        )
    elif model.texture_rest:
        yield _warning(
            "texture-part-row",
            f"the texture ends in the middle of a row ({model.texture_bytes} bytes, a row has {ROW_BYTES}); "
            "the games ignore the rest",
        )
    if most is not None and model.texture_bytes > most:
        yield _error(
            "texture-too-large",
            f"the texture has {model.texture_bytes} bytes, but {subject.name} holds no more than {most}: "
            f"{ROWS} rows of 256 texels",
        )


def _rows_below(subject: _Subject) -> Iterator[Issue]:
    """UV rows that the texture does not hold. Fewer than 256 rows are normal as long as nothing points below."""
    model = subject.model
    rows = len(model.texels)
    if subject.limits.extension != "3df" or not 0 < rows < ROWS:
        return
    v = model.faces["v"].astype(np.int64)
    # A face ends at the lower edge of its last row: row numbers count 1..256 there, and 0..255 at its upper edge.
    lower = np.where(v > 0, (v - 1) % ROWS + 1, v % ROWS)
    bad = (lower > rows).any(axis=1) & ~_far(model)
    if bad.any():
        number = int(bad.sum())
        yield _warning(
            "uv-below-texture",
            f"{_count(number, 'face')} {_verb(number, 'reaches', 'reach')} below the {rows} rows the texture has, "
            "where the games show garbage; move the UVs up or make the picture 256 pixels high",
            faces=bad,
        )


def _far(model: Model) -> Mask:
    """(F,) whether some UV lies more than a whole texture outside."""
    u, v = model.faces["u"], model.faces["v"]
    return cast("Mask", ((u < -ROWS) | (u > 2 * ROWS) | (v < -ROWS) | (v > 2 * ROWS)).any(axis=1))


def _uv(subject: _Subject) -> Iterator[Issue]:
    faces = subject.model.faces
    broken = np.zeros(len(faces), np.bool_)
    if subject.kind == "3dn":
        low, high = _INT16
        for name in ("u", "v"):
            broken |= ((faces[name] < low) | (faces[name] > high)).any(axis=1)
        if broken.any():
            yield _error(
                "uv-out-of-range",
                f"the UVs of {_count(broken.sum(), 'face')} lie further outside the texture than the 16 bits of a 3DN "
                "can say; move them back",
                faces=broken,
            )
    far = _far(subject.model) & ~broken
    if far.any():
        yield _warning(
            "uv-far-outside",
            f"the UVs of {_count(far.sum(), 'face')} lie more than a whole texture outside of it; move them back",
            faces=far,
        )


def _sort_quirk(subject: _Subject) -> Iterator[Issue]:
    """Faces with 0x04 and 0x08 are sorted in twice while the count stays, so that the last 0x08 faces fall off."""
    if not subject.limits.sorts:
        return
    opacity = (subject.flags & FaceFlag.OPACITY) != 0
    glass = (subject.flags & FaceFlag.TRANSPARENT) != 0
    both, plain = opacity & glass, glass & ~opacity
    if both.any() and plain.any():
        number = int(both.sum())
        yield _warning(
            "sort-quirk",
            f"{_count(number, 'face')} {_verb(number, 'is', 'are')} Opacity and Transparent at once beside "
            f"{_count(plain.sum(), 'face')} that {_verb(plain.sum(), 'is', 'are')} only Transparent; {subject.name} "
            f"then does not draw the last {_count(number, 'transparent face')}, so take one of the two flags away",
            faces=both,
        )


def _opacity(subject: _Subject) -> Iterator[Issue]:
    model = subject.model
    cut = (subject.flags & FaceFlag.OPACITY) != 0
    if not cut.any():
        return
    if len(model.texels):
        holes = bool(key_mask(model.texels).any())
    elif model.texture is not None and model.texture.picture is not None:
        holes = bool((model.texture.picture[..., 3] < OPAQUE_FROM).any())
    else:
        return
    if not holes:
        number = int(cut.sum())
        yield _warning(
            "opacity-without-key",
            f"{_count(number, 'face')} {_verb(number, 'has', 'have')} the flag Opacity, but the texture has no "
            "transparent (black) texel, so nothing is cut out; erase the holes in the picture or clear the flag",
            faces=cut,
        )


def _mortal(subject: _Subject) -> Iterator[Issue]:
    """The highlight passes are tested with masks that hold the mortal bit too (0x30, 0x50)."""
    if not subject.limits.sorts or not (subject.flags & _WEAPON_FLAGS).any():
        return
    mortal = (subject.flags & FaceFlag.MORTAL) != 0
    if mortal.any():
        number = int(mortal.sum())
        yield _warning(
            "mortal-weapon",
            f"{_count(number, 'face')} of this weapon {_verb(number, 'has', 'have')} the flag Mortal, which "
            f"{subject.name} draws with Phong and Env Map; clear it, it means something on characters only",
            faces=mortal,
        )


def _odd_flags(subject: _Subject) -> Iterator[Issue]:
    run_time = (subject.flags & _RUN_TIME_FLAGS) != 0
    if run_time.any():
        number = int(run_time.sum())
        yield _warning(
            "run-time-flags",
            f"{_count(number, 'face')} {_verb(number, 'has', 'have')} the flag Need VC or Dark, which the games set "
            "themselves; clear it",
            faces=run_time,
        )
    unknown = (subject.flags & ~_KNOWN_FLAGS) != 0
    if unknown.any():
        number = int(unknown.sum())
        bits = int(np.bitwise_or.reduce(subject.flags[unknown])) & ~_KNOWN_FLAGS
        yield _warning(
            "unknown-flags",
            f"{_count(number, 'face')} {_verb(number, 'has', 'have')} flag bits that no game knows (0x{bits:04X})",
            faces=unknown,
        )


def _bones(subject: _Subject) -> Iterator[Issue]:
    bones, owner = subject.model.bones, subject.model.vertices["owner"]
    count = len(bones)
    if not count:
        # Characters and weapons of the mobile game have none.
        if subject.kind == "3df":
            yield _warning(
                "no-bone", "the model has no bone, which every 3DF of the games has; add an armature of one bone"
            )
        return
    # In a 3DN, owner -1 stands for none.
    bad = (owner >= count) | (owner < (-1 if subject.kind == "3dn" else 0))
    if bad.any():
        number = int(bad.sum())
        yield _warning(
            "missing-owner",
            f"{_count(number, 'vertex', 'vertices')} {_verb(number, 'belongs', 'belong')} to a bone that does not "
            f"exist (there {_verb(count, 'is', 'are')} {count}); "
            f"put {_verb(number, 'it', 'them')} into a bone's vertex group",
            vertices=bad,
        )
    parent = bones["parent"].astype(np.int64)
    lost = (parent < -1) | (parent >= count)
    if lost.any():
        number = int(lost.sum())
        yield _warning(
            "missing-parent",
            f"{_count(number, 'bone')} {_verb(number, 'has', 'have')} a parent that does not exist; give a parent anew",
        )
    late = (parent >= np.arange(count)) & ~lost
    if late.any():
        number = int(late.sum())
        yield _warning(
            "parent-order",
            f"{_count(number, 'bone')} {_verb(number, 'stands', 'stand')} before the parent in the bone table, where "
            "no tool of the games puts it",
        )


def _wrong_kind(subject: _Subject) -> Iterator[Issue]:
    wanted = subject.limits.extension
    if subject.kind == "car":
        wanted = "car" if wanted == "3df" else "cat"
    if subject.kind != wanted:
        yield _warning(
            "other-format",
            f"{subject.name} does not load {subject.kind.upper()} files; export a {wanted.upper()} for it",
        )


_RULES: tuple[Callable[[_Subject], Iterator[Issue]], ...] = (
    _empty,
    _sizes,
    _indices,
    _texture_size,
    _uv,
    _rows_below,
    _sort_quirk,
    _opacity,
    _mortal,
    _odd_flags,
    _bones,
    _wrong_kind,
)
