# SPDX-License-Identifier: GPL-3.0-or-later
"""What an import or export tells the user at its end."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ..formats.errors import one_line
from ..scene.transfer import REPORT, write_report

if TYPE_CHECKING:
    from collections.abc import Iterator

    import bpy

    from ..formats.digest import Digest

_SHOWN = 5
_SPEAKER: ContextVar[bpy.types.Operator | None] = ContextVar("speaker", default=None)


@contextlib.contextmanager
def spoken_by(operator: bpy.types.Operator) -> Iterator[None]:
    """Within, what the operators that `operator` calls have to tell is its own report.

    Blender shows the reports of the operator that a user started; those of the ones it calls only go into a log.
    """
    token = _SPEAKER.set(operator)
    try:
        yield
    finally:
        _SPEAKER.reset(token)


def nothing_imported(failures: list[str]) -> str:
    """What is said when every file failed: the only sentence there is, or the first few of them."""
    if len(failures) == 1:
        return failures[0]
    more = len(failures) - _SHOWN
    return " ".join(["Nothing was imported.", *failures[:_SHOWN], *([f"And {more} more."] if more > 0 else [])])


def tell(operator: bpy.types.Operator, digest: Digest, failures: list[str], done: str) -> None:
    """Report failures and warnings, each once, at most a handful; the full list goes into a Text data-block."""
    operator = _SPEAKER.get() or operator
    lines, done = [one_line(line) for line in (*failures, *digest.lines)], one_line(done)
    # Blender's status bar shows the last of several reports: a warning must not hide behind the good news.
    operator.report({"INFO"}, done)
    for note in digest.notes[:_SHOWN]:
        operator.report({"INFO"}, one_line(f"{note}."))
    if digest.remarks:
        operator.report({"INFO"}, f'More about this is in the text "{REPORT}".')
    for line in lines[:_SHOWN]:
        operator.report({"WARNING"}, line if line.endswith(".") else _sentence(line))
    if len(lines) > _SHOWN:
        operator.report({"WARNING"}, f'{len(lines) - _SHOWN} more: see the text "{REPORT}".')
    if lines or digest.remarks:
        write_report(done, [one_line(line) for line in (*failures, *digest.details, *digest.remarks)])


def _sentence(line: str) -> str:
    """With a capital letter and a full stop; the name of a file in front stays as it is spelt."""
    start, colon, _rest = line.partition(": ")
    is_named = bool(colon) and "." in start
    return f"{line}." if is_named or not line.split(" ", 1)[0].isalpha() else f"{line[:1].upper()}{line[1:]}."
