# SPDX-License-Identifier: GPL-3.0-or-later
"""Start the embedded Blender (the `bpy` wheel) with the extension staged and enabled, in a user folder of its own.

    python tools/embedded.py command ARGS      the extension's command line
    python tools/embedded.py script FILE ARGS  a Python script

Without a user folder of its own, the wheel would read and write the settings of the Blender that the user works with.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import os
import runpy
import shutil
import sys
import tempfile
import traceback
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
    """Disable the extension, so that its own clean-up is exercised and nothing stays registered."""
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
        with _standard_output_aside():
            import bpy

            enable()
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        try:
            yield
        finally:
            disable()
    finally:
        shutil.rmtree(user_folder, ignore_errors=True)


@contextlib.contextmanager
def _standard_output_aside() -> Iterator[None]:
    """Send what Blender prints, which it does from C, to the standard error: scripts read the standard output."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        _flush_c()
        os.dup2(kept, 1)
        os.close(kept)


def _flush_c() -> None:
    """Write out the buffers of C's streams, which Python does not know of."""
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)


class CleanExit:
    """End the process with `status` before the wheel's own clean-up of static objects.

    In bpy 4.2 and 4.5 that clean-up needs the interpreter, which is gone by then, whenever a program has so much as
    looked at a panel class: the process crashes or hangs after its work is done. Handlers of `atexit` run in reverse
    order, so an instance made before `import bpy` acts after everybody else's handlers.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        atexit.register(self._leave)

    def _leave(self) -> None:
        if self.status is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            _flush_c()
            self._remove_session_folder()
            os._exit(self.status)

    @staticmethod
    def _remove_session_folder() -> None:
        """Do the one part of the wheel's clean-up that outlives the process."""
        if "bpy" in sys.modules:
            folder = Path(sys.modules["bpy"].app.tempdir)
            # Only the folder of this one session, never the temporary folder that it lies in.
            if folder.name.startswith("blender_"):
                shutil.rmtree(folder, ignore_errors=True)


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


def run(arguments: list[str]) -> int:
    """Run `main`; return the exit code that Python would end with."""
    try:
        return main(arguments)
    except SystemExit as leave:
        if leave.code is None or isinstance(leave.code, int):
            return leave.code or 0
        print(leave.code, file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    except BaseException:  # noqa: BLE001 (reported in full, as Python itself would)
        traceback.print_exc()
    return 1


if __name__ == "__main__":
    clean_exit = CleanExit()
    clean_exit.status = run(sys.argv[1:])
