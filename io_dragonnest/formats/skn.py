# SPDX-License-Identifier: GPL-3.0-or-later
"""SKN, the materials of an MSH, versions 10 and 11. Material i belongs to sub-mesh i.

Header of 1024 bytes, then the materials. In version 11 their bytes are cut in five pieces that stand in another order,
of which five are known; read and written alike.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError, FormatError, UnsupportedError
from ...io_common.formats.fields import Section
from ...io_common.formats.reader import Reader
from . import blocks, names

if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC = b"Eternity Engine Skin File"
HEADER = np.dtype(
    [
        ("magic", "V256"),
        ("mesh_name", "V256"),  # the MSH, without a path
        ("version", "<i4"),
        ("material_count", "<i4"),
        ("body_size", "<i4"),  # version 11 only, 0 before
        ("order", "<i4"),  # likewise
        ("reserved", "V496"),
    ]
)
MATERIAL = np.dtype(
    [
        ("name", "V256"),
        ("effect", "V256"),
        ("alpha", "<f4"),
        ("blend", "u1"),  # one byte, though four are free
        ("pad", "V3"),
        ("reserved", "V504"),
        ("property_count", "<i4"),
    ]
)
VERSIONS = (10, 11)
SCRAMBLED_FROM = 11
# Code -> which of the five pieces stands where; the last piece is the long one.
ORDERS: dict[int, tuple[int, ...]] = {
    0: (2, 3, 0, 4, 1),
    1: (1, 0, 4, 2, 3),
    2: (4, 3, 0, 1, 2),
    3: (3, 2, 1, 4, 0),
    4: (3, 2, 4, 0, 1),
}


class Kind(IntEnum):
    """Types of a property's value. `NOTHING` and `UNKNOWN` have none."""

    UNKNOWN = -1
    INTEGER = 0
    FLOAT = 1
    VECTOR = 2
    TEXTURE = 3
    NOTHING = 4


_VALUE_BYTES = {Kind.UNKNOWN: 0, Kind.INTEGER: 4, Kind.FLOAT: 4, Kind.VECTOR: 16, Kind.NOTHING: 0}
_VALUE_TYPES = {Kind.INTEGER: "<i4", Kind.FLOAT: "<f4", Kind.VECTOR: "<f4"}


@dataclass
class Property:
    """`name`: raw bytes behind the length, with the NUL. `value`: the raw bytes of the value; of a text, its bytes."""

    name: bytes
    kind: Kind
    value: bytes = b""

    @property
    def label(self) -> str:
        """The name as text."""
        return names.text(self.name)

    @property
    def numbers(self) -> npt.NDArray[Any]:
        """The value as an array: (1,) i32, (1,) f32 or (4,) f32; (0,) where it is no number."""
        return (
            np.frombuffer(self.value, _VALUE_TYPES.get(self.kind, "V1")) if self.kind in _VALUE_TYPES else np.zeros(0)
        )

    @property
    def texture(self) -> str:
        """The file name of a texture, without a path; empty for other kinds."""
        return names.text(self.value) if self.kind is Kind.TEXTURE else ""

    @staticmethod
    def of(name: str, kind: Kind, value: float | Sequence[float] | str | None = None) -> Property:
        """A new property. Raises `ExportError` for text that is no CP949 and for numbers that do not fit."""
        raw = names.lpstr(name, "property")
        if kind is Kind.TEXTURE:
            return Property(raw, kind, names.lpstr(str(value or ""), "texture"))
        if kind not in _VALUE_TYPES:
            return Property(raw, kind)
        numbers = np.zeros(1 if kind is not Kind.VECTOR else 4) if value is None else np.atleast_1d(np.array(value))
        wanted = _VALUE_BYTES[kind] // 4
        if len(numbers) != wanted:
            raise ExportError(f'the property "{name}" holds {wanted} numbers, not {len(numbers)}')
        if kind is Kind.INTEGER and not -(2**31) <= int(numbers[0]) < 2**31:
            raise ExportError(f'the number {int(numbers[0])} of the property "{name}" does not fit into 32 bits')
        return Property(raw, kind, numbers.astype(_VALUE_TYPES[kind]).tobytes())


@dataclass(eq=False)
class Material:
    """`name`, `effect`, `pad`, `reserved`: raw fields. `alpha`: f32. `blend`: the byte of the alpha-blend flag."""

    name: bytes = b""
    effect: bytes = b""
    alpha: np.float32 | float = 1.0
    blend: int = 0
    properties: list[Property] = field(default_factory=list)
    pad: bytes = bytes(3)
    reserved: bytes = b""

    @property
    def label(self) -> str:
        """The name as text."""
        return names.text(self.name)

    def get(self, name: str) -> Property | None:
        """The first property of that name, in any case."""
        wanted = names.key(name)
        return next((entry for entry in self.properties if names.key(entry.name) == wanted), None)


@dataclass(eq=False)
class Skn:
    """One SKN. `magic`, `mesh_name`, `reserved`: raw fields.

    `order`: the code of `ORDERS` in version 11, a meaningless number before; `body_size` likewise is only kept for
    version 10 (version 11 computes it). `body_rest`: what stands behind the last material inside a version 11 body;
    `trailing`: what stands behind all.
    """

    version: int = 11
    materials: list[Material] = field(default_factory=list)
    mesh_name: bytes = b""
    order: int = 0
    magic: bytes = b""
    body_size: int = 0
    reserved: bytes = b""
    body_rest: bytes = b""
    trailing: bytes = b""


def magic() -> bytes:
    """The magic text of the game's own tools, as a field of 256 bytes."""
    return (MAGIC + b" 0.1").ljust(256, b"\0")


def sniff(head: bytes, _size: int) -> bool:
    """Whether the first bytes say so."""
    return MAGIC in head[: blocks.MAGIC_BYTES]


def read(data: bytes) -> Skn:
    """Bytes to `Skn`. Raises `FormatError` with the offset of what does not fit.

    Behind the header of version 11 an offset counts in the bytes as they are once put in order.
    """
    reader = Reader(data)
    blocks.require_magic(reader.data, MAGIC, "SKN material file")
    header = reader.array(HEADER, 1, "fields of the header")[0]
    version = int(header["version"])
    blocks.require_version(version, VERSIONS, "SKN", 512)
    found = Skn(
        version,
        mesh_name=bytes(header["mesh_name"]),
        order=int(header["order"]),
        magic=bytes(header["magic"]),
        body_size=int(header["body_size"]),
        reserved=bytes(header["reserved"]),
    )
    if version >= SCRAMBLED_FROM:
        reader = _in_order(reader, found)
    number = blocks.require_count(int(header["material_count"]), MATERIAL.itemsize, reader.left, "materials", 516)
    found.materials = [_read_material(reader, index) for index in range(number)]
    rest = bytes(reader.take(reader.left, "the rest"))
    if version >= SCRAMBLED_FROM:
        found.body_rest = rest
    else:
        found.trailing = rest
    return found


def _in_order(reader: Reader, found: Skn) -> Reader:
    """A reader of the whole file with its body put in order, at the start of that body."""
    if found.order not in ORDERS:
        raise UnsupportedError(
            "the order of the pieces of this SKN is not known",
            offset=524,
            expected=f"a code of {min(ORDERS)} to {max(ORDERS)}",
            found=str(found.order),
        )
    if not 0 <= found.body_size <= reader.left:
        raise FormatError(
            "the size of the materials does not fit into the file",
            offset=520,
            expected=f"0 to {reader.left} bytes",
            found=str(found.body_size),
        )
    body = reader.take(found.body_size, "the materials")
    found.trailing = bytes(reader.take(reader.left, "the rest"))
    ordered = Reader(bytes(reader.data[: HEADER.itemsize]) + unscrambled(bytes(body), found.order))
    ordered.offset = HEADER.itemsize
    return ordered


def _sizes(size: int) -> list[int]:
    """The sizes of the five pieces: four of an even number of bytes, and the rest."""
    short = size // 5 // 2 * 2
    return [short, short, short, short, size - 4 * short]


def unscrambled(stored: bytes, order: int) -> bytes:
    """The pieces of a version 11 body in their proper order."""
    sizes, at = _sizes(len(stored)), 0
    pieces = [b""] * 5
    for piece in ORDERS[order]:
        pieces[piece] = stored[at : at + sizes[piece]]
        at += sizes[piece]
    return b"".join(pieces)


def scrambled(body: bytes, order: int) -> bytes:
    """The inverse of `unscrambled`."""
    sizes = _sizes(len(body))
    starts = [sum(sizes[:piece]) for piece in range(5)]
    return b"".join(body[starts[piece] : starts[piece] + sizes[piece]] for piece in ORDERS[order])


def _read_material(reader: Reader, number: int) -> Material:
    at = reader.offset
    record = reader.array(MATERIAL, 1, f"fields of material {number}")[0]
    what = f'material {number} "{names.text(bytes(record["name"]))}"'
    many = blocks.require_count(
        int(record["property_count"]), 8, reader.left, f"properties of {what}", at + MATERIAL.itemsize - 4
    )
    return Material(
        bytes(record["name"]),
        bytes(record["effect"]),
        record["alpha"],
        int(record["blend"]),
        [_read_property(reader, f"property {index} of {what}") for index in range(many)],
        bytes(record["pad"]),
        bytes(record["reserved"]),
    )


def _read_property(reader: Reader, what: str) -> Property:
    name = blocks.lpstr(reader, f"the name of {what}")
    at = reader.offset
    number = reader.integer("<i4", f"the type of {what}")
    if not min(Kind) <= number <= max(Kind):
        raise UnsupportedError(
            f"{what} is of an unknown type", offset=at, expected=f"{min(Kind)} to {max(Kind)}", found=str(number)
        )
    kind = Kind(number)
    if kind is Kind.TEXTURE:
        return Property(name, kind, blocks.lpstr(reader, f"the texture of {what}"))
    return Property(name, kind, bytes(reader.take(_VALUE_BYTES[kind], f"the value of {what}")))


def write(found: Skn) -> bytes:
    """`Skn` to bytes, the exact inverse of `read`. Raises `ExportError` for an order that is not known."""
    body = b"".join(_material_bytes(material) for material in found.materials)
    size = found.body_size
    if found.version >= SCRAMBLED_FROM:
        if found.order not in ORDERS:
            raise ExportError(f"the SKN order code {found.order} is not known; choose {min(ORDERS)} to {max(ORDERS)}")
        body += found.body_rest
        size = len(body)
        body = scrambled(body, found.order)
    header = np.zeros(1, HEADER)
    header["magic"] = blocks.resized(found.magic or magic(), 256)
    header["mesh_name"] = blocks.resized(found.mesh_name, 256)
    header["version"] = found.version
    header["material_count"] = len(found.materials)
    header["body_size"], header["order"] = size, found.order
    header["reserved"] = blocks.resized(found.reserved, 496)
    return header.tobytes() + body + found.trailing


def _material_bytes(material: Material) -> bytes:
    record = np.zeros(1, MATERIAL)
    for name, size in (("name", 256), ("effect", 256), ("pad", 3), ("reserved", 504)):
        record[name] = blocks.resized(getattr(material, name), size)
    record["alpha"] = material.alpha
    record["blend"] = material.blend
    record["property_count"] = len(material.properties)
    return record.tobytes() + b"".join(_property_bytes(entry) for entry in material.properties)


def _property_bytes(entry: Property) -> bytes:
    value = blocks.put_lpstr(entry.value) if entry.kind is Kind.TEXTURE else entry.value
    return blocks.put_lpstr(entry.name) + struct.pack("<i", entry.kind) + value


def material_bytes(material: Material) -> bytes:
    """A material by itself, with its properties."""
    return _material_bytes(material)


def read_material(data: bytes) -> Material:
    """The inverse of `material_bytes`. Raises `FormatError` for anything else."""
    return _read_material(Reader(data), 0)


def header_bytes(found: Skn) -> bytes:
    """The 1024 bytes a file starts with."""
    return write(found)[: HEADER.itemsize]


def of_header(data: bytes) -> Skn:
    """The file a header belongs to, without its materials; raises `FormatError` for bytes that are no header."""
    header = np.frombuffer(data, HEADER, 1).copy()
    for name in ("material_count", "body_size"):
        header[name] = 0
    found = read(header.tobytes())
    found.body_size = int(np.frombuffer(data, HEADER, 1)["body_size"][0])
    return found


def converted(found: Skn, version: int, order: int = 0) -> Skn:
    """`found` as `version`; from 10 to 11 with the order code `order`."""
    if version == found.version:
        return found
    return replace(
        found,
        version=version,
        order=order if version >= SCRAMBLED_FROM else 0,
        body_size=0,
        body_rest=b"",
        trailing=b"",
    )


def sections(data: bytes) -> list[Section]:
    """The byte ranges of a valid file, by name; the pieces of a version 11 body as they stand in the file."""
    model = read(data)
    found = [Section("header", 0, HEADER)]
    bodies = [_material_bytes(material) for material in model.materials]
    if model.version >= SCRAMBLED_FROM:
        sizes = _sizes(sum(map(len, bodies)) + len(model.body_rest))
        for piece in ORDERS[model.order]:
            found.append(Section(f"piece {piece} byte", found[-1].end, np.dtype("u1"), sizes[piece]))
    else:
        for number, body in enumerate(bodies):
            found.append(Section(f"material {number}", found[-1].end, MATERIAL))
            rest = len(body) - MATERIAL.itemsize
            found.append(Section(f"material {number} property byte", found[-1].end, np.dtype("u1"), rest))
    found.append(Section("trailing byte", found[-1].end, np.dtype("u1"), len(model.trailing)))
    return found


def summary(found: Skn) -> dict[str, Any]:
    """What `info` prints of a material file."""
    return {
        "version": found.version,
        "order": found.order if found.version >= SCRAMBLED_FROM else None,
        "mesh": names.text(found.mesh_name),
        "materials": [
            {
                "name": material.label,
                "effect": names.text(material.effect),
                "alpha": round(float(material.alpha), 4),
                "alpha_blend": bool(material.blend),
                "properties": {entry.label: _shown(entry) for entry in material.properties},
            }
            for material in found.materials
        ],
        "trailing_bytes": len(found.trailing),
    }


def _shown(entry: Property) -> Any:
    if entry.kind is Kind.TEXTURE:
        return entry.texture
    numbers = [round(float(number), 4) for number in entry.numbers]
    if entry.kind is Kind.INTEGER:
        return int(entry.numbers[0])
    return numbers[0] if len(numbers) == 1 else numbers or None
