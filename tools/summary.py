# SPDX-License-Identifier: GPL-3.0-or-later
"""The table that closes `dev.py test`: one line per step, from nox's and pytest's own reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from pathlib import Path

RESULTS = {"success": "passed", "failed": "FAILED", "aborted": "FAILED", "skipped": "not run"}
NUMBERS = ("passed", "failed", "skipped", "seconds")
HEADINGS = ("step", "result", *NUMBERS, "")


def report_name(step: str) -> str:
    """Return a file name for *step*, whose name may hold brackets."""
    return "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in step).strip("-")


def _counts(found: list[Path]) -> tuple[str, str, str]:
    """Return how many tests passed, failed and were skipped according to JUnit reports."""
    if not found:
        return "", "", ""
    total = failed = skipped = 0
    suites = (suite for report in found for suite in ET.parse(report).getroot().iter("testsuite"))  # noqa: S314 (our own)
    for suite in suites:
        total += int(suite.get("tests", "0"))
        failed += int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
        skipped += int(suite.get("skipped", "0"))
    return str(total - failed - skipped), str(failed), str(skipped)


def rows(reports: Path) -> list[tuple[str, ...]]:
    """Return one row per step that nox reported in any `nox-*.json` below *reports*."""
    found = []
    for report in sorted(reports.glob("nox-*.json")):
        for session in json.loads(report.read_text(encoding="utf-8"))["sessions"]:
            step = max(session["signatures"], key=len) if session["signatures"] else session["name"]
            counts = _counts(sorted(reports.glob(f"{report_name(step)}.*.xml")))
            result = RESULTS[session["result"]]
            why = (session["reason"] or "") if result != "passed" else ""
            found.append((step, result, *counts, f"{session['duration']:.0f}", why))
    return found


def table(reports: Path) -> str:
    """Return the closing table as text."""
    lines = [HEADINGS, *rows(reports)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = []
    for line in lines:
        cells = [
            cell.rjust(width) if heading in NUMBERS else cell.ljust(width)
            for heading, cell, width in zip(HEADINGS, line, widths, strict=True)
        ]
        shown.append("  ".join(cells).rstrip())
    return "\n".join(shown)
