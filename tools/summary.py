# SPDX-License-Identifier: GPL-3.0-or-later
"""The table that closes `dev.py test`: one line per step, from nox's and pytest's own reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from pathlib import Path

RESULTS = {"success": "passed", "failed": "FAILED", "aborted": "FAILED", "skipped": "not run"}
HEADINGS = ("step", "result", "passed", "failed", "skipped", "seconds", "")


def report_name(step: str) -> str:
    """Return a file name for *step*, whose name may hold brackets."""
    return "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in step).strip("-")


def _counts(report: Path) -> tuple[str, str, str]:
    """Return how many tests passed, failed and were skipped according to a JUnit report."""
    if not report.exists():
        return "", "", ""
    total = failed = skipped = 0
    for suite in ET.parse(report).getroot().iter("testsuite"):  # noqa: S314 (pytest wrote it a moment ago)
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
            counts = _counts(reports / f"{report_name(step)}.xml")
            result = RESULTS[session["result"]]
            why = (session["reason"] or "") if result != "passed" else ""
            found.append((step, result, *counts, f"{session['duration']:.0f}", why))
    return found


def table(reports: Path) -> str:
    """Return the closing table as text."""
    lines = [HEADINGS, *rows(reports)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(
            cell.rjust(w) if 1 < i < 6 else cell.ljust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
