# SPDX-License-Identifier: GPL-3.0-or-later
"""MSH, the model of Dragon Nest, versions 10 to 13.

Header of 1024 bytes, then bones, sub-meshes, collision primitives and dummies back to back; there are no offsets. Bones
carry no parent: the hierarchy is only in an ANI. Materials are in the SKN.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from . import blocks, collision, dummy, names, submesh, triangles

if TYPE_CHECKING:
    from .collision import Collision
    from .dummy import Dummy
    from .submesh import Submesh

MAGIC = b"Eternity Engine Mesh File"
HEADER = np.dtype(
    [
        ("magic", "V256"),
        ("version", "<i4"),
        ("submesh_count", "<i4"),
        ("lod_count", "<i4"),  # 1 in all known files; the game never reads it
        ("uv_animation", "u1"),
        ("pad", "V3"),
        ("maximum", "<f4", 3),  # bounding box; the maximum stands first
        ("minimum", "<f4", 3),
        ("bone_count", "<i4"),
        ("collision_count", "<i4"),
        ("dummy_count", "<i4"),
        ("reserved", "V716"),
    ]
)
BONE = np.dtype(
    [
        ("name", "V256"),
        ("inverse_bind", "<f4", (4, 4)),  # rows for row vectors: v' = v M, translation in the last row
    ]
)
VERSIONS = (10, 11, 12, 13)
_SUFFIX = {10: b" 0.1", 11: b" 0.11", 12: b" 0.12", 13: b" 0.13"}  # of 11 no real file is known


def magic(version: int) -> bytes:
    """The magic text that the game's own tools write, as a field of 256 bytes."""
    return (MAGIC + _SUFFIX[version]).ljust(256, b"\0")


def no_bones() -> npt.NDArray[Any]:
    """A (0,) array of `BONE`."""
    return np.zeros(0, BONE)


@dataclass(eq=False)
class Msh:
    """One MSH. `magic`, `reserved`: raw bytes; `maximum`, `minimum` (3,) f32 as stored, not computed.

    `bones` (n,) of `BONE`, maybe read-only. `trailing`: what stands behind the last dummy.
    """

    version: int = 13
    submeshes: list[Submesh] = field(default_factory=list)
    bones: npt.NDArray[Any] = field(default_factory=no_bones)
    collisions: list[Collision] = field(default_factory=list)
    dummies: list[Dummy] = field(default_factory=list)
    maximum: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(3, "<f4"))
    minimum: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(3, "<f4"))
    magic: bytes = b""
    lod_count: int = 1
    uv_animation: int = 0
    pad: bytes = bytes(3)
    reserved: bytes = b""
    trailing: bytes = b""

    @property
    def bone_names(self) -> list[str]:
        """The name of every bone, in file order; duplicates stay."""
        return names.texts(self.bones["name"])


def sniff(head: bytes, _size: int) -> bool:
    """Whether the first bytes say so."""
    return MAGIC in head[: blocks.MAGIC_BYTES]


def read(data: bytes) -> Msh:
    """Bytes to `Msh`. Raises `FormatError` with the offset of what does not fit; versions are never guessed."""
    reader = Reader(data)
    blocks.require_magic(reader.data, MAGIC, "MSH model")
    header = reader.array(HEADER, 1, "fields of the header")[0]
    version = int(header["version"])
    blocks.require_version(version, VERSIONS, "MSH", 256)
    counts = _counts(header, reader.left)
    found = Msh(
        version,
        maximum=header["maximum"],
        minimum=header["minimum"],
        magic=bytes(header["magic"]),
        lod_count=int(header["lod_count"]),
        uv_animation=int(header["uv_animation"]),
        pad=bytes(header["pad"]),
        reserved=bytes(header["reserved"]),
    )
    start = reader.offset
    found.bones = reader.array(BONE, counts["bone"], "bones")
    blocks.require_finite_strided(found.bones["inverse_bind"].reshape(-1, 16), start + 256, BONE.itemsize, "bone")
    found.submeshes = [submesh.read(reader, number) for number in range(counts["submesh"])]
    blocks.require_count(counts["collision"], collision.least(version), reader.left, "collisions", 300)
    found.collisions = [collision.read(reader, number, version) for number in range(counts["collision"])]
    blocks.require_count(counts["dummy"], dummy.least(version), reader.left, "dummies", 304)
    found.dummies = dummy.read_all(reader, counts["dummy"], version)
    found.trailing = bytes(reader.take(reader.left, "the rest"))
    return found


def _counts(header: Any, left: int) -> dict[str, int]:
    """The four counts, each compared with what the file could hold at the most."""
    version = int(header["version"])
    kinds = {
        "submesh": ("sub-meshes", submesh.SUBMESH.itemsize, 260),
        "bone": ("bones", BONE.itemsize, 296),
        "collision": ("collisions", collision.least(version), 300),
        "dummy": ("dummies", dummy.least(version), 304),
    }
    return {
        kind: blocks.require_count(int(header[f"{kind}_count"]), each, left, what, offset)
        for kind, (what, each, offset) in kinds.items()
    }


def write(found: Msh) -> bytes:
    """`Msh` to bytes, the exact inverse of `read`. Raises `ExportError` for what its version cannot hold."""
    header = np.zeros(1, HEADER)
    header["magic"] = blocks.resized(found.magic or magic(found.version), 256)
    for name in ("version", "lod_count", "uv_animation", "maximum", "minimum"):
        header[name] = getattr(found, name)
    header["pad"] = blocks.resized(found.pad, 3)
    header["reserved"] = blocks.resized(found.reserved, 716)
    header["submesh_count"], header["bone_count"] = len(found.submeshes), len(found.bones)
    header["collision_count"], header["dummy_count"] = len(found.collisions), len(found.dummies)
    pieces: list[bytes | memoryview] = [header.tobytes(), found.bones.tobytes()]
    for part in found.submeshes:
        pieces.extend(submesh.parts(part))
    pieces.extend(collision.write(entry, found.version) for entry in found.collisions)
    pieces.extend(dummy.write(entry, found.version) for entry in found.dummies)
    return b"".join([*pieces, found.trailing])


def header_bytes(found: Msh) -> bytes:
    """The 1024 bytes that a file starts with, as if it held nothing else."""
    parts: dict[str, Any] = {"submeshes": [], "bones": no_bones(), "collisions": [], "dummies": []}
    values = {entry.name: getattr(found, entry.name) for entry in fields(Msh)}
    return write(Msh(**{**values, **parts}))[: HEADER.itemsize]


def converted(found: Msh, version: int) -> Msh:
    """`found` as `version` holds it; a new magic text. MSH 10 loses the parents of collisions."""
    if version == found.version:
        return found
    return replace(
        found,
        version=version,
        magic=magic(version),
        dummies=[dummy.converted(entry, version) for entry in found.dummies],
        collisions=[
            replace(entry, parent=entry.parent if version >= collision.NAMED_FROM else b"")
            for entry in found.collisions
        ],
        trailing=b"",
    )


def bounds(found: Msh) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Maximum and minimum (3,) f32 of all vertices, which is what the header holds; zeros without any."""
    clouds = [part.positions for part in found.submeshes if len(part.positions)]
    if not clouds:
        return np.zeros(3, "<f4"), np.zeros(3, "<f4")
    # Column by column: numpy goes over short rows one at a time.
    return (
        np.array([max(cloud[:, axis].max() for cloud in clouds) for axis in range(3)], "<f4"),
        np.array([min(cloud[:, axis].min() for cloud in clouds) for axis in range(3)], "<f4"),
    )


def sections(data: bytes) -> list[Section]:
    """The byte ranges of a valid file, by name."""
    model = read(data)
    found = [Section("header", 0, HEADER), Section("bone", HEADER.itemsize, BONE, len(model.bones))]
    for number, part in enumerate(model.submeshes):
        found.extend(submesh.sections(part, number, found[-1].end))
    for number, primitive in enumerate(model.collisions):
        size = len(collision.write(primitive, model.version))
        found.append(Section(f"collision {number} byte", found[-1].end, np.dtype("u1"), size))
    for number, entry in enumerate(model.dummies):
        size = len(dummy.write(entry, model.version))
        found.append(Section(f"dummy {number} byte", found[-1].end, np.dtype("u1"), size))
    found.append(Section("trailing byte", found[-1].end, np.dtype("u1"), len(model.trailing)))
    return found


def summary(found: Msh) -> dict[str, Any]:
    """What `info` prints of a model."""
    highest, lowest = bounds(found)
    return {
        "version": found.version,
        "magic": names.text(found.magic),
        "vertices": sum(len(part.positions) for part in found.submeshes),
        "triangles": sum(len(triangles.of(part).corners) for part in found.submeshes),
        "sub_meshes": [_submesh_facts(part) for part in found.submeshes],
        "bones": found.bone_names,
        "collisions": [collision.describe(entry) for entry in found.collisions],
        "dummies": [{"name": entry.label, "parent": names.text(entry.parent or b"")} for entry in found.dummies],
        "size": (highest.astype(np.float64) - lowest.astype(np.float64)).round(3).tolist(),
        "trailing_bytes": len(found.trailing),
    }


def _submesh_facts(part: Submesh) -> dict[str, Any]:
    return {
        "name": part.label,
        "parent": names.text(part.parent),
        "vertices": len(part.positions),
        "triangles": len(triangles.of(part).corners),
        "indices": len(part.indices),
        "layout": "strip" if part.is_strip else "list",
        "uv_sets": len(part.uvs),
        "colours": part.colours is not None,
        "bones": 0 if part.skin is None else len(part.skin.names),
    }
