# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress shown at the mouse pointer or on the terminal, with nested ranges and a way to stop."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ..formats.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import bpy

STEPS = 1000


class Progress:
    """A fraction between 0 and 1 over nested ranges.

    `show(fraction)` displays it; `stop()` tells whether the user asked to stop, and is asked at every `update`, which
    then raises `Cancelled`.
    """

    def __init__(self, show: Callable[[float], None] | None = None, stop: Callable[[], bool] | None = None) -> None:
        """Without `show` nothing is displayed; without `stop` it cannot be cancelled."""
        self._show = show
        self._stop = stop
        self._range = (0.0, 1.0)
        self._last = -1

    def update(self, fraction: float) -> None:
        """`fraction` of the current range is done."""
        if self._stop is not None and self._stop():
            raise Cancelled("stopped by Esc")
        low, high = self._range
        now = int((low + (high - low) * min(max(fraction, 0.0), 1.0)) * STEPS)
        if self._show is not None and now != self._last:
            self._last = now
            self._show(now / STEPS)

    @contextlib.contextmanager
    def part(self, start: float, end: float) -> Iterator[None]:
        """Inside, 0..1 means `start`..`end` of the current range."""
        low, high = self._range
        self._range = (low + (high - low) * start, low + (high - low) * end)
        try:
            yield
        finally:
            self._range = (low, high)


@contextlib.contextmanager
def pointer(context: bpy.types.Context, stop: Callable[[], bool] | None = None) -> Iterator[Progress]:
    """Progress shown at the mouse pointer of Blender's window."""
    manager = context.window_manager
    manager.progress_begin(0, STEPS)
    try:
        yield Progress(lambda fraction: manager.progress_update(fraction * STEPS), stop)
    finally:
        manager.progress_end()
