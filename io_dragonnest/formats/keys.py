# SPDX-License-Identifier: GPL-3.0-or-later
"""Key frames of one bone in one clip: the animation record that ANI and .anim share.

Up to version 10 a key has an i32 frame and floats; from 11 on an i16 frame, and rotations of four i16 where 32767 is
one. Each count stands right before its keys.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...io_common.formats.errors import ExportError, FormatError
from ...io_common.formats.fields import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...io_common.formats.reader import Reader

VECTOR_10 = np.dtype([("frame", "<i4"), ("value", "<f4", 3)])
ROTATION_10 = np.dtype([("frame", "<i4"), ("value", "<f4", 4)])  # x, y, z, w
VECTOR_11 = np.dtype([("frame", "<i2"), ("value", "<f4", 3)])
ROTATION_11 = np.dtype([("frame", "<i2"), ("value", "<i2", 4)])
BASE = np.dtype([("position", "<f4", 3), ("rotation", "<f4", 4), ("scale", "<f4", 3)])
SHORT_FROM = 11
ONE = 32767  # of a quantised rotation
LEAST = BASE.itemsize + 12  # bytes of a record without keys
_LAST_FRAME = 0x7FFF


def layout(version: int) -> tuple[np.dtype[Any], np.dtype[Any], np.dtype[Any]]:
    """The dtypes of position, rotation and scale keys."""
    return (VECTOR_11, ROTATION_11, VECTOR_11) if version >= SHORT_FROM else (VECTOR_10, ROTATION_10, VECTOR_10)


def _base() -> npt.NDArray[Any]:
    base = np.zeros(1, BASE)
    base["rotation"][:, 3] = 1.0
    base["scale"] = 1.0
    return base


@dataclass(eq=False)
class Record:
    """What one bone does in one clip. Keys are (n,) arrays of one of the key dtypes, as stored, maybe read-only.

    `base` (1,) of `BASE` holds where a track has no keys; in real files it is the bind pose. An empty track means the
    base, one key a constant; keys may be unsorted. `frames` and `values` read a track whatever its dtype.
    """

    base: npt.NDArray[Any] = field(default_factory=_base)
    positions: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, VECTOR_11))
    rotations: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, ROTATION_11))
    scales: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, VECTOR_11))

    @property
    def tracks(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Position, rotation and scale keys, in the order of the file."""
        return self.positions, self.rotations, self.scales

    @property
    def base_position(self) -> npt.NDArray[np.float32]:
        """(3,) f32."""
        value: npt.NDArray[np.float32] = self.base["position"][0]
        return value

    @property
    def base_rotation(self) -> npt.NDArray[np.float32]:
        """(4,) f32: x, y, z, w."""
        value: npt.NDArray[np.float32] = self.base["rotation"][0]
        return value

    @property
    def base_scale(self) -> npt.NDArray[np.float32]:
        """(3,) f32."""
        value: npt.NDArray[np.float32] = self.base["scale"][0]
        return value

    @property
    def last_frame(self) -> int:
        """The highest frame of any key, -1 without keys."""
        return max((int(track["frame"].max()) for track in self.tracks if len(track)), default=-1)


def read(reader: Reader, version: int, what: str) -> Record:
    """The next record; `what` names it. Raises `FormatError` where its counts cannot be right."""
    # Thousands of records make a file: this is the one reader in which the cost of a call counts.
    data, at, end = reader.data, reader.offset, len(reader.data)
    if end - at < LEAST:
        reader.take(LEAST, what)
    base = np.frombuffer(data, BASE, 1, at)
    at += BASE.itemsize
    tracks = []
    for dtype in layout(version):
        if end - at < 4:
            reader.offset = at
            reader.take(4, f"the number of keys of {what}")
        (many,) = struct.unpack_from("<i", data, at)
        size = many * dtype.itemsize
        if many < 0 or size > end - at - 4:
            raise FormatError(
                f"the number of keys of {what} cannot be right",
                offset=at,
                expected=f"0 to {(end - at - 4) // dtype.itemsize}, as many as fit into the file",
                found=str(many),
            )
        tracks.append(np.frombuffer(data, dtype, many, at + 4))
        at += 4 + size
    reader.offset = at
    return Record(base, *tracks)


def parts(record: Record, version: int) -> Iterator[bytes]:
    """The bytes of a record in `version`: the inverse of `read`. Raises `ExportError` for a frame that does not fit."""
    yield record.base.tobytes()
    for track, dtype in zip(record.tracks, layout(version), strict=True):
        yield len(track).to_bytes(4, "little")
        yield (track if track.dtype == dtype else converted(track, dtype)).tobytes()


def converted(track: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Keys as another of the key dtypes. Raises `ExportError` for a frame beyond what 16 bits hold."""
    frame = track["frame"]
    out = np.empty(len(track), dtype)
    if dtype["frame"].itemsize == 2 and len(frame):
        worst = int(max(frame.max(), -int(frame.min()), key=int))
        if worst > _LAST_FRAME:
            raise ExportError(
                f"a key lies at frame {worst}, but ANI 11 holds no frame beyond {_LAST_FRAME}; shorten the clip or "
                "export as ANI 10"
            )
    out["frame"] = frame
    value = track["value"]
    if dtype == ROTATION_11:
        out["value"] = quantised(value)
    else:
        out["value"] = dequantised(value) if value.dtype.kind == "i" else value
    return out


def quantised(rotations: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
    """Quaternions (n, 4) to i16: times 32767, truncated toward zero; what is no number becomes 0."""
    steps = np.trunc(np.nan_to_num(np.asarray(rotations, np.float64)) * ONE)
    return np.clip(steps, -ONE, ONE).astype("<i2")


def dequantised(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """i16 (n, 4) to quaternions; the inverse but for what was cut off, 1 / 32767 at the most."""
    return (values.astype(np.float64) / ONE).astype(np.float32)


def frames(track: npt.NDArray[Any], length: int = 0) -> npt.NDArray[np.int32]:
    """Frame of every key (n,) i32, as stored.

    16-bit frames are signed, but in a clip of more than 32768 frames (`length`) they can only be meant unsigned.
    """
    stored = track["frame"]
    if length > _LAST_FRAME + 1 and stored.dtype.itemsize == 2:
        return stored.astype("<u2").astype(np.int32)
    return stored.astype(np.int32)


def values(track: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Value of every key (n, 3) or (n, 4) f32; rotations x, y, z, w, quantised ones divided by 32767."""
    stored = track["value"]
    return dequantised(stored) if stored.dtype.kind == "i" else stored.astype(np.float32, copy=False)


def vector_keys(version: int, at: npt.ArrayLike, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """New position or scale keys: frames `at` (n,), values (n, 3). Raises `ExportError` as `converted` does."""
    return converted(_wide(VECTOR_10, at, value), layout(version)[0])


def rotation_keys(version: int, at: npt.ArrayLike, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """New rotation keys: frames `at` (n,), unit quaternions (n, 4) in the order x, y, z, w."""
    return converted(_wide(ROTATION_10, at, value), layout(version)[1])


def _wide(dtype: np.dtype[Any], at: npt.ArrayLike, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    track = np.empty(len(value), dtype)
    track["frame"] = at
    track["value"] = value
    return track


def sections(record: Record, name: str, offset: int) -> Iterator[Section]:
    """The byte ranges of a record that starts at `offset`."""
    section = Section(f"{name} base", offset, BASE)
    yield section
    for kind, track in zip(("position", "rotation", "scale"), record.tracks, strict=True):
        section = Section(f"{name} {kind} key count", section.end, np.dtype("<i4"))
        yield section
        section = Section(f"{name} {kind} key", section.end, track.dtype, len(track))
        yield section
