# SPDX-License-Identifier: GPL-3.0-or-later
"""`verify`: whether a file comes back byte for byte after import, save, reload and export."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..formats import fields
from ..formats.digest import Digest
from ..formats.errors import UserError
from ..scene import convert, transfer
from . import cli_inputs, cli_load, cli_options

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..formats.registry import Format
    from .cli_options import Flags
    from .cli_output import Console


def run(arguments: argparse.Namespace, formats: Sequence[Format], console: Console) -> int:
    """Run the command; the exit code."""
    flags = cli_options.collect(arguments)
    sources, missing = cli_inputs.expand(arguments.paths, cli_inputs.extensions_of(formats))
    for error in missing:
        console.failure(error.path or Path(), error)
    for number, source in enumerate(sources, start=1):
        console.progress(number, len(sources), str(source.path))
        try:
            with console.blender():
                entry, data = cli_load.identify(source.path, formats)
                if entry.build is None or entry.extract is None:
                    # Nothing of it is ever in a scene: reader and writer are all there is.
                    written = _rewritten(source.path, entry, data)
                else:
                    written = _there_and_back(source.path, entry, formats, flags, arguments.fps)
        except UserError as error:
            console.failure(source.path, error)
            continue
        _tell(console, source.path, entry, data, written)
    for name in flags.unused():
        console.note(f"note: {name} made no difference to any of these files")
    return console.finish("same", "differs")


def _rewritten(path: Path, entry: Format, data: bytes) -> bytes:
    """The bytes that come of reading and writing alone."""
    try:
        return entry.write(entry.read(data))
    except UserError as error:
        raise error.at(path) from error


def _there_and_back(path: Path, entry: Format, formats: Sequence[Format], flags: Flags, rate: float | None) -> bytes:
    """The bytes that `path` is exported as, after a way through a saved .blend."""
    options = flags.build(entry.export_options, entry.label, **dict(cli_options.WHOLE_SCENE))
    convert.empty_scene()
    try:
        if rate is not None:
            convert.set_frame_rate(rate)
        cli_load.import_file(path, entry, formats, flags, Digest())
        with tempfile.TemporaryDirectory(prefix="verify-") as folder:
            saved = Path(folder) / "scene.blend"
            convert.save_blend(saved)
            convert.empty_scene()
            convert.open_blend(saved)
            target = Path(folder) / path.name
            return transfer.prepare(bpy.context, entry, target, options, Digest()).bundle[target]
    finally:
        convert.empty_scene()


def _tell(console: Console, path: Path, entry: Format, data: bytes, written: bytes) -> None:
    offset = fields.first_difference(data, written)
    record: dict[str, Any] = {"file": str(path), "format": entry.id, "bytes": len(data)}
    if offset is None:
        console.result(record | {"result": "same"}, f"same {path}")
        return
    name = fields.locate(entry.sections(data), offset)
    record |= {"result": "differs", "offset": offset, "field": name, "written_bytes": len(written)}
    sizes = f" ({len(data)} bytes became {len(written)})" if len(data) != len(written) else ""
    console.result(record, f"differs {path} at byte {offset}: {name}{sizes}", bad=True)
