# SPDX-License-Identifier: GPL-3.0-or-later
"""What is fuzzed: every reader, with sound files of its format to start from. A new format is a new entry here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from addon.io_carnivores.formats import crt, model_3df, model_3dn, pkm, tga
from addon.io_common.formats import registry

from tests import models

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_SAMPLE = 200_000  # bytes; larger ones only slow the search down


@dataclass(frozen=True)
class Reader:
    """`read(data)` is called; with `write`, `write(read(data)) == data` must hold wherever `read` returns."""

    name: str
    read: Callable[[bytes], Any]
    seeds: list[bytes]
    write: Callable[[Any], bytes] | None = None


class _Entry:
    """What sniffing needs of a registry entry; the real ones import the scene floor."""

    def __init__(self, label: str, extension: str, sniff: Callable[[bytes, int], bool]) -> None:
        self.label = label
        self.extensions = (extension,)
        self.sniff = sniff


ENTRIES: Sequence[Any] = (
    _Entry("Carnivores 3DF model", ".3df", model_3df.sniff),
    _Entry("Carnivores 3DN mobile model", ".3dn", model_3dn.sniff),
)


def readers(samples: Path | None = None) -> list[Reader]:
    """All readers; real files below `samples` are added to the files made here."""
    found = [
        Reader("model_3df", model_3df.read, [model_3df.write(model) for model in _models()], model_3df.write),
        Reader("model_3dn", model_3dn.read, [model_3dn.write(models.as_mobile(m)) for m in _models()], model_3dn.write),
        Reader("summary_3df", _described_3df, [model_3df.write(model) for model in _models()]),
        Reader("summary_3dn", _described_3dn, [model_3dn.write(models.as_mobile(model)) for model in _models()]),
        Reader("tga", tga.read, _tga()),
        Reader("crt", crt.read, _crt(), crt.write),
        Reader("pkm", pkm.read, _pkm()),
        Reader(
            "identify", _identify, [*_tga(), *_crt(), *(model_3df.write(model) for model in _models()), b"text " * 30]
        ),
    ]
    if samples is not None:
        for reader in found:
            suffix = f".{reader.name.rpartition('_')[2]}"
            files = sorted(path for path in samples.rglob("*") if path.suffix.lower() == suffix)
            reader.seeds.extend(path.read_bytes() for path in files if path.stat().st_size <= _MOST_SAMPLE)
    return found


def _models() -> list[Any]:
    rng = np.random.default_rng(models.SEED)
    return [
        models.small(),
        models.surface(30, bones=4, rows=2),
        *(models.arbitrary(rng, mobile=True) for _ in range(4)),
    ]


def _described_3df(data: bytes) -> object:
    """Everything else of the formats floor that takes such a file."""
    from addon.io_carnivores.formats.model import summary

    found = model_3df.read(data)
    return summary(found), model_3df.sections(data), model_3df.sniff(data[: registry.HEAD], len(data))


def _described_3dn(data: bytes) -> object:
    from addon.io_carnivores.formats.model import summary

    found = model_3dn.read(data)
    return summary(found), model_3dn.sections(data), model_3dn.texture_label(found)


def _identify(data: bytes) -> object:
    return registry.identify(data, Path("file.3df"), ENTRIES)


def _picture(rows: int, columns: int) -> Any:
    rng = np.random.default_rng(models.SEED)
    picture = rng.integers(0, 256, (rows, columns, 4)).astype(np.uint8)
    picture[:, : columns // 2] = picture[0, 0]
    return picture


def _tga() -> list[bytes]:
    """True colour of 24 and 32 bits, 16 bits, run-length coded, colour mapped, grey."""
    opaque = _picture(5, 8)
    opaque[..., 3] = 255
    head = np.zeros(18, np.uint8)
    head[2], head[12], head[14], head[16] = 10, 8, 4, 24
    runs = head.tobytes() + (b"\x87\x01\x02\x03" * 2 + b"\x07" + bytes(range(24))) + b"\x87\x09\x08\x07"
    head[2], head[16], head[17] = 2, 16, 0x20
    words = head.tobytes() + bytes(range(64))
    head[1], head[2], head[5], head[7], head[16] = 1, 1, 4, 24, 8
    mapped = head.tobytes() + bytes(range(12)) + bytes([0, 1, 2, 3] * 8)
    head[1], head[2], head[5], head[7] = 0, 3, 0, 0
    return [tga.write(_picture(4, 8)), tga.write(opaque), runs, words, mapped, head.tobytes() + bytes(range(32))]


def _crt() -> list[bytes]:
    opaque = _picture(3, 4)
    opaque[..., 3] = 255
    packed = np.array([32, 32], "<u2").tobytes() + b"\xa0" + np.uint32(16).tobytes() + bytes(16)
    return [crt.write(crt.Crt(_picture(4, 4), 32)), crt.write(crt.Crt(opaque, 24)), packed]


def _pkm() -> list[bytes]:
    rng = np.random.default_rng(models.SEED)
    sizes = np.array([8, 8, 6, 7], ">u2").tobytes()
    return [b"PKM 10\0\0" + sizes + rng.integers(0, 256, 32).astype(np.uint8).tobytes()]
