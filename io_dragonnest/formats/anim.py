# SPDX-License-Identifier: GPL-3.0-or-later
""".anim, one clip that a third-party script dumped out of a version 11 ANI.

No header: bone name and parent name, each with a NUL, and a record, repeated to the end of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io_common.formats.errors import ExportError, FormatError
from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from . import ani, keys, names

if TYPE_CHECKING:
    from .keys import Record

VERSION = 11


@dataclass(eq=False)
class AnimBone:
    """`name` and `parent`: raw bytes without the NUL."""

    name: bytes
    parent: bytes
    record: Record


@dataclass(eq=False)
class Anim:
    """One dump; a clip without a name."""

    bones: list[AnimBone] = field(default_factory=list)


def sniff(head: bytes, size: int) -> bool:
    """Whether it begins with two names and a sane record. There is no magic text, so much is asked of the record."""
    name, nul, rest = head.partition(b"\0")
    parent, other, rest = rest.partition(b"\0")
    if not (
        nul and other and _is_name(name) and (not parent or _is_name(parent)) and len(rest) >= keys.BASE.itemsize + 4
    ):
        return False
    with np.errstate(invalid="ignore"):  # any bytes may be asked about
        values = np.frombuffer(rest, "<f4", 10).astype(np.float64)
    many = int(np.frombuffer(rest, "<i4", 1, keys.BASE.itemsize)[0])
    if not np.isfinite(values).all() or not 0 <= many * keys.VECTOR_11.itemsize <= size:
        return False
    return bool(0.5 < np.linalg.norm(values[3:7]) < 2.0 and (np.abs(values) < 1e6).all())


def _is_name(raw: bytes) -> bool:
    return 0 < len(raw) <= names.LONGEST and all(byte >= 32 for byte in raw) and "\\x" not in names.text(raw)


def read(data: bytes) -> Anim:
    """Bytes to `Anim`. Raises `FormatError` with the offset of what does not fit."""
    reader = Reader(data)
    found = Anim()
    if not reader.left:
        raise FormatError("there is no bone in this file", offset=0, expected="a clip")
    whole = bytes(data)
    while reader.left:
        number = len(found.bones)
        name = _name(reader, whole, f"the name of bone {number}")
        parent = _name(reader, whole, f"the parent of bone {number}")
        record = keys.read(reader, VERSION, f'bone {number} "{names.text(name)}"')
        found.bones.append(AnimBone(name, parent, record))
    return found


def _name(reader: Reader, whole: bytes, what: str) -> bytes:
    end = whole.find(b"\0", reader.offset)
    if end < 0:
        raise FormatError(f"{what} does not end", offset=reader.offset, expected="a text and a NUL")
    if end - reader.offset > names.LONGEST:
        raise FormatError(
            f"{what} is too long",
            offset=reader.offset,
            expected=f"at most {names.LONGEST} bytes, as in an ANI",
            found=str(end - reader.offset),
        )
    return bytes(reader.take(end + 1 - reader.offset, what))[:-1]


def write(found: Anim) -> bytes:
    """`Anim` to bytes, the exact inverse of `read`."""
    pieces: list[bytes] = []
    for bone in found.bones:
        pieces += [bone.name, b"\0", bone.parent, b"\0", *keys.parts(bone.record, VERSION)]
    return b"".join(pieces)


def to_ani(found: Anim, clip: str) -> ani.Ani:
    """The dump as an ANI of one clip named `clip`; its length is the last key + 1.

    Raises `ExportError` for a clip name that is no CP949 or too long.
    """
    out = ani.Ani(VERSION, [names.field(clip, "clip")], records=[[bone.record] for bone in found.bones])
    out.bones = np.zeros(len(found.bones), ani.BONE)
    if found.bones:
        out.bones["name"] = names.fields([bone.name for bone in found.bones])
        out.bones["parent"] = names.fields([bone.parent for bone in found.bones])
    out.lengths = np.array([max((bone.record.last_frame for bone in found.bones), default=0) + 1], "<i4")
    return out


def from_ani(found: ani.Ani, clip: int) -> Anim:
    """One clip of an ANI as a dump. Raises `ExportError` where there is no such clip."""
    if not 0 <= clip < len(found.clip_names):
        raise ExportError(f"there is no clip {clip} to write; the animation has {len(found.clip_names)}")
    raws = zip(found.bones["name"].tolist(), found.bones["parent"].tolist(), found.records, strict=True)
    return Anim(
        [
            AnimBone(bytes(name).split(b"\0", 1)[0], bytes(parent).split(b"\0", 1)[0], records[clip])
            for name, parent, records in raws
        ]
    )


def sections(data: bytes) -> list[Section]:
    """The byte ranges of a valid file, by name."""
    found: list[Section] = []
    end = 0
    for number, bone in enumerate(read(data).bones):
        for what, raw in (("name", bone.name), ("parent", bone.parent)):
            found.append(Section(f"bone {number} {what} byte", end, np.dtype("u1"), len(raw) + 1))
            end = found[-1].end
        found.extend(keys.sections(bone.record, f"bone {number}", end))
        end = found[-1].end
    return found


def summary(found: Anim) -> dict[str, Any]:
    """What `info` prints of a dump."""
    return {
        "bones": [{"name": names.text(bone.name), "parent": names.text(bone.parent)} for bone in found.bones],
        "frames": max((bone.record.last_frame for bone in found.bones), default=-1) + 1,
        "keys": [sum(len(bone.record.tracks[kind]) for bone in found.bones) for kind in range(3)],
    }
