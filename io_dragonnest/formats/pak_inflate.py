# SPDX-License-Identifier: GPL-3.0-or-later
"""Inflating one payload of an archive: a zlib stream that is trusted in nothing.

Never more is inflated than the index states, and a stream that ends early, late or never is noticed: archives carry no
checksums of their own (the field for them is always 0), but zlib's stands at the end of each stream.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from ...io_common.formats.errors import FormatError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

ENCRYPTED = "this client's archives are encrypted; not supported"
# Every payload of the retail archives of about 2023 and later starts with these bytes.
_MARK = bytes.fromhex("51f81a804a73307365e4a652c6ac6256")
# Bytes of a payload that are looked at in one go while it is streamed.
_STEP = 1 << 18


def is_zlib(payload: memoryview | bytes) -> bool:
    """Whether a payload starts as zlib data does (RFC 1950: method 8, window up to 32 KiB, check bits, no dictionary).

    Of random bytes one in a thousand does.
    """
    if len(payload) < 2:
        return False
    first, second = payload[0], payload[1]
    return first & 0x0F == 8 and first >> 4 <= 7 and (first << 8 | second) % 31 == 0 and not second & 0x20


def is_encrypted(payload: memoryview | bytes) -> bool:
    """Whether a payload starts as those of the encrypted archives do."""
    return bytes(payload[: len(_MARK)]) == _MARK


def require_zlib(payload: memoryview, what: str, offset: int) -> None:
    """Refuse a payload that is no zlib stream; `what` names the entry, `offset` is where it starts."""
    if is_zlib(payload):
        return
    start = " ".join(f"{byte:02X}" for byte in payload[:4])
    if is_encrypted(payload):
        raise UnsupportedError(f"{what}: {ENCRYPTED}", offset=offset)
    raise UnsupportedError(
        f"{what} is not compressed as game files are: it is encrypted, which is not supported, or damaged",
        offset=offset,
        expected="the start of zlib data",
        found=start or "nothing",
    )


def inflate(payload: memoryview, original: int, what: str, offset: int) -> bytes:
    """The `original` bytes that `payload` inflates to. Raises `FormatError` if it inflates to anything else."""
    require_zlib(payload, what, offset)
    decoder = zlib.decompressobj()
    try:
        # One byte more than there should be shows whether there are more, and lets zlib see the end of the stream.
        data = decoder.decompress(payload, original + 1)
    except zlib.error as error:
        raise _broken(error, what, offset) from error
    _require_whole(len(data), original, what, offset, ended=decoder.eof)
    return data


def pieces(payload: memoryview, original: int, what: str, offset: int, most: int) -> Iterator[bytes]:
    """As `inflate`, in pieces of at most `most` bytes; what is wrong is raised where it is met."""
    require_zlib(payload, what, offset)
    decoder = zlib.decompressobj()
    total = 0
    start = 0
    rest: bytes | memoryview = b""
    while not decoder.eof:
        if not rest and start < len(payload):
            rest = payload[start : start + _STEP]
            start += _STEP
        try:
            data = decoder.decompress(rest, min(most, original + 1 - total))
        except zlib.error as error:
            raise _broken(error, what, offset) from error
        total += len(data)
        exhausted = not data and not decoder.unconsumed_tail and start >= len(payload)
        if total > original or exhausted:
            break
        rest = decoder.unconsumed_tail
        if data:
            yield data
    _require_whole(total, original, what, offset, ended=decoder.eof)


def _broken(error: zlib.error, what: str, offset: int) -> FormatError:
    reason = str(error).rpartition(": ")[2]
    return FormatError(f"{what} is damaged ({reason})", offset=offset, expected="a sound zlib stream")


def _require_whole(size: int, original: int, what: str, offset: int, *, ended: bool) -> None:
    if size > original:
        raise FormatError(f"{what} inflates to more than the {original} bytes that the index states", offset=offset)
    if size < original or not ended:
        raise FormatError(
            f"{what} ends early: its stream is cut off or the index is wrong",
            offset=offset,
            expected=f"{original} bytes and the end of the stream",
            found=f"{size} bytes" + ("" if ended else " without an end"),
        )
