# SPDX-License-Identifier: GPL-3.0-or-later
"""Searching the names of entries, by words or by wildcards, all names at once.

The names stand behind each other in one array of bytes, UTF-8, each behind a NUL. A word is looked for in all of it at
once, so that 200 000 names take some milliseconds. A name costs a step of Python only for patterns with `?` or `[…]`,
or with letters between two `*`.
"""

from __future__ import annotations

import fnmatch
import re
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import pak_names

if TYPE_CHECKING:
    from collections.abc import Sequence

_WILD = frozenset("*?")
_OTHERS = frozenset("?[")  # what a pattern knows beside the star
_SAMPLE = 61
_SEPARATOR = ord(pak_names.SEPARATOR)

Rows = npt.NDArray[np.int64]


class NameIndex:
    """The names of one archive or of many, ready to be searched."""

    def __init__(self, keys: Sequence[str]) -> None:
        """`keys` are names as `pak_names.keys` has them."""
        self.keys = keys
        self._text = np.frombuffer(_bytes("\0".join(["", *keys, ""])), np.uint8)
        nuls = np.flatnonzero(self._text == 0)
        # Of each name: its first byte, and the NUL behind it.
        self._starts, self._stops = nuls[:-1] + 1, nuls[1:]
        if not len(keys):
            self._starts = self._stops = nuls[:0]
        # How often each byte is there, by a sample: it only says where to look first.
        self._often = np.bincount(self._text[::_SAMPLE], minlength=256)

    def prepare(self) -> None:
        """Make what is else made at the first need."""
        _made = self._bases

    @cached_property
    def _bases(self) -> Rows:
        """Where the last part of each name starts."""
        at = np.flatnonzero((self._text == _SEPARATOR) | (self._text == 0))
        return at[np.searchsorted(at, self._stops) - 1] + 1

    def search(self, query: str) -> Rows:
        r"""The numbers of the names that `query` finds, ascending; all of them for an empty one.

        Words find names that hold all of them, anywhere. A word with `*` or `?` is a pattern for the whole name, or for
        its last part if there is no `\` or `/` in it; in a pattern `[ab]` is either letter. No search regards case.
        """
        mask = np.ones(len(self.keys), bool)
        for word in query.split():
            mask &= self._pattern(word) if _WILD & set(word) else self._holding(word)
        return np.flatnonzero(mask)

    def matching(self, pattern: str) -> Rows:
        """The numbers of the names that one pattern finds, spaces and all; a whole name always finds itself."""
        mask = self._pattern(pattern)
        wanted = _bytes(pak_names.key(pattern))
        if b"\0" not in wanted:
            mask |= self._at(self._starts, wanted) & (self._starts + len(wanted) == self._stops)
        return np.flatnonzero(mask)

    def _holding(self, word: str) -> npt.NDArray[np.bool_]:
        """Which names hold `word`, (n,)."""
        mask = np.zeros(len(self.keys), bool)
        wanted = _plain(word)
        if not len(mask) or "\0" in wanted:
            return mask
        self._mark(mask, _bytes(wanted))
        # A leading backslash, which keys have not, means the beginning.
        if wanted.startswith(pak_names.SEPARATOR):
            mask |= self._at(self._starts, _bytes(wanted.lstrip(pak_names.SEPARATOR)))
        return mask

    def _mark(self, mask: npt.NDArray[np.bool_], wanted: bytes) -> None:
        """Mark the names that hold `wanted`: where its rarest byte stands, the others are looked at."""
        if not wanted:
            mask[:] = True
            return
        rarest = min(range(len(wanted)), key=lambda place: self._often[wanted[place]])
        first, last = rarest, len(self._text) - len(wanted) + rarest + 1
        if last <= first:
            return
        hits = self._text[first:last] == wanted[rarest]
        if len(wanted) == 1:
            # As good as everywhere: what counts is whether there is one in each name.
            mask |= np.logical_or.reduceat(hits, self._starts)
            return
        at = np.flatnonzero(hits)
        for place in sorted(range(len(wanted)), key=lambda place: self._often[wanted[place]])[1:]:
            at = at[self._text[at + place] == wanted[place]]
        mask[np.searchsorted(self._starts, at, side="right") - 1] = True

    def _at(self, places: Rows, wanted: bytes) -> npt.NDArray[np.bool_]:
        """Which names have `wanted` at `places` (n,) of the text. A name ends at a NUL, which is in none."""
        mask = np.ones(len(places), bool)
        for number, byte in enumerate(wanted):
            mask &= self._text[np.clip(places + number, 0, len(self._text) - 1)] == byte
        return mask

    def _pattern(self, pattern: str) -> npt.NDArray[np.bool_]:
        """Which names `pattern` matches, (n,)."""
        wanted = _plain(pattern)
        starts = self._starts if pak_names.SEPARATOR in wanted else self._bases
        anywhere = pak_names.SEPARATOR not in wanted
        wanted = wanted.lstrip(pak_names.SEPARATOR)
        if "\0" in wanted or not len(self.keys):
            return np.zeros(len(self.keys), bool)
        fixed = re.split(r"[*?]", wanted.partition("[")[0])
        mask = self._at(starts, _bytes(fixed[0]))
        pieces = wanted.split("*")
        if not _OTHERS & set(wanted) and not any(pieces[1:-1]):
            if len(pieces) == 1:
                mask &= starts + len(_bytes(wanted)) == self._stops
                return mask
            # Only a beginning and an end, which must not overlap.
            tail = _bytes(pieces[-1])
            mask &= self._at(self._stops - len(tail), tail)
            return mask & (self._stops - starts >= len(_bytes(fixed[0])) + len(tail))
        # What stands outside of wildcards must be in every name that matches.
        holds = np.zeros(len(mask), bool)
        self._mark(holds, _bytes(max(fixed, key=len)))
        mask &= holds
        if not _OTHERS & set(wanted):
            tail = _bytes(pieces[-1])
            mask &= self._at(self._stops - len(tail), tail)
        matches = re.compile(fnmatch.translate(wanted)).match
        for number in np.flatnonzero(mask).tolist():
            name = self.keys[number]
            tail_text = name.rpartition(pak_names.SEPARATOR)[2] if anywhere else name
            mask[number] = matches(tail_text) is not None
        return mask


def _bytes(text: str) -> bytes:
    """As the names stand here. A word from a command line may hold halves of characters, which no name has."""
    return text.encode(errors="surrogatepass")


def _plain(word: str) -> str:
    return word.replace("/", pak_names.SEPARATOR).lower()
