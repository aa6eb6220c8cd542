# SPDX-License-Identifier: GPL-3.0-or-later
"""What is fuzzed: every reader, with sound files of its format to start from. A new format is a new entry here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from addon.io_carnivores.formats import ani as mobile_ani
from addon.io_carnivores.formats import car, cat, crt, model_3df, model_3dn, pkm, sound_data, tga, vtl
from addon.io_common.formats import registry
from addon.io_common.formats.errors import UserError
from addon.io_dragonnest.formats import (
    actors,
    ani,
    anim,
    check_character,
    checks,
    dnt,
    hierarchy,
    msh,
    pak,
    pak_check,
    pak_pieces,
    pak_search,
    pose,
    rig,
    skn,
    submesh,
    table,
    table_check,
    table_csv,
    table_diff,
    table_jsonl,
    table_text,
)

from tests import archives, dragons, hostile_characters, models, tables

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
    _Entry("Carnivores CAR character", ".car", car.sniff),
    _Entry("Carnivores VTL animation", ".vtl", vtl.sniff),
    _Entry("Carnivores ANI mobile animation", ".ani", mobile_ani.sniff),
    _Entry("Carnivores CAT mobile character", ".cat", cat.sniff),
    _Entry("Dragon Nest MSH model", ".msh", msh.sniff),
    _Entry("Dragon Nest SKN material file", ".skn", skn.sniff),
    _Entry("Dragon Nest ANI animation", ".ani", ani.sniff),
    _Entry("Dragon Nest ANIM dump", ".anim", anim.sniff),
    _Entry("Dragon Nest PAK archive", ".pak", pak.sniff),
    _Entry("Dragon Nest DNT table", ".dnt", dnt.sniff_dnt),
    _Entry("Dragon Nest EXT table", ".ext", dnt.sniff_ext),
)


def readers(samples: Path | None = None) -> list[Reader]:
    """All readers; real files below `samples` are added to the files made here."""
    found = [
        Reader("model_3df", model_3df.read, [model_3df.write(model) for model in _models()], model_3df.write),
        Reader("model_3dn", model_3dn.read, [model_3dn.write(models.as_mobile(m)) for m in _models()], model_3dn.write),
        Reader("summary_3df", _described_3df, [model_3df.write(model) for model in _models()]),
        Reader("summary_3dn", _described_3dn, [model_3dn.write(models.as_mobile(model)) for model in _models()]),
        Reader("car", car.read, _cars(), car.write),
        Reader("vtl", vtl.read, _vtls(), vtl.write),
        Reader("mobile_ani", mobile_ani.read, _mobile_anis(), mobile_ani.write),
        Reader("cat", cat.read, _cats(), cat.write),
        Reader("summary_car", _described_car, _cars()),
        Reader("summary_vtl", _described_vtl, _vtls()),
        Reader("changed_cat", _changed_cat, _cats()),
        Reader("sound_wav", _converted, _sounds()),
        Reader("tga", tga.read, _tga()),
        Reader("crt", crt.read, _crt(), crt.write),
        Reader("pkm", pkm.read, _pkm()),
        Reader("msh", msh.read, _msh(), msh.write),
        Reader("skn", skn.read, _skn(), skn.write),
        Reader("ani", ani.read, _ani(), ani.write),
        Reader("anim", anim.read, [anim.write(dragons.dump())], anim.write),
        Reader("pak", pak.read, _paks(), pak_pieces.write),
        Reader("described_pak", _described_pak, _paks()),
        Reader("dnt", dnt.read_dnt, _tables(table.DNT), dnt.write),
        Reader("ext", dnt.read_ext, _tables(table.EXT), dnt.write),
        Reader("described_dnt", _described_dnt, _tables(table.DNT)),
        Reader("described_ext", _described_ext, _tables(table.EXT)),
        Reader("table_csv", _by_csv, _csvs()),
        Reader("table_jsonl", _by_jsonl, _jsonls()),
        Reader("actors", _actors, [dnt.write(tables.actors(numbers=numbers)) for numbers in (False, True)]),
        Reader("described_msh", _described_msh, _msh()),
        Reader("described_skn", _described_skn, _skn()),
        Reader("described_ani", _described_ani, _ani()),
        Reader("described_anim", _described_anim, [anim.write(dragons.dump())]),
        Reader(
            "identify",
            _identify,
            [
                *(*_tga(), *_crt(), *_cars(), *_cats(), *_msh()[:1], *_ani()),
                *(model_3df.write(model) for model in _models()),
                b"text " * 30,
            ],
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


def _cars() -> list[bytes]:
    names = ("as made", "none, one, two frames", "no animations", "a short table", "empty sounds", "one vertex")
    return [car.write(hostile_characters.odd(name)) for name in names]


def _vtls() -> list[bytes]:
    animation = hostile_characters.odd("as made").animations[2]
    few = hostile_characters.odd("one vertex").animations[0]
    return [vtl.write(vtl.Vtl(entry, last_index)) for entry in (animation, few) for last_index in (False, True)]


def _mobile_anis() -> list[bytes]:
    return [mobile_ani.write(vtl.read(data).animation) for data in _vtls()]


def _cats() -> list[bytes]:
    animations = [cat.CatAnimation("worm_walk", 0), cat.CatAnimation("worm_idle")]
    text = cat.write(cat.Cat("Worm", "worm.3dn", animations, ["roar", "hush"]))
    return [text, b"\xef\xbb\xbf" + text.replace(b"\r", b""), text.replace(b"\r\n\r\n", b"\r\n# words\r\n// more\r\n")]


def _sounds() -> list[bytes]:
    """PCM, floats, ADPCM of the same samples."""
    pcm = sound_data.wav(bytes(range(200)))
    head = np.frombuffer(pcm[:44], np.uint8).copy()
    made = [pcm]
    for form, channels, block, bits in ((3, 1, 4, 32), (0x11, 1, 36, 4), (0x11, 2, 72, 4), (1, 2, 6, 24), (1, 1, 1, 8)):
        head[20], head[22], head[32], head[34] = form, channels, block, bits
        made.append(head.tobytes() + pcm[44:])
    return made


def _described_car(data: bytes) -> object:
    """Everything else of the formats floor that takes such a file, but for the search for bones."""
    from addon.io_carnivores.formats import check_character

    found = car.read(data)
    sniffed = car.sniff(data[: registry.HEAD], len(data))
    return car.summary(found), car.sections(data), check_character.check(found, "C2"), sniffed


def _described_vtl(data: bytes) -> object:
    found = vtl.read(data)
    return vtl.summary(found), vtl.sections(data), vtl.sniff(data[: registry.HEAD], len(data))


def _changed_cat(data: bytes) -> object:
    """A text that is written anew says the same, in characters that such a text can hold."""
    found = cat.read(data)
    animations = [cat.CatAnimation(cat.plain(entry.file), entry.sound) for entry in found.animations]
    wanted = cat.Cat(cat.plain(found.title), cat.plain(found.model), animations, [cat.plain(x) for x in found.sounds])
    anew = cat.read(cat.write(cat.Cat(found.title, found.model, found.animations, found.sounds)))
    if anew != wanted:
        message = f"{anew} instead of {wanted}"
        raise AssertionError(message)
    return anew


def _converted(data: bytes) -> object:
    return sound_data.exact(data), sound_data.convert(*sound_data.decode(data))


def _msh() -> list[bytes]:
    rng = np.random.default_rng(models.SEED)
    return [
        *(msh.write(dragons.model(version)) for version in msh.VERSIONS),
        *(msh.write(dragons.arbitrary_msh(rng, version)) for version in msh.VERSIONS),
    ]


def _skn() -> list[bytes]:
    return [skn.write(dragons.materials(version, 1, 2)) for version in skn.VERSIONS]


def _ani() -> list[bytes]:
    found = [ani.write(dragons.animation(version, frames=3)) for version in ani.VERSIONS]
    return [*found, b"first.ani\r\nsecond.ani\r\n"]


def _paks() -> list[bytes]:
    items = [*archives.plain(5), archives.deleted("\\gone"), archives.Item("\\twice"), archives.Item("\\twice", b"2")]
    return [*(archives.make(items, version=version) for version in pak.VERSIONS), archives.make([], tail=b"tail")]


def _tables(form: str) -> list[bytes]:
    return [dnt.write(made) for made in (tables.mixed(form), tables.table([], [], [(1,), (1,)], form))]


def _described_dnt(data: bytes) -> object:
    """Everything else of the formats floor that takes such a file; by CSV and JSON lines it comes back."""
    return _described_table(data, dnt.read_dnt(data)), dnt.sections_dnt(data), dnt.sniff_dnt(data[:1024], len(data))


def _described_ext(data: bytes) -> object:
    return _described_table(data, dnt.read_ext(data)), dnt.sections_ext(data), dnt.sniff_ext(data[:1024], len(data))


def _described_table(data: bytes, found: table.Table) -> object:
    for name, way in table_text.WAYS.items():
        if way(found) != data:
            raise AssertionError(name)
    if table_diff.compare(found, found):
        raise AssertionError
    return table_check.summary(found), table_check.check(found)


def _csvs() -> list[bytes]:
    made = tables.mixed()
    return [table_csv.write(made, bom=True), table_csv.write(made, "utf-8", plain=True).replace(b",", b";")]


def _jsonls() -> list[bytes]:
    twice = tables.table(["_A", "_A"], [3, 1], [(1, 2, b"x")])
    return [table_jsonl.write(tables.mixed(table.EXT)), table_jsonl.write(twice)]


def _by_csv(data: bytes) -> object:
    """A table that a text says is said again by the text that it becomes."""
    found = table_csv.read(data)
    if dnt.write(table_csv.read(table_csv.write(found))) != dnt.write(found):
        raise AssertionError
    return found


def _by_jsonl(data: bytes) -> object:
    found = table_jsonl.read(data)
    if dnt.write(table_jsonl.read(table_jsonl.write(found))) != dnt.write(found):
        raise AssertionError
    return found


def _actors(data: bytes) -> object:
    found = actors.read(data, dnt.write(tables.file_names()))
    return actors.search(found, "a"), actors.needs_file_names(found), actors.names_files_of(found, data)


def _described_pak(data: bytes) -> object:
    """Everything else of the formats floor that takes an archive; each entry is whole or refused."""
    found = pak.read(data)
    contents: list[bytes | None] = []
    for number in range(len(found)):
        try:
            contents.append(found.read(number, 1 << 20))
            pieces = b"".join(found.stream(number, 100))
        except UserError:
            continue
        if pieces != contents[-1]:
            message = f"entry {number} is not the same in pieces"
            raise AssertionError(message)
    search = pak_search.NameIndex(found.keys).search("*f* e")
    return pak_check.summary(found), pak_check.check(found), pak_pieces.sections(found), contents, search


def _described_msh(data: bytes) -> object:
    """Everything else of the formats floor that takes such a file."""
    found = msh.read(data)
    binds, _flat = rig.binds(found.bones["inverse_bind"])
    guess = hierarchy.inferred(found.bone_names, binds[:, 3, :3])
    parts = rig.decomposed(binds)
    skins = pose.skin_matrices(found, pose.world_matrices(parts, parts.rigid()))[None]
    moved = [pose.skinned(found, part, skins) for part in found.submeshes if len(found.bones)]
    clean = [submesh.influences(part) for part in found.submeshes]
    return msh.summary(found), msh.sections(data), checks.check_msh(found), guess, moved, clean


def _described_skn(data: bytes) -> object:
    found = skn.read(data)
    return skn.summary(found), skn.sections(data), check_character.check_skn(found)


def _described_ani(data: bytes) -> object:
    found = ani.read(data)
    if isinstance(found, ani.Ani):
        for clip in range(min(len(found.clip_names), 3)):
            pose.clip_world(found, clip, [0.0, 1.5])
    return ani.summary(found), ani.sections(data), check_character.check_ani(found)


def _described_anim(data: bytes) -> object:
    found = anim.read(data)
    pose.clip_world(anim.to_ani(found, "clip"), 0, [0.0, 1.5])
    return anim.summary(found), anim.sections(data), check_character.check_ani(found)


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
