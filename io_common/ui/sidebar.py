# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tabs of the games in the sidebar have in common: facts in two columns, and what a check found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..formats.issues import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import bpy
    from bpy.stub_internal.rna_enums import IconItems

    from ..formats.issues import Issue

# Of a line of text in a box of the sidebar, in pixels at normal size: what icon and edges take, and a character.
_MARGIN, _CHARACTER = 60, 6.3
_LEAST = 20  # characters in a line, however narrow the sidebar


def fact(layout: bpy.types.UILayout, name: str, value: str, *, alert: bool = False) -> None:
    """A line of two columns."""
    row = layout.split(factor=0.45)
    row.label(text=name)
    row.alert = alert
    row.label(text=value)


def redraw(context: bpy.types.Context) -> None:
    """Draw every 3D viewport again, its sidebar included."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def verdict(what: str, found: Sequence[Issue], tab: str) -> tuple[set[str], str]:
    """Kind and sentence of the report on `what`; `tab`: the one of the sidebar that lists the findings."""
    errors = sum(issue.severity is Severity.ERROR for issue in found)
    warnings = len(found) - errors
    if not found:
        return {"INFO"}, f"{what}: nothing to complain of."
    parts = [
        f"{number} {word}{'' if number == 1 else 's'}"
        for number, word in ((errors, "error"), (warnings, "warning"))
        if number
    ]
    # As a warning in both cases: an error would make the operator fail for a script, though it did its work.
    return {"WARNING"}, f"{what}: {' and '.join(parts)}, listed in the sidebar under {tab}."


def draw_text(layout: bpy.types.UILayout, message: str, width: int, *, is_error: bool) -> None:
    """The clause `message` as a sentence in lines of `width` characters, with an icon in front."""
    for number, line in enumerate(wrap(f"{message[:1].upper()}{message[1:]}.", width)):
        icon: IconItems = ("ERROR" if not is_error else "CANCEL") if not number else "BLANK1"
        row = layout.row()
        row.alert = is_error
        row.label(text=line, icon=icon)


def line_width(context: bpy.types.Context) -> int:
    """How many characters a line of the sidebar has room for; Blender itself breaks no lines."""
    if context.region is None or context.region.type != "UI":
        return _LEAST
    pixels = context.region.width / context.preferences.system.ui_scale
    return max(_LEAST, int((pixels - _MARGIN) / _CHARACTER))


def wrap(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` characters, longer words aside."""
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
