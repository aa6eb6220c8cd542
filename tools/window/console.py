# SPDX-License-Identifier: GPL-3.0-or-later
"""What in a Blender's console output counts as an error.

The tests look at the console after each of them, and the runner looks at all of it (start-up and shut-down included),
with the same rules.
"""

from __future__ import annotations

import re

PACKAGE = "io_carnivores_dragonnest"

# A traceback is an error whoever wrote it: a faulty draw() of ours surfaces inside Blender's own scripts, too.
_ERRORS = (
    re.compile(r"Traceback \(most recent call last\)"),
    re.compile(r"^\s*Error: "),  # a report of an operator, as Blender prints it
    re.compile(r"^\s*(?:\w+\.)*\w*(?:Error|Exception): "),  # the last line of a traceback
    re.compile(r"\bEXCEPTION_ACCESS_VIOLATION\b|\bSegmentation fault\b|\bWriting: .*\.crash\.txt"),
    re.compile(rf"{PACKAGE}.*\w*Warning: "),
    re.compile(r"^Warning: .*\b(?:register|unregister)"),  # a class or property registered twice, or left behind
    re.compile(r"^\S*:? ?(?:register_class|unregister_class)\(\.\.\.\):"),
    re.compile(
        r"unknown operator|rna_uiItemO|search for unknown|not found: .*(?:carnivores|dragonnest)", re.IGNORECASE
    ),
)


def errors_in(text: str) -> list[str]:
    """Return the lines of a console output that report an error, in their order."""
    return [line for line in text.splitlines() if any(pattern.search(line) for pattern in _ERRORS)]
