# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged and foreign files: read correctly, or refused in one sentence, at little cost."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_carnivores.formats import ani, car, cat, model_3df, model_3dn, vtl
from addon.io_common.formats import files, registry
from addon.io_common.formats.errors import FileAccessError, FormatError, UserError

from tests import hostile, hostile_characters, models

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

READERS = {".3df": model_3df, ".3dn": model_3dn, ".car": car, ".vtl": vtl, ".ani": ani, ".cat": cat}
CASES = [*hostile.cases(), *hostile_characters.cases()]


class Entry:
    """What `registry.require` needs of an entry, without the scene floor that the real ones bring along."""

    def __init__(self, label: str, extension: str, codec: ModuleType) -> None:
        self.label = label
        self.extensions = (extension,)
        self.sniff = codec.sniff


ENTRIES = (
    Entry("Carnivores 3DF model", ".3df", model_3df),
    Entry("Carnivores 3DN mobile model", ".3dn", model_3dn),
    Entry("Carnivores CAR character", ".car", car),
    Entry("Carnivores VTL animation", ".vtl", vtl),
    Entry("Carnivores ANI mobile animation", ".ani", ani),
    Entry("Carnivores CAT mobile character", ".cat", cat),
)


def read_as_imported(path: Path) -> object:
    """The way of a file up to the model, as the importer goes it."""
    data = files.read_file(path)
    entry = next(entry for entry in ENTRIES if path.suffix in entry.extensions)
    try:
        registry.require(entry, data, path, ENTRIES)
        return READERS[path.suffix].read(data)
    except UserError as error:
        raise error.at(path) from error


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_refused_in_one_sentence(case: hostile.Case, tmp_path: Path) -> None:
    """The sentence names the file and says what is wrong with it."""
    path = tmp_path / f"some model{case.suffix}"
    path.write_bytes(case.data)
    with pytest.raises(FormatError) as caught:
        read_as_imported(path)
    text = str(caught.value)
    assert hostile.is_sentence(text), text
    assert text.startswith(f"{path.name}: "), text
    assert case.words in text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_any_reader_refuses_it_by_itself(case: hostile.Case) -> None:
    """Content sniffing is no precondition of the readers: scripts call them directly."""
    with pytest.raises(FormatError) as caught:
        READERS[case.suffix].read(case.data)
    assert hostile.is_sentence(str(caught.value))


@pytest.mark.parametrize("name", ["missing.3df", "folder", "x" * 300 + ".3df", "nul\0.3df", "no/such/folder.3df"])
def test_what_is_no_file(name: str, tmp_path: Path) -> None:
    """Missing, a folder, a name no file system takes."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileAccessError) as caught:
        files.read_file(tmp_path / name)
    assert hostile.is_sentence(str(caught.value)), str(caught.value)


@pytest.mark.parametrize("kind", ["3df", "3dn"])
def test_truncated_at_every_byte(kind: str) -> None:
    """A 3DF that ends right before its texture is known and read; nothing else that is cut off is."""
    codec = models.CODECS[kind]
    model = models.small()
    sound = codec.write(model if kind == "3df" else models.as_mobile(model))
    whole = len(sound) - (model.texture_bytes if kind == "3df" else 0)
    for size in range(len(sound)):
        if size == whole:
            assert codec.write(codec.read(sound[:size])) == sound[:size]
            continue
        with pytest.raises(FormatError) as caught:
            codec.read(sound[:size])
        assert hostile.is_sentence(str(caught.value))
        assert caught.value.offset is not None
        assert caught.value.offset <= size


@pytest.mark.parametrize("kind", ["3df", "3dn"])
def test_every_byte_changed(kind: str) -> None:
    """Either the change is in the model, and comes out again, or the file is refused."""
    codec = models.CODECS[kind]
    model = models.small()
    model.texels = model.texels[:0]
    sound = codec.write(model if kind == "3df" else models.as_mobile(model))
    accepted = 0
    refused: list[tuple[int, str]] = []
    for offset, data in models.changed_bytes(
        sound, lambda old: [0, 1, 0x7F, 0x80, 0xFF, *(old ^ 1 << bit for bit in range(8))]
    ):
        try:
            found = codec.read(data)
        except FormatError as error:
            refused.append((offset, str(error)))
            continue
        accepted += 1
        assert codec.write(found) == data, offset
    assert accepted > len(sound) * 5
    assert refused
    assert [entry for entry in refused if not hostile.is_sentence(entry[1])] == []


@pytest.mark.parametrize(("kind", "number"), [("3df", 15), ("3dn", 15), ("car", 35), ("vtl", 12), ("ani", 12)])
def test_a_lying_count_costs_no_memory(kind: str, number: int) -> None:
    """Counts are compared with the bytes there are before anything is allocated for them."""
    codec = READERS[f".{kind}"]
    lies = [case.data for case in CASES if case.suffix == f".{kind}" and "count" in case.id]
    assert len(lies) == number
    tracemalloc.start()
    try:
        for data in lies:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            with pytest.raises(FormatError):
                codec.read(data)
            assert tracemalloc.get_traced_memory()[1] - before < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["3df", "3dn"])
def test_a_large_model_costs_a_small_multiple_of_its_file(kind: str) -> None:
    """The bound is 64 MiB and 20 times the file; reading alone stays far below."""
    codec = models.CODECS[kind]
    model = models.surface(20_000, bones=10)
    data = codec.write(model if kind == "3df" else models.as_mobile(model))
    tracemalloc.start()
    try:
        codec.read(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(data)


@pytest.mark.parametrize("size", [1, 2, 3, 511, 513, 1023])
def test_a_texture_that_is_no_whole_number_of_rows(size: int) -> None:
    """The last, incomplete row is kept as bytes."""
    model = models.small()
    model.texels = np.zeros((size // 512, 256), "<u2")
    model.texture_rest = bytes(range(256)) * 2
    model.texture_rest = model.texture_rest[: size % 512]
    data = model_3df.write(model)
    found = model_3df.read(data)
    assert found.texture_bytes == size
    assert found == model
    assert model_3df.write(found) == data


def test_texels_promised_but_cut_off() -> None:
    """A file that ends right before its texture keeps the promise of its header."""
    model = models.small()
    data = model_3df.write(model)[: -model.texture_bytes]
    found = model_3df.read(data)
    assert found.texture_missing == 512
    assert model_3df.write(found) == data
