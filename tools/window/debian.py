# SPDX-License-Identifier: GPL-3.0-or-later
"""A Debian with a real Blender in a folder: made once by debootstrap, kept between runs, entered by chroot.

Everything here runs as root inside a mount namespace of its own (see `run.py`), so that whatever is mounted is gone
with the process, however that ends.

The cache is `$XDG_CACHE_HOME/io_carnivores_dragonnest/window` (`~/.cache/...` without that variable): one folder per
Debian suite. A folder is made under the name `SUITE.partial` and renamed when it is complete and marked, so a half-made
one is never used. Packages come from the mirror that DEBIAN_MIRROR names, else from the one the host uses.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

SUITES = ("sid", "trixie")  # Blender 5.2, and 4.3 for the days on which sid does not install
PACKAGES = (
    "blender",
    "xvfb",
    "xauth",
    "xdotool",
    "imagemagick",
    "libgl1-mesa-dri",
    "libegl-mesa0",
    "python3-numpy",
    "python3-cattr",
    "python3-requests",
    "python3-pytest",
    "python3-greenlet",
    "python3-xlib",
)
_MARKER = "finished.json"
_RETRY_AFTER = 24 * 3600.0  # seconds until a suite that did not install is tried again
_DEFAULT_MIRROR = "http://deb.debian.org/debian"
# A mirror may lag behind by weeks. Its signatures are checked all the same; only the date of the index is not.
_APT = ("apt-get", "-o", "Acquire::Check-Valid-Until=false", "-o", "Acquire::Retries=3", "-o", "DPkg::Use-Pty=0")


class DebianError(Exception):
    """A Debian with Blender could not be made; the text says which step failed and where its log is."""


@dataclass(frozen=True)
class Debian:
    """A ready chroot: its folder, the suite's name, the version of its Blender, when it was made (Unix time)."""

    root: Path
    suite: str
    blender: str
    made: float


def cache_folder() -> Path:
    """Return the folder, outside any checkout, that keeps the made Debians between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "io_carnivores_dragonnest" / "window"


def get(*, fresh: bool = False) -> Debian:
    """Return a ready Debian, newest suite first; make it when the cache has none or `fresh` asks for a new one.

    Raises:
        DebianError: no suite could be installed.

    """
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once: the second waits and then finds the cache filled
        reasons: list[str] = []
        for suite in SUITES:
            ready = None if fresh else _ready(cache / suite, suite)
            if ready is not None:
                return ready
            failure = cache / f"{suite}.failed"
            if not fresh and failure.is_file() and time.time() - failure.stat().st_mtime < _RETRY_AFTER:
                reasons.append(f"{suite}: {failure.read_text(encoding='utf-8').strip()}")
            else:
                try:
                    made = _make(cache, suite)
                except DebianError as error:
                    reasons.append(f"{suite}: {error}")
                    failure.write_text(str(error), encoding="utf-8")
                else:
                    failure.unlink(missing_ok=True)
                    return made
            print(f"window: Debian {reasons[-1]}", flush=True)
    raise DebianError("; ".join(reasons))


def mount(root: Path) -> None:
    """Mount /proc, /dev and a /tmp of its own below `root`."""
    _call(["mount", "-t", "proc", "proc", str(root / "proc")])
    _call(["mount", "--rbind", "/dev", str(root / "dev")])
    _call(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(root / "tmp")])


def unmount(root: Path) -> None:
    """Take back `mount`."""
    for name in ("tmp", "dev", "proc"):
        _call(["umount", "--recursive", str(root / name)])


def bind(root: Path, folder: Path, *, read_only: bool) -> None:
    """Show the folder of the host below `root`, under the same path as outside, so that every message names it."""
    target = root / folder.relative_to(folder.anchor)
    target.mkdir(parents=True, exist_ok=True)
    _call(["mount", "--bind", str(folder), str(target)])
    if read_only:
        _call(["mount", "-o", "remount,bind,ro", str(target)])


def _ready(root: Path, suite: str) -> Debian | None:
    """Return the Debian in `root` if it is complete and has today's list of packages."""
    try:
        mark = json.loads((root / _MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if mark["packages"] != list(PACKAGES):
        return None
    return Debian(root, suite, mark["blender"], mark["made"])


def _make(cache: Path, suite: str) -> Debian:
    root, partial, log = cache / suite, cache / f"{suite}.partial", cache / f"{suite}.log"
    print(f"window: making a Debian {suite} with Blender in {root} (once; about three minutes)", flush=True)
    _remove(partial)
    _need_debootstrap(log)
    mirror = os.environ.get("DEBIAN_MIRROR") or _host_mirror()
    _logged(["debootstrap", "--variant=minbase", suite, str(partial), mirror], log)
    shutil.copyfile("/etc/resolv.conf", partial / "etc" / "resolv.conf")
    (partial / "etc" / "mtab").unlink(missing_ok=True)
    (partial / "etc" / "mtab").symlink_to("/proc/self/mounts")
    mount(partial)
    try:
        _logged(["chroot", str(partial), *_APT, "update"], log)
        _logged(["chroot", str(partial), *_APT, "install", "--yes", "--no-install-recommends", *PACKAGES], log)
        _logged(["chroot", str(partial), "apt-get", "clean"], log)
        answer = _call(["chroot", str(partial), "blender", "--version"])
    finally:
        unmount(partial)
    found = re.search(r"Blender (\d+\.\d+\.\d+)", answer)
    if found is None:
        raise DebianError(f"`blender --version` answered {answer!r}")
    made = Debian(root, suite, found.group(1), time.time())
    mark = {"packages": list(PACKAGES), "blender": made.blender, "made": made.made}
    (partial / _MARKER).write_text(json.dumps(mark), encoding="utf-8")
    _remove(root)
    partial.rename(root)
    return made


def _remove(folder: Path) -> None:
    """Delete a made Debian; refuse while something is mounted in it, or the host's /dev would be emptied."""
    if not folder.exists():
        return
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    if any(line.split()[4].startswith(f"{folder}/") for line in mounts):
        raise DebianError(f"{folder} still has something mounted in it; unmount that first")
    _call(["rm", "-rf", "--one-file-system", str(folder)])


def _need_debootstrap(log: Path) -> None:
    if shutil.which("debootstrap"):
        return
    if not shutil.which("apt-get"):
        raise DebianError("debootstrap is not installed, and there is no apt-get to install it")
    _logged([*_APT, "update"], log)
    _logged([*_APT, "install", "--yes", "--no-install-recommends", "debootstrap", "debian-archive-keyring"], log)


def _host_mirror() -> str:
    """Return the Debian mirror that the host itself uses, or Debian's own."""
    lists = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for path in lists:
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            found = re.search(r"^(?:URIs:|deb\b[^\n]*?)\s+(https?://\S+/debian)/?(?:\s|$)", text, re.MULTILINE)
            if found is not None:
                return found.group(1)
    return _DEFAULT_MIRROR


def _logged(command: list[str], log: Path) -> None:
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive", LC_ALL="C.UTF-8")
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"$ {' '.join(command)}\n")
        stream.flush()
        code = subprocess.run(command, stdout=stream, stderr=stream, env=environment, check=False).returncode
    if code:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:])
        raise DebianError(f"`{' '.join(command[:6])} ...` failed with exit code {code} (see {log}):\n{tail}")


def _call(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DebianError(f"`{' '.join(command)}` failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout
