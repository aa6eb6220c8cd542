# SPDX-License-Identifier: GPL-3.0-or-later
"""One sub-mesh of an MSH: a header of 1024 bytes, then its streams, one whole array after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import FormatError
from ...io_common.formats.fields import Section
from . import blocks, names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...io_common.formats.reader import Reader

SUBMESH = np.dtype(
    [
        ("parent", "V256"),  # "Scene Root", or the bone that a rigid part hangs on
        ("name", "V256"),
        ("vertex_count", "<i4"),
        ("index_count", "<i4"),  # numbers of 16 bits, in lists and strips alike
        ("uv_count", "<i4"),
        ("strip", "u1"),  # 0: a list of triangles; else one strip
        ("skin", "u1"),
        ("colours", "u1"),
        ("pad", "u1"),
        ("reserved", "V496"),
    ]
)
MOST_UV_SETS = 7
SLOTS = 4  # bones that may move one vertex


@dataclass(eq=False)
class Skin:
    """Which bones move which vertex. Slots are numbers in `names`, not in the bone table of the file.

    `slots` (nv, 4) i16: signed, -1 and stale numbers occur where the weight is 0. `weights` (nv, 4) f32. `names` (nb,)
    of `names.FIELD_DTYPE`.
    """

    slots: npt.NDArray[np.int16]
    weights: npt.NDArray[np.float32]
    names: npt.NDArray[Any]


@dataclass(eq=False)
class Submesh:
    """`parent` and `name`: raw 256-byte fields. Arrays may be read-only views of the file.

    `indices` (ni,) u16; `positions`, `normals` (nv, 3) f32; `uvs` (nt, nv, 2) f32, origin at the top left; `colours`
    (nv, 4) u8 in the order B, G, R, A, or None; `skin` None: the part follows its parent bone as a whole.

    `flags`: the four raw flag bytes (strip, skin, colours, pad); when written, a byte that must not be 0 keeps its
    value.
    """

    parent: bytes = b""
    name: bytes = b""
    indices: npt.NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, "<u2"))
    positions: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 3), "<f4"))
    normals: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 3), "<f4"))
    uvs: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros((1, 0, 2), "<f4"))
    colours: npt.NDArray[np.uint8] | None = None
    skin: Skin | None = None
    is_strip: bool = False
    flags: bytes = bytes(4)
    reserved: bytes = b""

    @property
    def label(self) -> str:
        """The name as text."""
        return names.text(self.name)


def read(reader: Reader, number: int) -> Submesh:
    """The next sub-mesh, `number` (from 0) for messages. Raises `FormatError` where it is not whole or not sane."""
    at = reader.offset
    header = reader.array(SUBMESH, 1, f"header bytes of sub-mesh {number}")[0]
    what = f'sub-mesh {number} "{names.text(bytes(header["name"]))}"'
    vertices, indices, uvs = (int(header[name]) for name in ("vertex_count", "index_count", "uv_count"))
    blocks.require_count(vertices, 24, reader.left, f"vertices of {what}", at + 512)
    blocks.require_count(indices, 2, reader.left, f"indices of {what}", at + 516)
    if not 0 <= uvs <= MOST_UV_SETS:
        raise FormatError(
            f"{what} has an impossible number of UV sets",
            offset=at + 520,
            expected=f"0 to {MOST_UV_SETS}",
            found=str(uvs),
        )
    start = reader.offset
    found = Submesh(
        parent=bytes(header["parent"]),
        name=bytes(header["name"]),
        indices=reader.array("<u2", indices, f"indices of {what}"),
        positions=reader.array("<f4", 3 * vertices, f"positions of {what}").reshape(-1, 3),
        normals=reader.array("<f4", 3 * vertices, f"normals of {what}").reshape(-1, 3),
        uvs=reader.array("<f4", 2 * vertices * uvs, f"UVs of {what}").reshape(uvs, vertices, 2),
        is_strip=bool(header["strip"]),
        flags=bytes(header[name] for name in ("strip", "skin", "colours", "pad")),
        reserved=bytes(header["reserved"]),
    )
    if header["colours"]:
        found.colours = reader.array("u1", 4 * vertices, f"colours of {what}").reshape(-1, 4)
    if header["skin"]:
        found.skin = _read_skin(reader, vertices, what)
    _require_vertices(found, start, what)
    blocks.require_finite_rows(found.positions, start + 2 * indices, f"{what}: vertex")
    return found


def _read_skin(reader: Reader, vertices: int, what: str) -> Skin:
    slots = reader.array("<i2", SLOTS * vertices, f"bone slots of {what}").reshape(-1, SLOTS)
    weights = reader.array("<f4", SLOTS * vertices, f"weights of {what}").reshape(-1, SLOTS)
    number = blocks.count(reader, f"bone names of {what}", names.FIELD)
    return Skin(slots, weights, reader.array(names.FIELD_DTYPE, number, f"bone names of {what}"))


def _require_vertices(found: Submesh, start: int, what: str) -> None:
    """An index without a vertex takes Blender down with it."""
    most = len(found.positions)
    if not len(found.indices) or int(found.indices.max()) < most:
        return
    bad = int(np.argmax(found.indices >= most))
    raise FormatError(
        f"index {bad} of {what} points at a vertex that does not exist",
        offset=start + 2 * bad,
        expected=f"a number below {most}" if most else "no index, as there are no vertices",
        found=str(int(found.indices[bad])),
    )


def parts(submesh: Submesh) -> Iterator[bytes | memoryview]:
    """The bytes of a sub-mesh, piece by piece: the inverse of `read`."""
    yield _header(submesh).tobytes()
    yield blocks.raw(submesh.indices, "<u2")
    for stream in (submesh.positions, submesh.normals, submesh.uvs):
        yield blocks.raw(stream, "<f4")
    if submesh.colours is not None:
        yield blocks.raw(submesh.colours, "u1")
    if submesh.skin is not None:
        yield blocks.raw(submesh.skin.slots, "<i2")
        yield blocks.raw(submesh.skin.weights, "<f4")
        yield len(submesh.skin.names).to_bytes(4, "little")
        yield submesh.skin.names.tobytes()


def _header(submesh: Submesh) -> npt.NDArray[Any]:
    header = np.zeros(1, SUBMESH)
    header["parent"] = blocks.resized(submesh.parent, 256)
    header["name"] = blocks.resized(submesh.name, 256)
    header["vertex_count"] = len(submesh.positions)
    header["index_count"] = len(submesh.indices)
    header["uv_count"] = len(submesh.uvs)
    flags = submesh.flags[:4].ljust(4, b"\0")
    present = (submesh.is_strip, submesh.skin is not None, submesh.colours is not None)
    for name, there, raw in zip(("strip", "skin", "colours"), present, flags, strict=False):
        header[name] = (raw or 1) if there else 0
    header["pad"] = flags[3]
    header["reserved"] = blocks.resized(submesh.reserved, 496)
    return header


def influences(submesh: Submesh) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], int]:
    """Slots (nv, 4), weights (nv, 4) and the number of influences that were left out.

    An influence counts when its weight is a number above 0 and its slot one of the list; what is left out has slot 0
    and weight 0. Weights are as stored: they need not sum to one, and Blender divides by their sum. Without a skin all
    is zero.
    """
    vertices = len(submesh.positions)
    if submesh.skin is None:
        return np.zeros((vertices, SLOTS), np.intp), np.zeros((vertices, SLOTS)), 0
    weights = blocks.wide(submesh.skin.weights)
    slots = submesh.skin.slots.astype(np.intp)
    wanted = ~(weights == 0)
    good = np.isfinite(weights) & (weights > 0) & (slots >= 0) & (slots < len(submesh.skin.names))
    return np.where(good, slots, 0), np.where(good, weights, 0.0), int(np.count_nonzero(wanted & ~good))


def sections(submesh: Submesh, number: int, offset: int) -> Iterator[Section]:
    """The byte ranges of a sub-mesh that starts at `offset`."""
    vertices, who = len(submesh.positions), f"sub-mesh {number}"
    ranges: list[tuple[str, npt.DTypeLike, int]] = [
        (f"{who} header", SUBMESH, 1),
        (f"{who} index", "<u2", len(submesh.indices)),
        (f"{who} position", [("xyz", "<f4", 3)], vertices),
        (f"{who} normal", [("xyz", "<f4", 3)], vertices),
        *((f"{who} UV set {uv} vertex", [("uv", "<f4", 2)], vertices) for uv in range(len(submesh.uvs))),
    ]
    if submesh.colours is not None:
        ranges.append((f"{who} colour", [("bgra", "u1", 4)], vertices))
    if submesh.skin is not None:
        ranges += [
            (f"{who} vertex", [("bone_slot", "<i2", SLOTS)], vertices),
            (f"{who} vertex", [("weight", "<f4", SLOTS)], vertices),
            (f"{who} bone name count", "<i4", 1),
            (f"{who} bone name", names.FIELD_DTYPE, len(submesh.skin.names)),
        ]
    for name, dtype, many in ranges:
        section = Section(name, offset, np.dtype(dtype), many)
        yield section
        offset = section.end
