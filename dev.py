# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a developer task: `python3 dev.py TASK [ARGS]`; without TASK it lists the tasks.

Needs Python 3.11 or newer and a package index, nothing else: nox and uv go into a private environment (`.dev/tools`),
at the versions that `pyproject.toml` pins, and nox runs the session named TASK from `noxfile.py`.
"""

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent
TOOLS = ROOT / ".dev" / "tools"
PYTHON = TOOLS / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = TOOLS / "pins.txt"
# What pip and urllib say when there is no index, as opposed to a pin that the index does not hold.
NO_INDEX = re.compile(
    r"connection|resolve|timed out|temporary failure|unreachable|proxy|ssl|retrying|versions: none", re.IGNORECASE
)


class DevError(Exception):
    """A task cannot start; the text says why in one sentence."""


def pins() -> list[str]:
    """Return the pinned requirements of the private environment."""
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        groups: dict[str, list[str]] = tomllib.load(file)["dependency-groups"]
    return groups["bootstrap"]


def tasks() -> dict[str, str]:
    """Return the public tasks, each with one line, read from the noxfile without running it."""
    found = {}
    for node in ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
            if ast.unparse(call.func) != "nox.session":
                continue
            options = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
            if "STEP" not in options.get("tags", ""):
                name = options.get("name", node.name).strip("'\"")
                found[name] = (ast.get_docstring(node) or "").partition("\n")[0]
    return found


def index_url() -> str:
    """Return the address of the package index in use, without a trailing slash."""
    return os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")


def fetch_pip(folder: Path) -> Path:
    """Download pip's wheel from the package index: some systems ship a Python that has neither pip nor ensurepip."""
    page_url = f"{index_url()}/pip/"
    with urllib.request.urlopen(page_url, timeout=60) as page:  # noqa: S310 (the user's own index)
        links = re.findall(r'href="([^"]+/(pip-\d+(?:\.\d+)*-py3-none-any\.whl)[^"]*)"', page.read().decode())
    if not links:
        raise DevError(f"{page_url} lists no pip")
    link, name = max(links, key=lambda found: [int(part) for part in found[1].split("-")[1].split(".")])
    wheel = folder / name
    with urllib.request.urlopen(urllib.parse.urljoin(page_url, link), timeout=180) as data:  # noqa: S310
        wheel.write_bytes(data.read())
    return wheel


def install(requirements: list[str]) -> None:
    """Make the private environment and install *requirements* into it."""
    import venv

    if TOOLS.exists():
        shutil.rmtree(TOOLS)
    venv.create(TOOLS, symlinks=os.name != "nt")
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run([PYTHON, "-m", "ensurepip", "--upgrade"], check=True, capture_output=True)
            pip = [PYTHON, "-m", "pip"]
        except subprocess.CalledProcessError:
            pip = [PYTHON, str(fetch_pip(Path(folder)) / "pip")]
        command = [*pip, "install", "--quiet", "--disable-pip-version-check", *requirements]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.stderr.write(done.stdout)
        why = "is the network up, or PIP_INDEX_URL right?" if NO_INDEX.search(done.stdout) else "see pip's words above."
        raise DevError(f"could not install {', '.join(requirements)} from the package index {index_url()}: {why}")


def ensure_tools() -> None:
    """Make sure that the private environment holds what is pinned; rebuild it when the pins changed."""
    requirements = pins()
    digest = hashlib.sha256("\n".join([sys.version, *requirements]).encode()).hexdigest()
    # The stamp is written last, so an interrupted build is built anew.
    if PYTHON.exists() and STAMP.exists() and STAMP.read_text(encoding="utf-8") == digest:
        return
    sys.stderr.write(f"dev.py: making the private environment .dev/tools ({', '.join(requirements)}) ...\n")
    try:
        install(requirements)
    except urllib.error.URLError as error:
        raise DevError(f"no package index is reachable at {index_url()} ({error.reason})") from error
    STAMP.write_text(digest, encoding="utf-8")


def run_session(name: str, arguments: list[str]) -> int:
    """Run the nox session *name*; return the exit code of the program it ran, or nox's own."""
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder) / "exit-code"
        # uv does not read pip's settings; an index of the user's own must serve both.
        index = {"UV_DEFAULT_INDEX": index_url()} if "PIP_INDEX_URL" in os.environ else {}
        environment = index | os.environ | {"DEV_EXIT_CODE": str(code)}
        command = [PYTHON, "-m", "nox", "--noxfile", ROOT / "noxfile.py", "--session", name, "--", *arguments]
        # The caller's folder stays the current one, so that relative paths in ARGS mean what they say.
        done = subprocess.run(command, check=False, env=environment)
        return int(code.read_text(encoding="utf-8")) if code.exists() else done.returncode


def main(arguments: list[str]) -> int:
    """Run the task that the command line names."""
    if sys.version_info < (3, 11):  # noqa: UP036 (an older one gets a sentence)
        raise DevError(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    listed = tasks()
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print("python3 dev.py TASK [ARGS], where TASK is one of")
        print("\n".join(f"  {name:<8}{line}" for name, line in listed.items()))
        return 0
    name, *rest = arguments
    if name not in listed:
        raise DevError(f"there is no task {name!r}; the tasks are {', '.join(listed)}")
    ensure_tools()
    return run_session(name, rest)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DevError as problem:
        sys.exit(f"dev.py: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
