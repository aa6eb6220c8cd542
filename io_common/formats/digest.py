# SPDX-License-Identifier: GPL-3.0-or-later
"""A warning digest: each message once, with a count, in the order of first appearance."""

from __future__ import annotations

from collections import Counter


class Digest:
    """Collects what a user should know after an import or export."""

    def __init__(self) -> None:
        """Starts empty."""
        self._counts: Counter[str] = Counter()
        self._details: list[str] = []
        self.notes: list[str] = []
        self.remarks: list[str] = []

    def add(self, message: str, *, subject: str = "") -> None:
        """Count `message`; `subject` (a file or object name) is kept for the full list only."""
        self._counts[message] += 1
        self._details.append(f"{subject}: {message}" if subject else message)

    def note(self, message: str, *, remark: str = "") -> None:
        """Keep a fact that is worth knowing and no warning; `remark`: more about it, for the full list only."""
        self.notes.append(message)
        if remark:
            self.remarks.append(remark)

    def __len__(self) -> int:
        """How many warnings were added, repeats included."""
        return len(self._details)

    @property
    def lines(self) -> list[str]:
        """Each message once, as `message` or `message (x37)`."""
        return [text if count == 1 else f"{text} (x{count})" for text, count in self._counts.items()]

    @property
    def details(self) -> list[str]:
        """Every warning with its subject."""
        return list(self._details)
