# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension's zip with Blender's own builder, and validate it: `python -m tools.build [FOLDER]`.

Runs in an environment with a `bpy` wheel, whose builder is a script that needs no Blender. The same sources give the
same bytes: every file gets the time of SOURCE_DATE_EPOCH, or else of the last commit.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

from tools.staging import EXTENSION_ID, ROOT, stage

# What zip files can say; used where there is neither a variable nor a commit.
EARLIEST = 315532800


def _scripts() -> Path:
    """Return the scripts folder inside the `bpy` wheel, found without starting Blender."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        message = "the builder is part of the bpy wheel, which this Python does not have"
        raise SystemExit(message)
    return next(Path(spec.origin).parent.glob("*.*/scripts"))


def run_builder(*arguments: str) -> None:
    """Run Blender's command-line builder, which says what it does on the standard output."""
    program = _scripts() / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    subprocess.run([sys.executable, str(program), *arguments], check=True)


def source_time() -> int:
    """Return the time that all files of the zip get, in seconds since 1970."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return max(EARLIEST, int(os.environ["SOURCE_DATE_EPOCH"]))
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        return int(subprocess.run(command, check=True, capture_output=True).stdout)
    except (OSError, subprocess.CalledProcessError):
        return EARLIEST


def _normalise(archive: Path) -> None:
    """Give all members one time and the order of their names.

    The builder takes the order from the disk, and the time from the file, in the time zone of the machine.
    """
    when = time.gmtime(source_time())[:6]
    with zipfile.ZipFile(archive) as old:
        members = [(info, old.read(info)) for info in sorted(old.infolist(), key=lambda info: info.filename)]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as new:
        for info, data in members:
            info.date_time = when
            new.writestr(info, data, compresslevel=9)


def build(folder: Path) -> Path:
    """Build into *folder*; return the zip's path. Only files that git tracks go in."""
    tags = ("--valid-tags", str(_scripts() / "modules" / "_bpy_internal" / "extensions" / "tags.py"))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / EXTENSION_ID
        files = stage(source, tracked_only=True)
        for file in files:
            # The bits of the checkout depend on the user's umask, and would end up in the zip.
            (source / file).chmod(0o644)
        run_builder("validate", *tags, str(source))
        version = tomllib.loads((source / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
        archive = folder / f"{EXTENSION_ID}-{version}.zip"
        run_builder("build", *tags, "--source-dir", str(source), "--output-filepath", str(archive))
        _normalise(archive)
        run_builder("validate", *tags, str(archive))
    return archive


if __name__ == "__main__":
    print(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"))
