# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that take their time: one step per turn of the event loop, with progress and Esc."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

import bpy

from ...io_common.formats.errors import Cancelled, UserError
from ...io_common.scene import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...io_common.scene.progress import Progress

_TURN = 0.05  # seconds of work between two looks at the keyboard


class StepsMixin:
    """Shared by operators that give `steps`, and end with `finish`.

    From a script, and where there is no window, all steps are run at once.
    """

    after_stop = "what was done before stays"  # what Esc leaves behind

    if TYPE_CHECKING:
        report: Any
        bl_label: str
        _running: Iterator[tuple[float, str]]
        _timer: Any
        _shown: Progress
        _stopped: bool
        _done: float
    else:
        _timer = None
        _stopped = False
        _done = 0.0

    def steps(self, context: bpy.types.Context, shown: Progress) -> Iterator[tuple[float, str]]:
        """Do it, telling the part that is done (0 to 1) and what comes next; raises `UserError`."""
        raise NotImplementedError

    def finish(self, context: bpy.types.Context) -> set[str]:
        """Say what was done. Called at the end, and after Esc."""
        raise NotImplementedError

    def run(self, context: bpy.types.Context, *, modal: bool) -> set[str]:
        """Start; the result of `execute`."""
        if modal and not bpy.app.background and context.window is not None:
            return self._start(context)
        try:
            with progress.pointer(context) as shown:
                for fraction, _what in self.steps(context, shown):
                    shown.update(fraction)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return self.finish(context)

    def _start(self, context: bpy.types.Context) -> set[str]:
        manager = context.window_manager
        self._stopped, self._done = False, 0.0
        self._shown = progress.Progress(
            lambda fraction: manager.progress_update(fraction * progress.STEPS), lambda: self._stopped
        )
        self._running = self.steps(context, self._shown)
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.progress_begin(0, progress.STEPS)
        manager.modal_handler_add(cast("bpy.types.Operator", self))
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Some steps per turn of the event loop, so that the window lives and Esc is heard."""
        self._stopped = event.type == "ESC" and event.value == "PRESS"
        if event.type != "TIMER" and not self._stopped:
            return {"RUNNING_MODAL"}
        try:
            self._shown.update(self._done)  # raises where the user asked to stop
            end = time.perf_counter() + _TURN
            while time.perf_counter() < end:
                self._done, what = next(self._running)
                self._shown.update(self._done)
                context.workspace.status_text_set(f"{self.bl_label}: {self._done:.0%}, {what}; Esc stops")
        except StopIteration:
            self._end(context)
            return self.finish(context)
        except Cancelled:
            self._end(context)
            result = self.finish(context)
            self.report({"WARNING"}, f"Stopped by Esc; {self.after_stop}.")
            return result
        except UserError as error:
            self._end(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"RUNNING_MODAL"}

    def _end(self, context: bpy.types.Context) -> None:
        closing: Any = self._running
        closing.close()
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
