# SPDX-License-Identifier: GPL-3.0-or-later
"""Run by Blender with a window: runs pytest-blender's own script while Blender's event loop keeps turning.

pytest is one long call, and as long as a script runs, Blender handles no event and draws nothing: no menu opens, no
dialog appears. So pytest runs in a greenlet, which a timer of Blender resumes. A test that wants Blender to work calls
`pause`: that switches back to the timer, Blender handles its events, redraws, and resumes the test at the next tick.
All of it stays in the main thread, so nothing that Blender forbids to other threads is forbidden to a test.

The configuration is the JSON file named by WINDOW_CONFIG (see `run.py`).
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

import bpy

CONFIG = json.loads(Path(os.environ["WINDOW_CONFIG"]).read_text(encoding="utf-8"))
sys.path[:0] = CONFIG["python_path"]
sys.dont_write_bytecode = True

import greenlet  # noqa: E402 - found by the path set above


def _run_pytest() -> int:
    try:
        runpy.run_path(CONFIG["run_pytest"], run_name="__main__")
    except SystemExit as leave:
        return int(leave.code or 0) if isinstance(leave.code, int) or leave.code is None else 1
    except BaseException:  # noqa: BLE001 - an error of the runner itself must end Blender too, and be seen
        traceback.print_exc()
        return 1
    return 1  # run_pytest.py always leaves by SystemExit


class _Session:
    """The greenlet pytest runs in, and the timer that drives it."""

    def __init__(self) -> None:
        self.greenlet = greenlet.greenlet(_run_pytest)

    def tick(self) -> float | None:
        """Resume pytest until its next pause; return the seconds until the next tick, None at the end."""
        answer = self.greenlet.switch()
        if not self.greenlet.dead:
            return float(answer)
        Path(CONFIG["exit_code"]).write_text(str(answer), encoding="utf-8")
        sys.stdout.flush()
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
            bpy.ops.wm.quit_blender()
        return None


bpy.app.timers.register(_Session().tick, first_interval=1.0, persistent=True)
