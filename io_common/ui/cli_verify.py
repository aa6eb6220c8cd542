# SPDX-License-Identifier: GPL-3.0-or-later
"""`verify`: whether a file comes back byte for byte after import, save, reload and export."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..formats import fields, files
from ..formats.digest import Digest
from ..formats.errors import UserError
from ..scene import convert, selection, transfer
from . import cli_inputs, cli_load, cli_options

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..formats.registry import Format, Lazy
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
        facts: dict[str, Any] | None = None
        try:
            with console.blender():
                entry = cli_load.identify(source.path, formats)
                if entry.lazy is not None:
                    outcome = _streamed(source.path, entry.lazy)
                else:
                    data = files.read_file(source.path)
                    if entry.build is None or entry.extract is None:
                        outcome = _rewritten(source.path, entry, data)
                    else:
                        written, facts = _there_and_back(source.path, entry, formats, flags, arguments)
                        outcome = _compared(entry, data, written)
        except UserError as error:
            console.failure(source.path, error)
            continue
        _tell(console, source.path, entry, outcome, facts)
    for name in flags.unused():
        console.note(f"note: {name} made no difference to any of these files")
    return console.finish("same", "differs")


@dataclass(frozen=True)
class Outcome:
    """Bytes read and written; where the first of them differ, the name of that field, and by which way, if any do."""

    size: int
    written: int
    offset: int | None
    field: str
    way: str = ""


def _compared(entry: Format, data: bytes, written: bytes, way: str = "") -> Outcome:
    offset = fields.first_difference(data, written)
    name = "" if offset is None else fields.locate(entry.sections(data), offset)
    return Outcome(len(data), len(written), offset, name, way)


def _streamed(path: Path, lazy: Lazy) -> Outcome:
    """Compare without holding either the file or what is written in memory."""
    try:
        with lazy.open(path) as model, files.open_file(path) as stream:
            offset, written = fields.first_difference_of(stream, lazy.pieces(model))
            name = "" if offset is None else fields.locate(lazy.sections(model), offset)
            return Outcome(files.read_head(path, 0)[1], written, offset, name)
    except UserError as error:
        raise error.at(path) from error


def _rewritten(path: Path, entry: Format, data: bytes) -> Outcome:
    """Compare what comes of reading and writing alone, and by every other way of what is never in a scene."""
    try:
        model = entry.read(data)
        outcome = _compared(entry, data, entry.write(model))
        for name, way in entry.ways.items():
            if outcome.offset is None:
                outcome = _compared(entry, data, way(model), name)
    except UserError as error:
        raise error.at(path) from error
    return outcome


def _there_and_back(
    path: Path, entry: Format, formats: Sequence[Format], flags: Flags, arguments: argparse.Namespace
) -> tuple[bytes, dict[str, Any] | None]:
    """The bytes that `path` is exported as, after a way through a saved .blend, and what baking it anew says."""
    options = flags.build(entry.export_options, entry.label, **dict(cli_options.WHOLE_SCENE))
    convert.empty_scene()
    try:
        if arguments.fps is not None:
            convert.set_frame_rate(arguments.fps)
        cli_load.import_file(path, entry, formats, flags, Digest())
        with tempfile.TemporaryDirectory(prefix="verify-") as folder:
            saved = Path(folder) / "scene.blend"
            convert.save_blend(saved)
            convert.empty_scene()
            convert.open_blend(saved)
            target = Path(folder) / path.name
            written = transfer.prepare(bpy.context, entry, target, options, Digest()).bundle[target]
            if not arguments.rebake or entry.rebake is None:
                return written, None
            objects = selection.chosen(bpy.context, options)
            model = cli_load.load(path, formats, flags).model
            return written, entry.rebake(bpy.context, objects, model)
    finally:
        convert.empty_scene()


def _tell(console: Console, path: Path, entry: Format, outcome: Outcome, facts: dict[str, Any] | None) -> None:
    record: dict[str, Any] = {"file": str(path), "format": entry.id, "bytes": outcome.size}
    record |= {} if facts is None else {"rebake": facts}
    lines = [] if facts is None else [_baked(facts)]
    if outcome.offset is None:
        console.result(record | {"result": "same"}, f"same {path}", *lines)
        return
    record |= {"result": "differs", "offset": outcome.offset, "field": outcome.field, "written_bytes": outcome.written}
    record |= {"way": outcome.way} if outcome.way else {}
    way = f" by way of {outcome.way}" if outcome.way else ""
    sizes = f" ({outcome.size} bytes became {outcome.written})" if outcome.size != outcome.written else ""
    console.result(record, f"differs {path} at byte {outcome.offset}{way}: {outcome.field}{sizes}", *lines, bad=True)


def _baked(facts: dict[str, Any]) -> str:
    if not facts["coordinates"]:
        return "  nothing to bake: there is no animation"
    steps, shares = " / ".join(facts["within"]), " / ".join(f"{share:.2f}" for share in facts["within"].values())
    soft = facts["soft_vertices"]
    named = f"{len(soft)} soft vertices: {', '.join(map(str, soft))}" if soft else "no soft vertices"
    return f"  baked anew: {shares} % of {facts['coordinates']} coordinates within {steps} steps; {named}"
