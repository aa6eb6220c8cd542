# SPDX-License-Identifier: GPL-3.0-or-later
"""Start the embedded Blender (the `bpy` wheel) with the extension staged and enabled, in a user folder of its own.

    python tools/embedded.py command ARGS      the extension's command line
    python tools/embedded.py script FILE ARGS  a Python script

Without a user folder of its own, the wheel would read and write the settings of the Blender that the user works with.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if __package__ in {None, ""}:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools.staging import EXTENSION_ID, stage

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = f"bl_ext.user_default.{EXTENSION_ID}"
USER_FOLDER = "BLENDER_USER_RESOURCES"


def stage_for_blender(user_folder: Path) -> Path:
    """Copy the extension to where a Blender with this *user_folder* looks for it; return its folder.

    Must happen, as must setting the environment variable, before the first `import bpy`.
    """
    os.environ[USER_FOLDER] = str(user_folder)
    target = user_folder / "extensions" / "user_default" / EXTENSION_ID
    stage(target)
    return target


def enable() -> None:
    """Enable the staged extension; an error inside its `register` is raised, not just printed."""
    import addon_utils
    import bpy

    def reraise(error: BaseException) -> None:
        raise error

    # The wheel starts with the interface of a factory start; the preferences stay in memory only.
    addon_utils.enable(PACKAGE, default_set=True, handle_error=reraise)
    if PACKAGE not in bpy.context.preferences.addons:
        message = f"Blender {bpy.app.version_string} did not enable {PACKAGE}"
        raise RuntimeError(message)


def disable() -> None:
    """Disable the extension: an interpreter that ends with live registrations may hang."""
    import addon_utils

    def reraise(error: BaseException) -> None:
        raise error

    addon_utils.disable(PACKAGE, default_set=True, handle_error=reraise)


@contextlib.contextmanager
def extension_enabled() -> Iterator[None]:
    """Have an embedded Blender with the extension enabled and an empty scene, for as long as the block runs."""
    user_folder = Path(tempfile.mkdtemp(prefix="blender-user-"))
    try:
        stage_for_blender(user_folder)
        import bpy

        enable()
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        try:
            yield
        finally:
            disable()
    finally:
        shutil.rmtree(user_folder, ignore_errors=True)


def main(arguments: list[str]) -> int:
    """Run the extension's command line, or a script, and return its exit code."""
    kind, *rest = arguments
    with extension_enabled():
        if kind == "command":
            extension = importlib.import_module(PACKAGE)
            code: int = extension.command(rest)
            return code
        script = Path(rest[0]).resolve()
        sys.argv = [str(script), *rest[1:]]
        sys.path.insert(0, str(script.parent))
        runpy.run_path(str(script), run_name="__main__")
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
