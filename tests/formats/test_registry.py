# SPDX-License-Identifier: GPL-3.0-or-later
"""Which format a content is, and what is said of content that is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from addon.io_common.formats import registry
from addon.io_common.formats.errors import UnknownFormatError
from addon.io_common.formats.options import NoOptions
from addon.io_common.formats.registry import Format


def entry(name: str, extension: str, mark: bytes) -> Format:
    """A format that is known by its first bytes."""
    return Format(
        id=name,
        label=f"{name} model",
        extensions=(extension,),
        sniff=lambda head, size: head.startswith(mark) and size > len(mark),
        read=bytes,
        write=bytes,
        sections=lambda _data: [],
        summary=lambda _model: {},
        check=lambda _model, _game: [],
    )


RED = entry("red", ".ani", b"\x01R")
BLUE = entry("blue", ".ani", b"\x01B")
ANY = entry("any", ".3df", b"")
BINARY = b"\x01\x02\x03\x80\xff\x00" * 20


def test_a_format_need_not_have_a_place_in_a_scene() -> None:
    assert RED.build is None
    assert RED.extract is None
    assert RED.import_options is RED.export_options is NoOptions
    assert RED.import_options() == NoOptions()


def test_content_decides_between_formats_of_one_extension() -> None:
    assert registry.identify(b"\x01Rest\x00", Path("x.ani"), (RED, BLUE)) is RED
    assert registry.identify(b"\x01Best\x00", Path("x.ANI"), (RED, BLUE)) is BLUE


def test_the_extension_breaks_a_tie() -> None:
    assert registry.identify(b"\x01Rest\x00", Path("x.3df"), (RED, ANY)) is ANY
    assert registry.identify(b"\x01Rest\x00", Path("x.ani"), (ANY, RED)) is RED


def test_a_wrong_extension_does_not_hide_what_it_is() -> None:
    assert registry.identify(b"\x01Best\x00", Path("x.3df"), (RED, BLUE)) is BLUE


def test_doubtful_content_goes_to_the_reader_of_its_extension() -> None:
    assert registry.identify(BINARY, Path("x.ani"), (BLUE, RED)) is BLUE


@pytest.mark.parametrize(
    ("data", "phrase"),
    [
        (b"", "an empty file"),
        (bytes(64), "a file of zeros"),
        (b"Dear friend, this is a letter.\r\n", "a text file"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG picture"),
        (b"RIFF\0\0\0\0WAVE", "a WAV sound or AVI film"),
        (b"PK\x03\x04\0\0", "a ZIP archive"),
        (b"BLENDER-v402\0", "a Blender file"),
        (b"\x28\xb5\x2f\xfd\0\0", "a compressed Blender file"),
        (b"Kaydara FBX Binary  \0", "an FBX model"),
        (b"glTF\x02\0\0\0", "a glTF model"),
        (b"MZ\x90\0", "a Windows program"),
        (b"Kiev\0\0", "an Animator or Vivisector 3DF model"),
        (b"Eternity Engine Mesh File 0.13\0", "a Dragon Nest MSH model"),
    ],
)
def test_the_refusal_says_what_it_looks_like(data: bytes, phrase: str) -> None:
    with pytest.raises(UnknownFormatError) as caught:
        registry.identify(data, Path("folder/x.ani"), (RED, BLUE))
    text = str(caught.value)
    assert text.startswith("x.ani: this cannot be imported: expected a red model or a blue model, found ")
    assert phrase in text
    assert text.endswith(".")
    assert "\n" not in text


def test_an_unknown_extension_is_refused() -> None:
    with pytest.raises(
        UnknownFormatError, match="expected a file of a supported format, found no format that is known"
    ):
        registry.identify(BINARY, Path("x.dat"), (RED, BLUE))


def test_require_lets_good_and_doubtful_content_through() -> None:
    registry.require(RED, b"\x01Rest\x00", Path("x.ani"), (RED, BLUE))
    registry.require(RED, BINARY, Path("x.ani"), (RED, BLUE))


def test_require_names_the_other_format() -> None:
    with pytest.raises(
        UnknownFormatError, match=r"x\.ani: this is another kind of file: expected a red model, found a blue"
    ):
        registry.require(RED, b"\x01Best\x00\x01", Path("x.ani"), (RED, BLUE))
    with pytest.raises(UnknownFormatError, match="found a text file"):
        registry.require(RED, b"plain words", Path("x.ani"), (RED, BLUE))


def test_sniffing_sees_the_head_and_the_whole_size() -> None:
    seen: list[tuple[int, int]] = []

    def sniff(head: bytes, size: int) -> bool:
        seen.append((len(head), size))
        return True

    curious = Format(**{**vars(RED), "sniff": sniff})
    registry.identify(bytes(5000), Path("x.ani"), (curious,))
    assert seen == [(registry.HEAD, 5000)]


@pytest.mark.parametrize(
    ("head", "is_text"),
    [
        (b"\xff" * 1024, False),
        (b"\xfe\x81" * 512, False),
        ("Привет, мир и все".encode("cp1251") * 9, True),
        (("日本語" * 99).encode()[:890], True),
        (b"plain\r\n" * 9, True),
    ],
)
def test_what_counts_as_text(head: bytes, is_text: bool) -> None:
    """Bytes beyond ASCII alone are none, other alphabets are, even when cut inside a character."""
    assert (registry.looks_like(head, len(head)) == "a text file") == is_text
