# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives for tests, put together byte by byte: sound ones, odd ones, and hostile ones."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from addon.io_dragonnest.formats.pak import ENTRY

if TYPE_CHECKING:
    from collections.abc import Sequence

MAGIC = b"EyedentityGames Packing File 0.1"
# What every payload of the encrypted archives starts with.
ENCRYPTED = bytes.fromhex("51f81a804a73307365e4a652c6ac6256")


@dataclass
class Item:
    """An entry. `payload` is compressed `content` unless it is given; numbers that are None are the true ones."""

    name: str | bytes
    content: bytes = b""
    payload: bytes | None = None
    stored: int | None = None
    original: int | None = None
    allocated: int | None = None
    offset: int | None = None
    slack: int = 0

    @property
    def raw(self) -> bytes:
        return self.name if isinstance(self.name, bytes) else self.name.encode("cp949")


def header(version: int, count: int, index_offset: int, flag: int = 0) -> bytes:
    numbers = np.array([version, count, index_offset, flag], np.int64).astype("<u4").tobytes()
    return (MAGIC.ljust(256, b"\0") + numbers).ljust(1024, b"\0")


def entry(item: Item, payload: bytes, offset: int) -> bytes:
    record = np.zeros((), ENTRY)
    record["name"] = np.void(item.raw.ljust(256, b"\0")[:256])
    record["stored"] = len(payload) if item.stored is None else item.stored
    record["original"] = len(item.content) if item.original is None else item.original
    record["allocated"] = len(payload) + item.slack if item.allocated is None else item.allocated
    record["offset"] = offset if item.offset is None else item.offset
    return record.tobytes()


def make(items: Sequence[Item], *, version: int = 11, flag: int = 0, tail: bytes = b"") -> bytes:
    """An archive as the game's own tool writes it, apart from what the items say otherwise."""
    body = b""
    index = b""
    for item in items:
        payload = zlib.compress(item.content, 1) if item.payload is None else item.payload
        index += entry(item, payload, 1024 + len(body))
        body += payload + bytes(item.slack)
    place = 1024 + len(body)
    return header(version, len(items), place if version != 10 else 0, flag) + body + index + tail


def deleted(name: str, space: int = 64) -> Item:
    return Item(name, payload=b"", stored=0, original=0, slack=space)


def plain(count: int = 6, seed: int = 5) -> list[Item]:
    """Some entries of every kind of content."""
    rng = np.random.default_rng(seed)
    return [
        Item(
            f"\\resource\\folder{number % 3}\\file{number}.txt",
            rng.integers(0, 256 if number % 2 else 3, 50 * number * number).astype(np.uint8).tobytes(),
        )
        for number in range(count)
    ]
