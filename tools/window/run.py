# SPDX-License-Identifier: GPL-3.0-or-later
"""Run tests/window in a real Blender with a real window, through pytest-blender.

    python tools/window/run.py [--fresh] [--samples DIR] [pytest's arguments]

Which Blender: the executable that the variable BLENDER names, on the screen it finds there (any desktop); or, as root
on a Linux with debootstrap or apt-get, the one of Debian's packages in a chroot (see `debian.py`), on an Xvfb. Without
either it says "not run" and fails under CI.

Output: build/window/*.png (what the screen showed) and build/window/console.log (all that Blender printed).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
OUTPUT = CHECKOUT / "build" / "window"
INSIDE = "--inside-namespace"
SCREEN = "1600x900x24"
GREENLET = "greenlet==3.5.6"  # for a Blender of one's own; Debian has its package

sys.path.insert(0, str(HERE))
import console  # noqa: E402 - a neighbour of this script

if TYPE_CHECKING:
    from collections.abc import Iterator


class NotRunError(Exception):
    """The tests cannot run on this machine; the text says what is missing."""


@dataclass
class Stage:
    """A Blender to run in: how it is called, with which variables, and which Python packages it is given."""

    blender: list[str]
    name: str
    environment: dict[str, str] = field(default_factory=dict)
    python_path: list[str] = field(default_factory=list)
    window_options: list[str] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    """Choose the Blender, run the tests in it, return pytest's exit code (or 1 for an error in the console)."""
    inside = INSIDE in arguments
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true", help="make the Debian chroot anew")
    parser.add_argument("--samples", type=Path, help="folder of real game files to test with as well")
    options, pytest_arguments = parser.parse_known_args([a for a in arguments if a != INSIDE])
    try:
        if os.environ.get("BLENDER"):
            with _workplace() as work:
                return _run(_own_blender(work), work, options, pytest_arguments)
        if inside:
            return _run_in_debian(options, pytest_arguments)
        _check_root()
    except NotRunError as error:
        print(f"window: not run: {error}", flush=True)
        return 1 if os.environ.get("CI") else 0
    return _enter_namespace(arguments)


# Entering Debian


def _check_root() -> None:
    advice = "set the variable BLENDER to the path of a Blender executable to use that one and your screen"
    if not sys.platform.startswith("linux"):
        raise NotRunError(f"a Blender can be installed by this script on Linux only; {advice}")
    if os.geteuid() != 0:
        raise NotRunError(f"installing Debian's Blender into a folder needs root; {advice}")
    missing = [name for name in ("unshare", "setpriv", "chroot", "mount") if shutil.which(name) is None]
    if missing or not (shutil.which("debootstrap") or shutil.which("apt-get")):
        raise NotRunError(f"this is no Debian ({', '.join(missing) or 'debootstrap'} is missing); {advice}")
    probe = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False)
    if probe.returncode:
        raise NotRunError(f"this root may not mount anything ({probe.stderr.decode().strip()}); {advice}")


def _enter_namespace(arguments: list[str]) -> int:
    """Run this script again where its mounts and processes are its own, and are gone when it ends, however it ends."""
    process = subprocess.Popen(
        [
            *("setpriv", "--pdeathsig", "KILL"),
            *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"),
            *(sys.executable, str(Path(__file__).resolve()), INSIDE, *arguments),
        ]
    )

    def stop(number: int, _frame: object) -> None:
        process.kill()
        raise SystemExit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    return process.wait()


def _run_in_debian(options: argparse.Namespace, pytest_arguments: list[str]) -> int:
    import debian  # here, because it needs a Unix

    try:
        system = debian.get(fresh=options.fresh)
        debian.mount(system.root)
        with _workplace() as work:
            readable = [CHECKOUT] if options.samples is None else [CHECKOUT, options.samples.resolve()]
            for folder in readable:
                debian.bind(system.root, folder, read_only=True)
            OUTPUT.mkdir(parents=True, exist_ok=True)
            for folder in (OUTPUT, work):
                debian.bind(system.root, folder, read_only=False)
            age = (time.time() - system.made) / 86400
            note = "" if system.suite == debian.SUITES[0] else f" ({debian.SUITES[0]} did not install, see above)"
            name = f"Blender {system.blender} of Debian {system.suite}{note}, installed {age:.0f} days ago"
            with _xvfb(system.root) as display:
                stage = Stage(
                    ["chroot", str(system.root), "env", f"--chdir={CHECKOUT}", "blender"],
                    name,
                    {
                        "DISPLAY": display,
                        "LIBGL_ALWAYS_SOFTWARE": "1",
                        "HOME": str(work),
                        "TMPDIR": "/tmp",  # noqa: S108 (of the system that is started)
                        "LC_ALL": "C.UTF-8",
                        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                        "WINDOW_SCREENSHOT": "import",
                    },
                    window_options=["--gpu-backend", "opengl"],
                )
                return _run(stage, work, options, pytest_arguments)
    except debian.DebianError as error:
        print(f"window: no Blender to test in: {error}", flush=True)
        return 1


@contextlib.contextmanager
def _xvfb(root: Path) -> Iterator[str]:
    """Start an X server without a screen in the chroot; give its DISPLAY."""
    read, write = os.pipe()
    command = ["chroot", str(root), "Xvfb", "-displayfd", str(write), "-screen", "0", SCREEN, "-nolisten", "tcp"]
    with (OUTPUT / "xvfb.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, pass_fds=[write], stdout=log, stderr=log)
    os.close(write)
    try:
        with os.fdopen(read, encoding="ascii") as stream:
            number = stream.readline().strip()  # an empty line if the server died
        if not number:
            raise NotRunError(f"Xvfb did not start, see {OUTPUT / 'xvfb.log'}")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


# A Blender that is already there


def _own_blender(work: Path) -> Stage:
    """Return the stage for the executable named by BLENDER, with pytest and greenlet for its Python in a cache."""
    executable = shutil.which(os.environ["BLENDER"])
    if executable is None:
        raise NotRunError(f"BLENDER names {os.environ['BLENDER']}, which is not an executable")
    question = "import sys, bpy; print('ANSWER', bpy.app.version_string.split()[0], '%d.%d' % sys.version_info[:2])"
    command = [executable, "--background", "--factory-startup", "--python-expr", question]
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    lines = [line.split() for line in answer.splitlines() if line.startswith("ANSWER")]
    if not lines:
        raise NotRunError(f"{executable} does not answer like a Blender")
    _, version, python = lines[0]
    packages = work / "packages"
    wanted = [f"pytest=={importlib.metadata.version('pytest')}", GREENLET]
    options = ["--target", str(packages), "--python-version", python, "--only-binary", ":all:", *wanted]
    uv = shutil.which("uv")
    installer = [uv, "pip", "install"] if uv else [sys.executable, "-m", "pip", "install"]
    if subprocess.run([*installer, "--quiet", *options], check=False).returncode:
        raise NotRunError(f"{' and '.join(wanted)} could not be installed for the Python {python} of that Blender")
    return Stage([executable], f"Blender {version} ({executable})", python_path=[str(packages)])


# The run


@contextlib.contextmanager
def _workplace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="window-tests-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _run(stage: Stage, work: Path, options: argparse.Namespace, pytest_arguments: list[str]) -> int:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for old in OUTPUT.glob("*.png"):
        old.unlink()
    print(f"window: {stage.name}", flush=True)
    stage.environment["BLENDER_USER_RESOURCES"] = str(work / "user")
    stage.environment["WINDOW_OUTPUT"] = str(OUTPUT)
    stage.environment["WINDOW_CONFIG"] = str(work / "config.json")
    _install(stage, work)
    _write_config(stage, work)
    command = [sys.executable, "-m", "pytest", "--blender-executable", str(_executable(work))]
    command += [
        "-c",
        str(CHECKOUT / "tests" / "window" / "pytest.ini"),
        "--confcutdir",
        str(CHECKOUT / "tests" / "window"),
    ]
    if options.samples is not None:
        command += ["--samples", str(options.samples.resolve())]
    command += pytest_arguments
    if not any(Path(argument.split("::")[0]).exists() for argument in pytest_arguments):
        command.append(str(CHECKOUT / "tests" / "window"))
    code, text = _watched(command, {**os.environ, "WINDOW_CONFIG": str(work / "config.json")})
    return _verdict(code, text)


def _install(stage: Stage, work: Path) -> None:
    """Build the zip with this Blender and install it into the fresh user folder, as a user would."""
    (work / "user").mkdir()
    archive = work / "extension.zip"
    environment = {**os.environ, **stage.environment}
    build = ["--command", "extension", "build", "--source-dir", str(CHECKOUT), "--output-filepath", str(archive)]
    prepare = ["--background", "--python-exit-code", "1", "--python", str(HERE / "prepare.py"), "--", str(archive)]
    for arguments in (build, prepare):
        done = subprocess.run(
            [*stage.blender, *arguments], env=environment, capture_output=True, text=True, errors="replace", check=False
        )
        text = done.stdout + done.stderr
        if done.returncode or console.errors_in(text):
            print(text, flush=True)
            raise SystemExit(f"window: the extension does not install: `blender {' '.join(arguments[:4])}` failed")


def _write_config(stage: Stage, work: Path) -> None:
    """Copy pytest-blender to where that Blender can see it, and write what `launcher.py` and `session.py` need."""
    found = importlib.util.find_spec("pytest_blender")
    if found is None or found.origin is None:
        raise SystemExit("window: the package pytest-blender is not installed for this Python")
    plugin = work / "pytest_blender"
    shutil.copytree(Path(found.origin).parent, plugin, ignore=shutil.ignore_patterns("__pycache__"))
    config = {
        "blender": [*stage.blender, *stage.window_options, "--enable-event-simulate"],
        "environment": stage.environment,
        "session": str(HERE / "session.py"),
        "run_pytest": str(plugin / "run_pytest.py"),
        "python_path": [*stage.python_path, str(HERE)],
        "exit_code": str(work / "exit_code"),
    }
    (work / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


def _executable(work: Path) -> Path:
    """Write the one-file executable pytest-blender can start, which calls `launcher.py`."""
    if sys.platform == "win32":
        path = work / "blender_with_window.cmd"
        path.write_text(f'@"{sys.executable}" "{HERE / "launcher.py"}" %*\r\n', encoding="utf-8")
    else:
        path = work / "blender_with_window"
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "launcher.py"}" "$@"\n', encoding="utf-8")
        path.chmod(0o755)
    return path


def _watched(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run a command, show and keep its output line by line; return its exit code and its output."""
    lines: list[str] = []
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment["PYTHONWARNINGS"] = "ignore:config.inicfg"  # pytest-blender 3.0.8 with pytest 9
    with (
        (OUTPUT / "console.log").open("w", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            cwd=CHECKOUT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        for line in process.stdout or ():
            print(line, end="", flush=True)
            log.write(line)
            lines.append(line)
    return process.returncode, "".join(lines)


def _verdict(code: int, text: str) -> int:
    """Return the exit code; a green pytest with an error in the console is not green."""
    closing = [line for line in text.splitlines() if line.startswith("=") and " in " in line]
    errors = console.errors_in(text)
    if code == 0 and not closing:
        print("window: pytest printed no summary: nothing was tested", flush=True)
        return 1
    if code == 0 and errors:
        print("window: all tests passed, but the console shows:", *errors, sep="\n  ", flush=True)
        code = 1
    pictures = len(list(OUTPUT.glob("*.png")))
    print(f"window: {pictures} screenshots and the console's log are in {OUTPUT}", flush=True)
    print(f"window: {closing[-1].strip('= ') if closing else 'no summary'}; exit code {code}", flush=True)
    return code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
