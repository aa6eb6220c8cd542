# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings, each once."""

from __future__ import annotations

from addon.io_common.formats.digest import Digest


def test_each_message_once_with_its_count_in_order() -> None:
    digest = Digest()
    assert (len(digest), digest.lines, digest.details) == (0, [], [])
    digest.add("no texture", subject="a.3dn")
    digest.add("weights were limited")
    digest.add("no texture", subject="b.3dn")
    assert len(digest) == 3
    assert digest.lines == ["no texture (x2)", "weights were limited"]
    assert digest.details == ["a.3dn: no texture", "weights were limited", "b.3dn: no texture"]


def test_the_lists_are_copies() -> None:
    digest = Digest()
    digest.add("one")
    digest.details.append("two")
    digest.lines.append("two")
    assert (digest.lines, digest.details) == (["one"], ["one"])
