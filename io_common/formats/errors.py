# SPDX-License-Identifier: GPL-3.0-or-later
"""The one family of errors that a user can cause; every other exception is a bug and may traceback."""

from __future__ import annotations

import unicodedata
from pathlib import Path

# Control characters, halves of a character (which file names on Linux may hold), and what else breaks a line.
_UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}


def one_line(text: str) -> str:
    """`text` as Blender and a console can show it in one line: names out of files may hold anything."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("?" if unicodedata.category(char) in _UNPRINTABLE else char for char in text)


class UserError(Exception):
    """Something the user can mend. `str()` is one plain sentence that can be shown as it is."""

    def __init__(self, reason: str, *, path: str | Path | None = None) -> None:
        """`reason` is a clause without a full stop; `path` is the file it is about, when there is one."""
        super().__init__(reason)
        self.reason = reason
        self.path = Path(path) if path is not None else None

    def at(self, path: str | Path) -> UserError:
        """Name the file this is about, unless it is named already; returns self, to be raised."""
        if self.path is None:
            self.path = Path(path)
        return self

    def __str__(self) -> str:
        """One sentence: file, place, reason, what was expected and found."""
        reason = self.reason
        start = f"{self.path.name or self.path}: " if self.path is not None else ""
        if not start:
            reason = f"{reason[:1].upper()}{reason[1:]}"
        return one_line(f"{start}{reason}{self._detail()}.")

    def _detail(self) -> str:
        return ""


class FileAccessError(UserError):
    """The operating system will not read or write the file: missing, a folder, no permission, disk full."""


class Cancelled(UserError):
    """The user pressed Esc; what was half made has to be taken back."""


class ExportError(UserError):
    """What the scene holds cannot be written in the chosen format."""


class FormatError(UserError):
    """The bytes are not a valid file of the format they were read as."""

    def __init__(
        self,
        reason: str,
        *,
        offset: int | None = None,
        expected: str = "",
        found: str = "",
        path: str | Path | None = None,
    ) -> None:
        """`offset` is the byte the trouble starts at; `expected` and `found` are noun phrases."""
        super().__init__(reason, path=path)
        self.offset = offset
        self.expected = expected
        self.found = found

    def _detail(self) -> str:
        place = f" at byte {self.offset}" if self.offset is not None else ""
        parts = []
        if self.expected:
            parts.append(f"expected {self.expected}")
        if self.found:
            parts.append(f"found {self.found}")
        return place + (": " + ", ".join(parts) if parts else "")


class UnknownFormatError(FormatError):
    """The content is of another format, or of none that is known."""


class UnsupportedError(FormatError):
    """The content is understood well enough to say that this variant cannot be read."""
