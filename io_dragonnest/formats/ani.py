# SPDX-License-Identifier: GPL-3.0-or-later
"""ANI, the skeleton and the clips of Dragon Nest characters, versions 10 and 11; or a text that lists other ANI files.

Header of 1024 bytes, clip names, clip lengths, then the bones, each with one record per clip. The only file that holds
the hierarchy.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from . import ani_list, blocks, keys, names
from .ani_list import AniList
from .keys import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC = b"Eternity Engine Ani File"
HEADER = np.dtype(
    [
        ("magic", "V256"),
        ("version", "<i4"),
        ("bone_count", "<i4"),
        ("animation_count", "<i4"),
        ("reserved", "V756"),
    ]
)
BONE = np.dtype(
    [
        ("name", "V256"),
        ("parent", "V256"),  # "Scene Root" for none
        ("reserved", "V512"),
    ]
)
VERSIONS = (10, 11)
FPS = 60  # of the game


@dataclass(eq=False)
class Ani:
    """One ANI. `clip_names`: raw 256-byte fields, `lengths` (c,) i32: frames of each clip, the last frame + 1.

    `bones` (b,) of `BONE`; `records[bone][clip]`. `magic`, `reserved`: raw. `trailing`: what stands behind all.
    """

    version: int = 11
    clip_names: list[bytes] = field(default_factory=list)
    lengths: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, "<i4"))
    bones: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, BONE))
    records: list[list[Record]] = field(default_factory=list)
    magic: bytes = b""
    reserved: bytes = b""
    trailing: bytes = b""

    @property
    def bone_names(self) -> list[str]:
        """The name of every bone, in file order; duplicates stay."""
        return names.texts(self.bones["name"])

    @property
    def parent_names(self) -> list[str]:
        """The name of every bone's parent, in file order."""
        return names.texts(self.bones["parent"])

    @property
    def clips(self) -> list[str]:
        """The name of every clip, in file order; duplicates and empty ones stay."""
        return [names.text(raw) for raw in self.clip_names]

    def last_frame(self, clip: int) -> int:
        """The last frame that the clip shows: of its length or, where a key lies later, of that key."""
        latest = max((bone[clip].last_frame for bone in self.records), default=-1)
        return max(int(self.lengths[clip]) - 1, latest, 0)


def magic() -> bytes:
    """The magic text of the game's own tools, as a field of 256 bytes."""
    return (MAGIC + b" 0.1").ljust(256, b"\0")


def bone_table(bone_names: Sequence[str], parents: Sequence[int]) -> npt.NDArray[Any]:
    """New (b,) of `BONE`; `parents` are numbers of bones, -1 for none.

    Raises `ExportError` for a name that is no CP949 or too long.
    """
    table = np.zeros(len(bone_names), BONE)
    fields = [names.field(name, "bone") for name in bone_names]
    root = names.field(names.SCENE_ROOT)
    if fields:
        table["name"] = names.fields(fields)
        table["parent"] = names.fields([fields[parent] if parent >= 0 else root for parent in parents])
    return table


def sniff(head: bytes, size: int) -> bool:
    """Whether the first bytes say so, or the whole looks like a list of ANI files."""
    return MAGIC in head[: blocks.MAGIC_BYTES] or ani_list.sniff(head, size)


def read(data: bytes) -> Ani | AniList:
    """Bytes to `Ani`, or to `AniList` when they are text. Raises `FormatError` with the offset of what does not fit."""
    if MAGIC not in data[: blocks.MAGIC_BYTES] and ani_list.sniff(data, len(data)):
        return AniList(bytes(data))
    return read_binary(data)


def read_binary(data: bytes) -> Ani:
    """Bytes to `Ani`. Raises `FormatError` with the offset of what does not fit."""
    reader = Reader(data)
    blocks.require_magic(reader.data, MAGIC, "ANI animation")
    header = reader.array(HEADER, 1, "fields of the header")[0]
    version = int(header["version"])
    blocks.require_version(version, VERSIONS, "ANI", 256)
    clips = blocks.require_count(int(header["animation_count"]), 260, reader.left, "clips", 264)
    bones = blocks.require_count(
        int(header["bone_count"]), BONE.itemsize + clips * keys.LEAST, reader.left - 260 * clips, "bones", 260
    )
    found = Ani(version, magic=bytes(header["magic"]), reserved=bytes(header["reserved"]))
    found.clip_names = [bytes(raw) for raw in reader.array(names.FIELD_DTYPE, clips, "clip names").tolist()]
    found.lengths = reader.array("<i4", clips, "clip lengths")
    found.bones = np.empty(bones, BONE)
    for number in range(bones):
        found.bones[number] = reader.array(BONE, 1, f"fields of bone {number}")[0]
        what = f'bone {number} "{names.text(bytes(found.bones["name"][number]))}"'
        found.records.append([keys.read(reader, version, f"{what} in clip {clip}") for clip in range(clips)])
    found.trailing = bytes(reader.take(reader.left, "the rest"))
    return found


def write(found: Ani | AniList) -> bytes:
    """The exact inverse of `read`. Raises `ExportError` for a frame that version 11 cannot hold."""
    if isinstance(found, AniList):
        return found.raw
    header = np.zeros(1, HEADER)
    header["magic"] = blocks.resized(found.magic or magic(), 256)
    header["version"] = found.version
    header["bone_count"], header["animation_count"] = len(found.bones), len(found.clip_names)
    header["reserved"] = blocks.resized(found.reserved, 756)
    pieces = [header.tobytes(), *(names.padded(raw) for raw in found.clip_names)]
    pieces.append(found.lengths.astype("<i4", copy=False).tobytes())
    table = found.bones.tobytes()
    for number, records in enumerate(found.records):
        pieces.append(table[number * BONE.itemsize : (number + 1) * BONE.itemsize])
        for record in records:
            pieces.extend(keys.parts(record, found.version))
    return b"".join([*pieces, found.trailing])


def converted(found: Ani, version: int) -> Ani:
    """`found` to be written as `version`; keys are converted when written."""
    return found if version == found.version else replace(found, version=version, trailing=b"")


def with_clips(found: Ani, chosen: Sequence[int]) -> Ani:
    """`found` with only the clips of these numbers, in this order."""
    return replace(
        found,
        clip_names=[found.clip_names[clip] for clip in chosen],
        lengths=np.array([found.lengths[clip] for clip in chosen], "<i4"),
        records=[[bone[clip] for clip in chosen] for bone in found.records],
    )


def merged(files: Sequence[Ani]) -> tuple[Ani, list[str]]:
    """What the files of a text list make together, and notes of what does not match.

    The first gives skeleton, version and its clips; the clips of the others are appended, bones matched by name without
    regard to case. A bone that a file lacks stays in its base; one that only a later file has is left out. `files` must
    not be empty.
    """
    first, notes = files[0], list[str]()
    wanted = [names.key(name) for name in first.bone_names]
    out = replace(first, clip_names=list(first.clip_names), records=[list(bone) for bone in first.records])
    lengths = [first.lengths]
    for number, other in enumerate(files[1:], 2):
        rows = {names.key(name): row for row, name in reversed(list(enumerate(other.bone_names)))}
        missing = [name for name in wanted if name not in rows]
        unknown = rows.keys() - set(wanted)
        if missing or unknown:
            notes.append(
                f"file {number} of the list lacks {len(missing)} bones of the first file and has {len(unknown)} that "
                "the first file does not have"
            )
        for row, name in enumerate(wanted):
            found = other.records[rows[name]] if name in rows else _still(first, row, len(other.clip_names))
            out.records[row].extend(found)
        out.clip_names.extend(other.clip_names)
        lengths.append(other.lengths)
    out.lengths = np.concatenate(lengths).astype("<i4")
    return out, notes


def _still(first: Ani, row: int, clips: int) -> list[Record]:
    base = first.records[row][0].base if first.records[row] else Record().base
    return [Record(base) for _ in range(clips)]


def sections(data: bytes) -> list[Section]:
    """The byte ranges of a valid file, by name."""
    model = read(data)
    if isinstance(model, AniList):
        return [Section("text byte", 0, np.dtype("u1"), len(model.raw))]
    clips = len(model.clip_names)
    found = [Section("header", 0, HEADER), Section("clip name", HEADER.itemsize, names.FIELD_DTYPE, clips)]
    found.append(Section("clip length", found[-1].end, np.dtype("<i4"), clips))
    for number, records in enumerate(model.records):
        found.append(Section(f"bone {number}", found[-1].end, BONE))
        for clip, record in enumerate(records):
            found.extend(keys.sections(record, f"bone {number} clip {clip}", found[-1].end))
    found.append(Section("trailing byte", found[-1].end, np.dtype("u1"), len(model.trailing)))
    return found


def summary(found: Ani | AniList) -> dict[str, Any]:
    """What `info` prints of an animation."""
    if isinstance(found, AniList):
        return {"version": "text", "files": found.files}
    parents = found.parent_names
    return {
        "version": found.version,
        "bones": [{"name": name, "parent": parents[row]} for row, name in enumerate(found.bone_names)],
        "clips": [
            {
                "name": name,
                "frames": int(found.lengths[clip]),
                "seconds": round(int(found.lengths[clip]) / FPS, 3),
                "keys": [sum(len(bone[clip].tracks[kind]) for bone in found.records) for kind in range(3)],
            }
            for clip, name in enumerate(found.clips)
        ],
        "trailing_bytes": len(found.trailing),
    }
