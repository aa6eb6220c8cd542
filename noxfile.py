# SPDX-License-Identifier: GPL-3.0-or-later
"""Developer tasks. Start them with `python3 dev.py TASK [ARGS]`, which brings nox and uv along."""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from tools import interpreters, staging, summary  # noqa: E402 (nox does not put the noxfile's folder on the path)

DEV = ROOT / ".dev"
STEP = ["step"]
REPORTS = DEV / "reports"


@dataclass(frozen=True)
class Blender:
    """One supported Blender: the wheel that stands for it, its Python, and the numpy it brings."""

    series: str
    wheel: str
    python: str
    numpy: str


BLENDERS = {
    blender.series: blender
    for blender in (
        # The 4.2 wheel sets no upper bound for numpy and breaks on 2.x.
        Blender("4.2", "bpy==4.2.23", "3.11", "numpy==1.26.4"),
        Blender("4.5", "bpy==4.5.15", "3.11", "numpy==1.26.4"),
        Blender("5.2", "bpy==5.2.3", "3.13", "numpy==2.5.5"),
        Blender("5.3", "bpy==5.3.0", "3.13", "numpy==2.5.5"),
    )
}
OLDEST, DEFAULT = "4.2", "5.2"
PYTHONS = {blender.python: blender.numpy for blender in BLENDERS.values()}

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "uv"
nox.options.reuse_venv = "yes"
nox.options.envdir = str(DEV / "nox")
nox.options.sessions = ["test"]
nox.options.error_on_missing_interpreters = "CI" in os.environ

interpreters.show_pyenv_versions(PYTHONS)
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def pinned(group: str) -> list[str]:
    """Return the requirements of one dependency group of pyproject.toml."""
    return list(nox.project.dependency_groups(nox.project.load_toml(ROOT / "pyproject.toml"), group))


def blender_python(session: nox.Session, series: str) -> str:
    """Return the Python of an environment that holds the `bpy` wheel of *series*, made now unless it is there.

    One environment per Blender serves all sessions (it takes 1 GB where the disk knows no hard links). A Blender whose
    Python cannot be had skips the session: "not run", a failure under CI.
    """
    blender = BLENDERS[series]
    requirements = [blender.wheel, blender.numpy, *pinned("test")]
    folder = DEV / f"blender-{series}"
    python, stamp = interpreters.python_in(folder), folder / "pins.txt"
    digest = hashlib.sha256("\n".join([blender.python, *requirements]).encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return str(python)
    interpreter = interpreters.find(blender.python)
    if interpreter is None:
        reason = f"Blender {series} needs Python {blender.python}, which uv neither finds nor can download"
        (session.error if os.environ.get("CI") else session.skip)(f"not run: {reason}")
    uv = [sys.executable, "-m", "uv"]
    try:
        session.run(*uv, "venv", "--quiet", "--clear", "--python", interpreter, str(folder), external=True)
        session.run(*uv, "pip", "install", "--quiet", "--python", str(python), *requirements, external=True)
    except nox.command.CommandFailed:
        session.error(f"could not install {blender.wheel}: is the package index reachable? uv's own words are above")
    stamp.write_text(digest, encoding="utf-8")
    return str(python)


def run_for_user(session: nox.Session, *command: str) -> None:
    """Run a program in the folder the user called from, and hand its exit code to dev.py."""
    session.chdir(session.invoked_from)
    code = 0
    try:
        # nox would fold the standard error into the standard output, which scripts read.
        session.run(*command, external=True, stderr=None)
    except nox.command.CommandFailed as failure:
        code = failure.return_code or 1
        raise
    finally:
        if "DEV_EXIT_CODE" in os.environ:
            Path(os.environ["DEV_EXIT_CODE"]).write_text(str(code), encoding="utf-8")


def pytest_step(session: nox.Session, python: str, folders: list[str], *options: str) -> None:
    """Run pytest over each of *folders*, or over those of the user's own paths that lie in it; keep JUnit reports.

    Each folder is a process of its own: a Blender that lives for thousands of tests is nobody's Blender.
    """
    chosen = [word for word in session.posargs if (ROOT / word.partition("::")[0]).exists() and "tests" in word]
    others = [word for word in session.posargs if word not in chosen]
    parts = {
        folder: [word for word in chosen if Path(word).is_relative_to(folder)] if chosen else [folder]
        for folder in folders
    }
    if not any(parts.values()):
        session.skip("none of the chosen tests is in this step")
    # A selection of the user's may leave a step without tests (pytest's code 5); without one that is a failure.
    selected = bool(chosen) or any(word.startswith(("-k", "-m", "--lf")) for word in others)
    failed = []
    for folder, paths in parts.items():
        if not paths:
            continue
        report = REPORTS / f"{summary.report_name(session.name)}.{Path(folder).name}.xml"
        command = [python, "-m", "pytest", *paths, f"--junitxml={report}", *options, *others]
        try:
            session.run(*command, external=True, success_codes=[0, 5] if selected else [0])
        except nox.command.CommandFailed:
            failed.append(folder)
    if failed:
        session.error(f"failed: {', '.join(failed)}")


def embedded(session: nox.Session, series: str) -> list[str]:
    """Return the command that starts an embedded Blender with the extension enabled."""
    return [blender_python(session, series), str(ROOT / "tools" / "embedded.py")]


@nox.session(python=False)
def demo(session: nox.Session) -> None:
    """Import the sample model into an embedded Blender, render it, export it, compare the bytes."""
    run_for_user(session, *embedded(session, DEFAULT), "script", str(ROOT / "tools" / "demo.py"), *session.posargs)


@nox.session(python=False)
def test(session: nox.Session) -> None:
    """Run everything that must pass [--quick] [--blender 4.2] [--samples DIR] [pytest's arguments]."""
    parser = argparse.ArgumentParser(prog="dev.py test", allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", help="one Blender, one Python")
    parser.add_argument("--blender", choices=BLENDERS, action="append", help="only this Blender (may be repeated)")
    parser.add_argument("--samples", type=Path, help="folder of real game files")
    options, rest = parser.parse_known_args(session.posargs)
    if options.samples is not None:
        rest += ["--samples", str((Path(session.invoked_from) / options.samples).resolve())]
    blenders = options.blender or ([DEFAULT] if options.quick else list(BLENDERS))
    pythons = ["3.13"] if options.quick else list(PYTHONS)
    steps = [f"scene({series})" for series in blenders]
    steps += [f"formats-{python}" for python in pythons] + ["style", "types(formats)", "types(blender)", "arrows"]
    REPORTS.mkdir(parents=True, exist_ok=True)
    for old in REPORTS.iterdir():
        old.unlink()
    nested = [sys.executable, "-m", "nox", "--noxfile", str(ROOT / "noxfile.py"), "--parallel", "2", "--allow-parallel"]
    codes = []
    for number, names in enumerate([["build"], steps]):
        arguments = ["--report", str(REPORTS / f"nox-{number}.json"), "--session", *names]
        done = subprocess.run([*nested, *arguments, "--", *(rest if number else [])], check=False)
        codes.append(done.returncode)
    print(summary.table(REPORTS), flush=True)
    if any(codes):
        session.error("not everything passed")


@nox.session(tags=STEP, python=False)
@nox.parametrize("series", list(BLENDERS), ids=list(BLENDERS))
def scene(session: nox.Session, series: str) -> None:
    """Run the tests that need a Blender: scene, interface, package."""
    python = blender_python(session, series)
    archive = sorted((ROOT / "dist").glob("*.zip"), key=lambda path: path.stat().st_mtime)
    built = [f"--extension-zip={archive[-1]}"] if archive else []
    pytest_step(session, python, ["tests/scene", "tests/ui", "tests/package"], *built)


@nox.session(tags=STEP, python=list(PYTHONS))
def formats(session: nox.Session) -> None:
    """Run the tests that need no Blender."""
    session.install(*pinned("test"), PYTHONS[str(session.python)])
    pytest_step(session, "python", ["tests/formats"])


@nox.session(tags=STEP)
def style(session: nox.Session) -> None:
    """Check style and format with ruff."""
    session.install(*pinned("lint"))
    session.run("ruff", "check", *session.posargs[:0])
    session.run("ruff", "format", "--check", "--diff")


@nox.session(tags=STEP)
@nox.parametrize("part", ["formats", "blender"], ids=["formats", "blender"])
def types(session: nox.Session, part: str) -> None:
    """Check types with mypy: the formats floors without any Blender stubs, then the whole extension with them."""
    session.install(*pinned("lint"), *(pinned("stubs") if part == "blender" else []))
    parent = DEV / "types" / part
    staging.stage(parent / staging.EXTENSION_ID)
    session.chdir(parent)
    command = ["mypy", "--config-file", str(ROOT / "pyproject.toml")]
    if part == "formats":
        floors = [f"{staging.EXTENSION_ID}.{wing}.formats" for wing in staging.WINGS]
        session.run(*command, "--follow-imports=silent", *(word for floor in floors for word in ("-p", floor)))
    else:
        session.run(*command, "-p", staging.EXTENSION_ID)


@nox.session(tags=STEP)
def arrows(session: nox.Session) -> None:
    """Check which rooms of the house may import which."""
    session.install(*pinned("lint"), *pinned("test"))
    pytest_step(session, "python", ["tests/architecture"])


@nox.session(name="cli", python=False)
def command_line(session: nox.Session) -> None:
    """Run the extension's command line in an embedded Blender."""
    run_for_user(session, *embedded(session, DEFAULT), "command", *session.posargs)


@nox.session(name="python", python=False)
def python_script(session: nox.Session) -> None:
    """Run a script with a Blender and the extension enabled: [--blender 4.2] SCRIPT ARGS."""
    words = list(session.posargs)
    series = DEFAULT
    if words and words[0].partition("=")[0] == "--blender":
        _, equals, series = words.pop(0).partition("=")
        if not equals:
            series = words.pop(0) if words else ""
    if series not in BLENDERS or not words:
        session.error(f"say: python [--blender {'|'.join(BLENDERS)}] SCRIPT [ARGS]")
    run_for_user(session, *embedded(session, series), "script", *words)


@nox.session
def window(session: nox.Session) -> None:
    """Test in a real Blender with a real window."""
    session.install(*pinned("window"))
    python = interpreters.python_in(Path(session.virtualenv.location))
    run_for_user(session, str(python), str(ROOT / "tools" / "window" / "run.py"), *session.posargs)


@nox.session(python=False)
def bench(session: nox.Session) -> None:
    """Measure speed against the floor of bare Blender calls, and peak memory."""
    run_for_user(session, *embedded(session, DEFAULT), "script", str(ROOT / "benchmarks" / "run.py"), *session.posargs)


@nox.session(python="3.11")
def fuzz(session: nox.Session) -> None:
    """Feed damaged files to every reader [--seconds N]."""
    session.install(*pinned("test"), PYTHONS["3.11"])
    try:
        session.install(*pinned("fuzz"), silent=True)
    except nox.command.CommandFailed:
        session.warn("atheris does not install here; Hypothesis alone makes the inputs")
    session.run("python", "-m", "tests.fuzz", *session.posargs)


@nox.session(python=False)
def lint(session: nox.Session) -> None:
    """Check style, types and architecture."""
    for step in ("style", "types(formats)", "types(blender)", "arrows"):
        session.notify(step)


@nox.session(python=False)
def build(session: nox.Session) -> None:
    """Make the validated zip in dist/."""
    session.run(blender_python(session, OLDEST), "-m", "tools.build", *session.posargs, external=True)


@nox.session
def docs(session: nox.Session) -> None:
    """Make the documentation in site/."""
    session.install(*pinned("docs"))
    session.run("mkdocs", "build", "--strict", *session.posargs)
