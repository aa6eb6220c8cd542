# SPDX-License-Identifier: GPL-3.0-or-later
"""What the command line says: results on the standard output, progress and trouble on the standard error."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..formats.errors import UserError


# Control characters steer a terminal, and the last of these let text run backwards: names in hostile files hold them.
_STEERING = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def one_line(text: str) -> str:
    """`text` as a person may be shown it: one line that only shows itself, with escapes for what steers a terminal."""
    return text.translate(_STEERING)


def sentence(error: UserError, path: Path) -> str:
    """The sentence of `error`, with the file as the user named it instead of its bare name."""
    own = error.at(path).path
    text = str(error)
    bare = f"{own.name or own}: " if own is not None else ""
    return f"{own}: {text[len(bare) :]}" if own is not None else text


def write(stream: TextIO, text: str, end: str = "\n") -> None:
    """One line; what the console's encoding cannot show is escaped rather than fatal."""
    encoding = stream.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), end=end, file=stream, flush=True)


class Console:
    """Prints the result of every file. With `as_json` the standard output is one JSON object, else one line each.

    Both are written as the results come, so that there may be any number of them.
    """

    def __init__(
        self, *, as_json: bool = False, quiet: bool = False, verbose: bool = False, noun: str = "file"
    ) -> None:
        """`quiet` leaves out progress, `verbose` shows Blender's own messages on the standard error.

        `noun` is what is counted: "file", or "entry" of an archive.
        """
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose
        self.failed = False
        self._noun, self._nouns = noun, f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
        self._total = 0
        self._counts: dict[str, int] = {}

    def progress(self, number: int, total: int, what: str) -> None:
        """File `number` (from 1) of `total` is next."""
        if not self.quiet:
            write(sys.stderr, one_line(f"[{number}/{total}] {what}"))

    def note(self, text: str) -> None:
        """Something a user should know that is no result."""
        write(sys.stderr, one_line(text))

    def result(self, record: dict[str, Any], *lines: str, bad: bool = False) -> None:
        """One file is done: `record` for JSON, with its outcome under "result", and `lines` for people."""
        self.failed = self.failed or bad
        outcome = str(record["result"])
        self._counts[outcome] = self._counts.get(outcome, 0) + 1
        self._total += 1
        if self.as_json:
            start = f'{{"{self._nouns}": [\n' if self._total == 1 else ",\n"
            write(sys.stdout, start + json.dumps(record, default=_plain), end="")
        else:
            for line in lines:
                write(sys.stdout, one_line(line))

    def failure(self, path: Path, error: UserError) -> None:
        """One file cannot be worked on."""
        text = sentence(error, path)
        self.result({"file": str(path), "result": "failed", "error": text}, bad=True)
        write(sys.stderr, one_line(f"failed {text}"))

    def finish(self, *outcomes: str) -> int:
        """Print the closing line, or the JSON, and return the exit code. `outcomes` are counted even when zero."""
        counts = dict.fromkeys((*outcomes, "failed"), 0) | self._counts
        if self.as_json:
            start = "\n]" if self._total else f'{{"{self._nouns}": []'
            write(sys.stdout, f'{start}, "counts": {json.dumps({self._nouns: self._total, **counts})}}}')
        elif outcomes:
            listed = ", ".join(f"{count} {name}" for name, count in counts.items())
            write(sys.stdout, f"{self._total} {self._noun if self._total == 1 else self._nouns}: {listed}")
        return 1 if self.failed else 0

    @contextlib.contextmanager
    def blender(self) -> Iterator[None]:
        """Keep what Blender and its exporters print away from the standard output, at the level of the descriptor."""
        sys.stdout.flush()
        try:
            kept = os.dup(1)
        except OSError:  # there is no standard output at all
            yield
            return
        sink = os.dup(2) if self.verbose else os.open(os.devnull, os.O_WRONLY)
        _flush_c()
        os.dup2(sink, 1)
        os.close(sink)
        try:
            with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123  (a device, not a path)
                stream: TextIO = sys.stderr if self.verbose else nowhere
                with contextlib.redirect_stdout(stream):
                    yield
        finally:
            _flush_c()
            os.dup2(kept, 1)
            os.close(kept)


def _flush_c() -> None:
    """Empty the buffer of C's `stdout`, which Python does not know of, before the descriptor changes hands."""
    library = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
    library.fflush(None)


def _plain(value: Any) -> Any:
    """JSON for the numpy numbers and arrays, bytes and paths of a summary."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
