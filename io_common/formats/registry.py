# SPDX-License-Identifier: GPL-3.0-or-later
"""The format registry: one entry per file format, from which menus, drop handler and command line are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .errors import UnknownFormatError
from .options import NoOptions

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from .fields import Section
    from .issues import Issue


@dataclass(frozen=True)
class Lazy:
    """How files are read that may be larger than memory: as models whose content stays on the disk.

    `open(path)` is a context manager of what `read` would return; `pieces(model)` yields what `write(model)` returns in
    small parts, and reads through all of the content, so that damage is raised; `sections(model)` is as in `Format`.
    """

    open: Callable[[Path], contextlib.AbstractContextManager[Any]]
    pieces: Callable[[Any], Iterator[bytes]]
    sections: Callable[[Any], list[Section]]


@dataclass(frozen=True)
class Format:
    """One file format, from its bytes to its Blender options.

    The formats floor: `sniff(head, size)` tells from the first `HEAD` bytes and the file size whether the content can
    be this format; `read(data)` and `write(model)` are inverse; `sections(data)` names the byte ranges;
    `summary(model)` is what `info` prints; `check(model, game)` lists what a game would trip over; `companions(model,
    path, options, digest)` reads the files that lie beside the model, before any data-block is made.

    The scene floor (None where a format has no place in a scene): `build(context, model, path, options, digest)`
    returns the objects made; `gather(context, options)` returns the groups of objects that make one file each, with
    their names, where that is not every object by itself; `extract(context, objects, options, digest, path)` returns
    the model to be written to `path`; `finish(model, path)` returns files that go beside it, path -> bytes;
    `rebake(context, objects, model)` bakes all motion of an import anew and says how near it comes to `model`;
    `guard(context)` surrounds `build` where that changes what is there, and takes that back when anything is raised.

    `games` are (value, label) pairs of the games that `check` knows limits of. Where there is a `lazy`, the command
    line never reads a file whole.

    `brings(model, path)` lists the files that an import of `path` takes in with it, as far as they are there: who drops
    them together means each once.

    `ways` are further ways that `verify` goes with what has no place in a scene: name -> the bytes that a model becomes
    by way of it, which have to be those of `write`.
    """

    id: str
    label: str
    extensions: tuple[str, ...]
    sniff: Callable[[bytes, int], bool]
    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    sections: Callable[[bytes], list[Section]]
    summary: Callable[[Any], dict[str, Any]]
    check: Callable[[Any, str], list[Issue]]
    import_options: type = NoOptions
    export_options: type = NoOptions
    build: Callable[..., list[Any]] | None = None
    extract: Callable[..., Any] | None = None
    companions: Callable[..., Any] | None = None
    gather: Callable[..., list[Any]] | None = None
    finish: Callable[..., dict[Path, bytes]] | None = None
    rebake: Callable[..., dict[str, Any]] | None = None
    guard: Callable[..., contextlib.AbstractContextManager[None]] | None = None
    games: tuple[tuple[str, str], ...] = ()
    lazy: Lazy | None = None
    brings: Callable[[Any, Path], list[Path]] | None = None
    ways: Mapping[str, Callable[[Any], bytes]] = field(default_factory=dict)


# What `sniff` is given of a file.
HEAD = 1024
_UNKNOWN = "no format that is known here"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"BM", "a BMP picture"),
    (b"DDS ", "a DDS texture"),
    (b"PKM ", "a PKM texture"),
    (b"RIFF", "a WAV sound or AVI film"),
    (b"OggS", "an Ogg sound"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BLENDER", "a Blender file"),
    (b"\x28\xb5\x2f\xfd", "a compressed Blender file"),
    (b"Kaydara FBX", "an FBX model"),
    (b"glTF", "a glTF model"),
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a Linux program"),
    (b"%PDF", "a PDF document"),
    (b"Kiev", "an Animator or Vivisector 3DF model, another format that only shares the file extension"),
    (b"EyedentityGames Packing File", "a Dragon Nest PAK archive"),
    (b"Eternity Engine Mesh File", "a Dragon Nest MSH model"),
    (b"Eternity Engine Skin File", "a Dragon Nest SKN material file"),
    (b"Eternity Engine Ani File", "a Dragon Nest ANI animation"),
)

# Tags inside the name block that Carnivores CAR files start with: of the original tool and of those that followed.
_CAR_TAGS = (b"msc: ", b"C3DIT", b"cmm:1337")


def looks_like(head: bytes, size: int, formats: Iterable[Format] = ()) -> str:
    """What a file with this `head` and `size` (bytes) seems to be, as a noun phrase."""
    if size == 0:
        return "an empty file"
    for signature, phrase in _SIGNATURES:
        if head.startswith(signature):
            return phrase
    if any(tag in head[20:32] for tag in _CAR_TAGS):
        return "a Carnivores CAR character"
    if not head.strip(b"\0"):
        return "a file of zeros"
    if _is_text(head):
        return "a text file"
    return next((f"a {entry.label}" for entry in formats if entry.sniff(head, size)), _UNKNOWN)


def _is_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    # Texts in other alphabets have spaces, line ends and stops, too, or are UTF-8.
    plain = sum(byte < 0x80 for byte in head)
    if plain < 0.1 * len(head) and len(head.decode(errors="ignore").encode()) < 0.9 * len(head):
        return False
    printable = sum(byte >= 32 or byte in b"\t\r\n\f" for byte in head)
    return printable >= 0.97 * len(head)


def identify(data: bytes, path: Path, formats: Sequence[Format], size: int | None = None) -> Format:
    """The entry whose content this is; those with the extension of `path` are asked first.

    `data` may be the first `HEAD` bytes alone if `size` says how many there are in all. Raises `UnknownFormatError`
    with a sentence that says what the file looks like.
    """
    head = data[:HEAD]
    size = len(data) if size is None else size
    suffix = path.suffix.lower()
    ordered = sorted(formats, key=lambda entry: suffix not in entry.extensions)
    for entry in ordered:
        if entry.sniff(head, size):
            return entry
    named = [entry for entry in ordered if suffix in entry.extensions]
    if named and looks_like(head, size) in (_UNKNOWN, f"a {named[0].label}"):
        # The extension is the only claim left: its reader says in detail what is wrong, and where.
        return named[0]
    raise UnknownFormatError(
        "this cannot be imported",
        expected=" or ".join(f"a {entry.label}" for entry in named) or "a file of a supported format",
        found=looks_like(head, size, formats),
        path=path,
    )


def require(entry: Format, data: bytes, path: Path, formats: Sequence[Format]) -> None:
    """Refuse content that is plainly something else than `entry` reads; doubtful content is left to its reader.

    So is a damaged file that can still be told for one of `entry`: the reader knows what is wrong with it, and where.
    """
    head = data[:HEAD]
    if entry.sniff(head, len(data)):
        return
    found = looks_like(head, len(data), [other for other in formats if other is not entry])
    if found not in (_UNKNOWN, f"a {entry.label}"):
        raise UnknownFormatError("this is another kind of file", expected=f"a {entry.label}", found=found, path=path)
