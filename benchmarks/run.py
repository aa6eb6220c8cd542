# SPDX-License-Identifier: GPL-3.0-or-later
"""The speed suite: `python3 dev.py bench [--case PATTERN] [--json FILE]`.

Per case: median time, the floor (the bare Blender calls that the data needs, on ready arrays, in the same run), their
ratio, MB/s, and peak memory. Each case runs in a Blender of its own, so that none has to pay for the one before it.
A new case is a class in one of the modules below; a new module is a line in `MODULES`.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import platform
import subprocess
import sys
from pathlib import Path

import bpy

from tools import addon_alias, embedded

addon_alias.install(lambda: embedded.PACKAGE)

from benchmarks import harness  # noqa: E402 (the alias comes first)

ROOT = Path(__file__).resolve().parent.parent
MODULES = (
    "benchmarks.carnivores_models",
    "benchmarks.carnivores_characters",
    "benchmarks.dragon_models",
    "benchmarks.dragon_motion",
    "benchmarks.dragon_archives",
    "benchmarks.dragon_tables",
)
MARK = "benchmark result: "


def cases() -> list[type[harness.Case]]:
    """Every registered case, in the order of the table."""
    return [case for name in MODULES for case in importlib.import_module(name).CASES]


def chosen(pattern: str) -> list[type[harness.Case]]:
    """The cases whose name matches, as a wildcard pattern or as a part of it, in either case."""
    low = pattern.lower()
    return [case for case in cases() if low in case.name.lower() or fnmatch.fnmatch(case.name.lower(), low)]


def in_own_blender(name: str) -> harness.Result:
    """Measure one case in a fresh process."""
    command = [sys.executable, str(ROOT / "tools" / "embedded.py"), "script", str(Path(__file__).resolve())]
    done = subprocess.run([*command, "--here", name], check=False, capture_output=True, text=True, cwd=ROOT)
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            return harness.Result(**json.loads(line.removeprefix(MARK)))
    raise SystemExit(f"{name} failed:\n{done.stdout}{done.stderr}")


def line(result: harness.Result) -> str:
    """One row of the table."""
    floor = f"{result.floor * 1e3:10.2f}" if result.floor is not None else " " * 10
    ratio = f"{result.ratio:6.2f}" if result.ratio is not None else " " * 6
    speed = f"{result.speed:8.0f}" if result.speed is not None else " " * 8
    verdict = {True: "reached", False: "MISSED", None: ""}[result.reached]
    peak = f"{result.peak / 2**20:9.1f}"
    return (
        f"{result.name:<50}{result.seconds * 1e3:10.2f} {floor} {ratio} {speed} {peak}  {result.wanted:<15} {verdict}"
    )


def main(arguments: list[str]) -> int:
    """Print the table; return 1 when a case misses what is wanted of it."""
    parser = argparse.ArgumentParser(prog="dev.py bench", description="Measure speed and memory.")
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only cases whose name matches")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there as well")
    parser.add_argument("--list", action="store_true", help="only list the cases")
    parser.add_argument("--here", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        case = next(case for case in cases() if case.name == options.here)
        print(f"\n{MARK}{json.dumps(harness.measure(case()).as_dict())}", flush=True)
        return 0
    wanted = chosen(options.case)
    if options.list or not wanted:
        print("\n".join(case.name for case in (wanted or cases())))
        return 0 if options.list else 2
    print(f"Blender {bpy.app.version_string}, Python {platform.python_version()}, {platform.platform()}")
    titles = f"{'time ms':>10} {'floor ms':>10} {'ratio':>6} {'MB/s':>8} {'peak MiB':>9}  {'wanted':<15}"
    print(f"{'case':<50}{titles}", flush=True)
    results = []
    for case in wanted:
        results.append(in_own_blender(case.name))
        print(line(results[-1]), flush=True)
    if options.json:
        facts = {"blender": bpy.app.version_string, "results": [result.as_dict() for result in results]}
        options.json.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return int(any(result.reached is False for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
