# SPDX-License-Identifier: GPL-3.0-or-later
"""`convert`: game files, or a .blend, to anything that can be written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..formats import files
from ..formats.digest import Digest
from ..formats.errors import FileAccessError, UserError
from ..scene import convert, transfer
from . import cli_inputs, cli_load, cli_options
from .cli_inputs import Source, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Sequence

    from ..formats.registry import Format
    from .cli_options import Flags
    from .cli_output import Console

_BLEND = ".blend"


@dataclass(frozen=True)
class Goal:
    """What is written, to files that end in `suffix`: a game format, or a file of general use."""

    suffix: str
    kind: Format | convert.Target


@dataclass(frozen=True)
class Plan:
    """Which sources go into which file; in one scene when there are several for one file."""

    goal: Goal
    jobs: tuple[tuple[tuple[Source, ...], Path], ...]


class Converter:
    """One run of the command."""

    def __init__(
        self, formats: Sequence[Format], flags: Flags, console: Console, goal: Goal, *, overwrite: bool
    ) -> None:
        """Everything that is the same for all files."""
        self.formats = formats
        self.flags = flags
        self.console = console
        self.goal = goal
        self.overwrite = overwrite

    def job(self, sources: Sequence[Source], target: Path, done: int, total: int) -> None:
        """Convert `sources` into `target`; a bad one is named and left out."""
        taken: list[Source] = []
        digest = Digest()
        made: list[bpy.types.Object] = []
        try:
            if target.exists() and not self.overwrite:
                raise FileAccessError("the file exists already; --overwrite replaces it", path=target)
            with self.console.blender():
                convert.empty_scene()
        except UserError as error:
            self.console.failure(sources[0].path, error)
            return
        for number, source in enumerate(sources, start=done + 1):
            self.console.progress(number, total, str(source.path))
            try:
                with self.console.blender():
                    made += self._load(source.path, digest, alone=len(sources) == 1)
                    if made:
                        # An animation goes to what came before it.
                        transfer.select_only(bpy.context, list(dict.fromkeys(made)))
                taken.append(source)
            except UserError as error:
                self.console.failure(source.path, error)
        if not taken:
            return
        try:
            with self.console.blender():
                if made:
                    transfer.select_only(bpy.context, made)
                written = self._write(target, digest)
        except UserError as error:
            self.console.failure(target if len(sources) > 1 else sources[0].path, error)
            return
        self._tell(taken, written, digest)

    def _load(self, path: Path, digest: Digest, *, alone: bool) -> list[bpy.types.Object]:
        if path.suffix.lower() == _BLEND:
            if not alone:
                raise UserError("a .blend cannot be joined with other files, convert it by itself", path=path)
            convert.open_blend(path)
            return []
        entry = cli_load.identify(path, self.formats)
        return cli_load.import_file(path, entry, self.formats, self.flags, digest)

    def _write(self, target: Path, digest: Digest) -> list[Path]:
        kind = self.goal.kind
        if isinstance(kind, convert.Target):
            bundle = kind.bundle(target)
            if not self.overwrite:
                files.refuse_changes(bundle)
            _make_folder(target.parent)
            files.save_all(bundle)
            return list(bundle)
        options = self.flags.build(kind.export_options, kind.label, **dict(cli_options.WHOLE_SCENE))
        _make_folder(target.parent)
        done = transfer.export(bpy.context, kind, target, options, digest, overwrite=self.overwrite)
        return list(done.bundle)

    def _tell(self, taken: Sequence[Source], written: list[Path], digest: Digest) -> None:
        names = [str(source.path) for source in taken]
        for line in digest.lines:
            self.console.note(f"warning {' + '.join(names)}: {line}")
        record = {
            "file": names[0],
            "result": "converted",
            "sources": names,
            "written": [str(path) for path in written],
            "warnings": digest.details,
        }
        self.console.result(record, f"{' + '.join(names)} -> {', '.join(str(path) for path in written)}")


def run(arguments: argparse.Namespace, formats: Sequence[Format], console: Console) -> int:
    """Run the command; the exit code."""
    flags = cli_options.collect(arguments)
    plan = _plan(arguments, formats, console)
    converter = Converter(formats, flags, console, plan.goal, overwrite=arguments.overwrite)
    total = sum(len(sources) for sources, _target in plan.jobs)
    done = 0
    for sources, target in plan.jobs:
        converter.job(sources, target, done, total)
        done += len(sources)
    if plan.jobs:
        with console.blender():
            convert.empty_scene()
    for name in flags.unused():
        console.note(f"note: {name} made no difference to any of these files")
    return console.finish("converted")


def _plan(arguments: argparse.Namespace, formats: Sequence[Format], console: Console) -> Plan:
    words = list(arguments.paths)
    single: Path | None = None
    if arguments.out is not None:
        folder = Path(arguments.out)
    else:
        word = words.pop()
        if not words:
            raise UsageError("name the files to read and the file to write, or give --to EXT --out DIR")
        folder = Path(word)
        if not folder.is_dir() and not word.endswith(("/", os.sep)):
            single = folder
    if single is None and arguments.to is None:
        raise UsageError(f"say with --to EXT what to write into the folder {folder}")
    if single is None and folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder} is a file, expected a folder")
    goal = find_goal(arguments.to, single.suffix if single is not None else "", formats, _games_of(words, formats))
    importable = [entry for entry in formats if entry.build is not None]
    sources, missing = cli_inputs.expand(words, cli_inputs.extensions_of(importable))
    for error in missing:
        console.failure(error.path or Path(), error)
    if single is not None:
        return Plan(goal, ((tuple(sources), single),) if sources else ())
    return Plan(goal, _spread(sources, folder, goal.suffix, console))


def _spread(
    sources: Sequence[Source], folder: Path, suffix: str, console: Console
) -> tuple[tuple[tuple[Source, ...], Path], ...]:
    """One target per source, each in its place below `folder`; two sources never share one."""
    jobs: dict[str, tuple[tuple[Source, ...], Path]] = {}
    for source in sources:
        try:
            target = cli_inputs.place(source, folder, suffix)
        except UserError as error:
            console.failure(source.path, error)
            continue
        # Without regard to case, as some file systems have it.
        job = jobs.setdefault(str(target).lower(), ((source,), target))
        first = job[0][0]
        if first is not source:
            console.failure(source.path, UserError(f"its result would have the same name as that of {first.path}"))
    return tuple(jobs.values())


def _games_of(words: Sequence[str], formats: Sequence[Format]) -> set[str]:
    """The games that the named files can only belong to, by their extensions."""
    suffixes = {Path(word).suffix.lower() for word in words}
    owners = [{_game(entry) for entry in formats if suffix in entry.extensions} for suffix in suffixes]
    return {game for games in owners if len(games) == 1 for game in games}


def _game(entry: Format) -> str:
    return entry.id.partition("_")[0]


def find_goal(word: str | None, suffix: str, formats: Sequence[Format], games: Collection[str] = ()) -> Goal:
    """What `--to word` and the suffix of the output mean; raises `UsageError` when that is nothing, or two things.

    `word` is an extension, with or without the dot, or the id of a format; it decides where both are given. Where
    several formats have the extension, that of the game counts which the sources belong to, if `games` is one.
    """
    wanted = (word or suffix).lower()
    extension = f".{wanted.lstrip('.')}"
    writable = [entry for entry in formats if entry.extract is not None]
    found = [Goal(suffix or entry.extensions[0], entry) for entry in writable if entry.id == wanted]
    fitting = [entry for entry in writable if extension in entry.extensions]
    if len(games) == 1:
        fitting = [entry for entry in fitting if _game(entry) in games] or fitting
    found = found or [Goal(extension, entry) for entry in fitting]
    found += [Goal(extension, target) for target in convert.TARGETS if target.suffix == extension]
    if len(found) == 1 and (not suffix or suffix.lower() == found[0].suffix.lower()):
        return found[0]
    if len(found) > 1:
        names = " or ".join(goal.kind.id for goal in found if not isinstance(goal.kind, convert.Target))
        raise UsageError(f"{extension} files are of several formats, say which: --to {names}")
    known = [target.suffix for target in convert.TARGETS]
    known += [extension for entry in writable for extension in entry.extensions]
    if found:
        raise UsageError(f"--to {word} and the file name, which ends in {suffix}, say different things")
    raise UsageError(f"{wanted or 'a name without an extension'} cannot be written, expected {', '.join(known)}")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileAccessError(f"the folder cannot be made ({error.strerror})", path=folder) from error
