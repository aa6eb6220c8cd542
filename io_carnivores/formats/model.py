# SPDX-License-Identifier: GPL-3.0-or-later
"""The static Carnivores model: the records that 3DF, 3DN, CAR and RSC objects share.

The dtypes are the documentation of the records; every field of the file is in them, the unused ones too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import FormatError
from ...io_common.formats.reader import require_finite

# 64 bytes. PC files store it as it stands; 3DN packs the same values into 52 bytes.
FACE = np.dtype(
    [
        ("corner", "<u4", 3),  # vertex indices v1 v2 v3; repeated corners and duplicate faces occur
        ("u", "<i4", 3),  # texel column of each corner; 256 and beyond occur
        ("v", "<i4", 3),  # texel row of each corner, from the top; negative and = height occur
        ("flags", "<u2"),
        ("dmask", "<u2"),
        ("distant", "<i4"),  # depth-sort key that the editor's last view left behind
        ("next", "<i4"),  # draw list that the same sort left behind; often stale
        ("group", "<i4"),  # face group of the editor
        ("reserved", "<u4", 3),  # zero in PC files, memory junk in some 3DN
    ]
)
VERTEX = np.dtype(
    [
        ("position", "<f4", 3),
        ("owner", "<i2"),  # bone index; -1 and gaps occur where there is no bone table
        ("hide", "<i2"),  # not meaningless: Carnivores 2 leaves hidden vertices out of collision boxes
    ]
)
BONE = np.dtype(
    [
        ("name", "V32"),  # NUL-terminated; what follows the NUL is junk, and kept
        ("position", "<f4", 3),  # absolute, not relative to the parent
        ("parent", "<i2"),  # -1: none
        ("hide", "<i2"),
    ]
)

TEXTURE_WIDTH = 256
ROW_BYTES = 2 * TEXTURE_WIDTH


def no_faces() -> npt.NDArray[Any]:
    """A (0,) array of `FACE`."""
    return np.zeros(0, FACE)


@dataclass(frozen=True)
class TextureFile:
    """A texture that lies beside the model: either decoded, `picture` (rows, columns, 4) u8, or whole and `encoded`."""

    suffix: str
    picture: npt.NDArray[np.uint8] | None = None
    encoded: bytes = b""


@dataclass
class Model:
    """One static model. `faces`, `vertices`, `bones` are (n,) arrays of `FACE`, `VERTEX`, `BONE`, maybe read-only.

    `texels` is a (rows, 256) array of u16 words (top row first, 5-5-5), (0, 256) when there is no texture inside;
    `texture_rest` the bytes of an incomplete last row; `texture_missing` the size that the header of a 3DF promises
    when the file ends right before the texture. `texture_name` and `sprite_name` are the 32-byte name fields of a 3DN
    and `has_sprite` its raw number; the other formats have none. `texture` is the texture file of a 3DN, when it was
    looked for and found; it is no part of the model's own bytes.
    """

    faces: npt.NDArray[Any] = field(default_factory=no_faces)
    vertices: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, VERTEX))
    bones: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, BONE))
    texels: npt.NDArray[np.uint16] = field(default_factory=lambda: np.zeros((0, TEXTURE_WIDTH), np.dtype("<u2")))
    texture_rest: bytes = b""
    texture_missing: int = 0
    texture_name: bytes = b""
    sprite_name: bytes = b""
    has_sprite: int = 0
    texture: TextureFile | None = None

    @property
    def texture_bytes(self) -> int:
        """The texture size that a header states."""
        return self.texture_missing or self.texels.size * 2 + len(self.texture_rest)

    def __eq__(self, other: object) -> bool:
        """Equal in every byte that a file would hold."""
        if not isinstance(other, Model):
            return NotImplemented
        arrays = ("faces", "vertices", "bones", "texels")
        plain = ("texture_rest", "texture_missing", "texture_name", "sprite_name", "has_sprite")
        return all(_same(getattr(self, name), getattr(other, name)) for name in arrays) and all(
            getattr(self, name) == getattr(other, name) for name in plain
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def raw(table: npt.NDArray[Any]) -> memoryview:
    """The bytes of `table`, without a copy where it is contiguous."""
    return np.ascontiguousarray(table).reshape(-1).view(np.uint8).data


def label(raw: bytes) -> str:
    """The text of a 32-byte name field: up to the NUL, as Windows-1252, which maps nearly every byte."""
    return raw.split(b"\0", 1)[0].decode("cp1252", errors="replace").strip()


def name_field(text: str, size: int = 32) -> bytes:
    """`text` as a NUL-terminated field of `size` bytes; characters outside Windows-1252 become `?`."""
    return text.encode("cp1252", errors="replace")[: size - 1].ljust(size, b"\0")


def bone_names(bones: npt.NDArray[Any]) -> list[str]:
    """The label of every bone, in file order."""
    return [label(bytes(raw)) for raw in bones["name"].tolist()]


@dataclass(frozen=True)
class Offsets:
    """Where the tables of a file start, for error messages; `face_size` is 64 or 52."""

    faces: int
    vertices: int
    bones: int
    face_size: int = FACE.itemsize


def validate(model: Model, at: Offsets) -> None:
    """Refuse what neither a game nor Blender could use: an index without a vertex, a coordinate that is no number."""
    if len(model.faces):
        corner = model.faces["corner"]
        if int(corner.max()) >= len(model.vertices):
            bad, slot = (int(i) for i in np.argwhere(corner >= len(model.vertices))[0])
            raise FormatError(
                f"face {bad} uses a vertex that does not exist",
                offset=at.faces + bad * at.face_size + 4 * slot,
                expected=f"an index below {len(model.vertices)}",
                found=str(int(corner[bad, slot])),
            )
    require_finite(model.vertices["position"], at.vertices, VERTEX.itemsize, "vertex")
    require_finite(model.bones["position"], at.bones, BONE.itemsize, "bone")


def summary(model: Model) -> dict[str, Any]:
    """What `info` prints of a static model."""
    flags, counts = np.unique(model.faces["flags"], return_counts=True)
    positions = model.vertices["position"].astype(np.float64)  # the size of a float32 need not be one
    facts: dict[str, Any] = {
        "vertices": len(model.vertices),
        "faces": len(model.faces),
        "bones": [
            {"name": name, "parent": int(parent)}
            for name, parent in zip(bone_names(model.bones), model.bones["parent"], strict=True)
        ],
        "owners": len(np.unique(model.vertices["owner"])),
        "face_flags": {f"0x{int(flag):04X}": int(count) for flag, count in zip(flags, counts, strict=True)},
        "face_groups": len(np.unique(model.faces["group"])),
        "texture": {"width": TEXTURE_WIDTH, "rows": len(model.texels), "bytes": model.texture_bytes},
        "size": (np.ptp(positions, axis=0) if len(positions) else np.zeros(3)).round(3).tolist(),
    }
    if model.texture_name:
        facts["texture"] = {"name": label(model.texture_name), **_picture_facts(model.texture)}
    if model.has_sprite:
        facts["sprite"] = label(model.sprite_name)
    return facts


def _picture_facts(texture: TextureFile | None) -> dict[str, Any]:
    """What is known of a texture file that was looked for and found."""
    if texture is None:
        return {}
    facts: dict[str, Any] = {"format": texture.suffix.lstrip(".").upper()}
    if texture.picture is not None:
        facts |= {"width": texture.picture.shape[1], "rows": texture.picture.shape[0]}
    return facts
