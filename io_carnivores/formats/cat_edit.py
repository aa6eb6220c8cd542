# SPDX-License-Identifier: GPL-3.0-or-later
"""A CAT edited where it was changed: remarks, values that are not known here and the layout are the author's, and stay.

An entry takes its lines along to another place in the list; one that is new gets lines in the style of the game's own.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .cat_text import ENTRY, LISTS, OTHER, PAIR, SECTION, Line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Values = Mapping[str, str]
    Block = list[Line]

_WORDS = {"animations": "animation_id", "sounds": "sound_id"}
_NUMBER = re.compile(r"-?\d{1,9}")
_NUMBERS = ("sound_index", "count")  # values that stand without quotes


def edited(lines: Sequence[Line], general: Values, lists: Mapping[str, Sequence[Values]]) -> str:
    """The text of `lines` with other values: key -> value of [general], and of each entry of each list.

    An empty value is none: its line goes. What cannot be said so is left to the caller to notice.
    """
    ending = next((line.end for line in lines if line.end in ("\r\n", "\n", "\r")), "\r\n")
    out = [_with(line, general) if line.section == "general" else line for line in lines]
    for name in LISTS:
        out = _with_list(out, name, lists[name], ending)
    whole = [line.text + (line.end or ending) for line in out[:-1]]
    return "".join([*whole, *(line.text + line.end for line in out[-1:])])


def _with(line: Line, values: Values) -> Line:
    """A line that says another value, where it is one of those."""
    wanted = values.get(line.key)
    if line.kind != PAIR or wanted is None or wanted == line.value:
        return line
    quoted = line.text[line.start - 1 : line.start] == '"'
    text = wanted if quoted or line.key in _NUMBERS else f'"{wanted}"'
    return replace(line, text=line.text[: line.start] + text + line.text[line.stop :], stop=line.start + len(text))


def _with_list(lines: list[Line], name: str, wanted: Sequence[Values], ending: str) -> list[Line]:
    rest, blocks, at = _taken_apart(lines, name)
    if not blocks and not wanted:
        return lines
    if at < 0:
        rest += [Line(OTHER, name, "", ending), Line(SECTION, name, f"[{name}]", ending)]
        rest.append(Line(PAIR, name, f"count = {len(wanted)}", ending))
        at = len(rest)
    if len(blocks) != len(wanted):
        count = {"count": str(len(wanted))}
        rest = [_with(line, count) if line.section == name else line for line in rest]
    sources = _sources([_said(block).get("file", "") for block in blocks], [entry["file"] for entry in wanted])
    made: list[Line] = []
    for number, (source, values) in enumerate(zip(sources, wanted, strict=True)):
        block = blocks[source] if source >= 0 else [Line(ENTRY, name, f"{_WORDS[name]} {number}", ending)]
        made += _rendered(block, number, values, ending)
    return rest[:at] + made + rest[at:]


def _taken_apart(lines: list[Line], name: str) -> tuple[list[Line], list[Block], int]:
    """The lines without the entries of a list, these entries, and where they stood among the rest; -1: no such list."""
    rest: list[Line] = []
    blocks: list[Block] = []
    at, is_open = -1, False
    for line in lines:
        if line.section != name or line.kind == SECTION:
            is_open = False
        if line.section == name and line.kind == ENTRY:
            blocks.append([])
            is_open = True
            at = len(rest) if len(blocks) == 1 else at
        if is_open:
            blocks[-1].append(line)
            continue
        rest.append(line)
        if line.section == name and not blocks and line.kind != OTHER:
            at = len(rest)
    if blocks:  # what stands behind the last of them stays behind the last of them
        last = blocks[-1]
        while last[-1].kind == OTHER:
            rest.insert(at, last.pop())
    return rest, blocks, at


def _said(block: Block) -> dict[str, str]:
    return {line.key: line.value for line in block if line.kind == PAIR}


def _sources(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """For each entry of a list the old one that it is, -1 for none: of the same file, at the same place before others.

    What is left over was renamed where there are as many as before.
    """
    found = [number if number < len(old) and old[number] == name else -1 for number, name in enumerate(new)]
    left = [number for number in range(len(old)) if number not in set(found)]
    for number, name in enumerate(new):
        same = next((place for place in left if old[place] == name), -1) if found[number] < 0 else -1
        if same >= 0:
            found[number] = same
            left.remove(same)
    if len(old) == len(new):
        found = [left.pop(0) if source < 0 else source for source in found]
    return found


def _rendered(block: Block, number: int, values: Values, ending: str) -> Block:
    """The lines of an entry with another number and other values."""
    out: Block = []
    last, indent = 0, "\t"
    said = _said(block)
    for line in block:
        shown = line
        if line.kind == ENTRY and line.number != number:
            shown = replace(line, text=_NUMBER.sub(str(number), line.text, count=1), number=number)
        elif line.kind == PAIR:
            if line.key in values and not values[line.key]:
                continue
            shown, indent = _with(line, values), line.text[: len(line.text) - len(line.text.lstrip())]
        out.append(shown)
        last = len(out) if line.kind != OTHER else last
    for key, value in values.items():
        if value and key not in said:
            text = value if key in _NUMBERS else f'"{value}"'
            out.insert(last, Line(PAIR, block[0].section, f"{indent}{key} = {text}", ending))
            last += 1
    return out
