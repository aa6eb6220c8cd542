# SPDX-License-Identifier: GPL-3.0-or-later
"""What a benchmark case is and how it is measured: time, the floor of the same run, peak memory."""

from __future__ import annotations

import contextlib
import gc
import os
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

_BUDGET = 2.5  # seconds of repetitions per case
_LEAST, _MOST = 5, 40


class Case:
    """One thing to measure; a subclass is one entry of the table.

    `run` is timed. `floor` is what cannot be saved, timed in turn with it; a subclass without one has no ratio.
    `prepare` comes once before, `clean` after every turn of either; neither is timed.
    """

    name: ClassVar[str]
    most_ratio: ClassVar[float | None] = None  # wanted: time <= most_ratio * floor
    least_speed: ClassVar[float | None] = None  # wanted: MB/s

    def prepare(self) -> None:
        """Make the input."""

    def run(self) -> None:
        """Do what is measured."""
        raise NotImplementedError

    floor: Callable[[], None] | None = None
    # What `ratio` is of, where it is not of times: asked after the first run.
    share: Callable[[], float] | None = None

    @property
    def most_peak(self) -> int | None:
        """Wanted: no more memory than this at once, in bytes."""
        return None

    def clean(self) -> None:
        """Take back what `run` or `floor` made."""

    @property
    def size(self) -> int:
        """Bytes that one run goes through; 0 where a speed says nothing."""
        return 0


@dataclass(frozen=True)
class Result:
    """Seconds (medians), MB/s of 10^6 bytes, peak memory of the first run above what was there before it, in bytes."""

    name: str
    seconds: float
    floor: float | None
    ratio: float | None
    speed: float | None
    peak: int
    file_size: int
    repetitions: int
    wanted: str
    reached: bool | None

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def measure(case: Case) -> Result:
    """Run `case` until the medians can be trusted."""
    case.prepare()
    _collect()
    before = _reset_high_water()
    case.run()
    peak = max(0, high_water() - before)
    share = case.share() if case.share is not None else None
    case.clean()
    if case.floor is not None:
        case.floor()
        case.clean()
    times: list[float] = []
    floors: list[float] = []
    end = time.perf_counter() + _BUDGET
    while len(times) < _LEAST or (len(times) < _MOST and time.perf_counter() < end):
        if case.floor is not None:
            floors.append(_timed(case.floor, case.clean))
        times.append(_timed(case.run, case.clean))
    return _result(case, times, floors, peak, share)


def _result(case: Case, times: list[float], floors: list[float], peak: int, share: float | None) -> Result:
    seconds = statistics.median(times)
    floor = statistics.median(floors) if floors else None
    # Neighbours in time have the same machine to themselves: their ratio bears other programs better than the medians'.
    ratio = statistics.median(one / low for one, low in zip(times, floors, strict=True)) if floors else share
    speed = case.size / seconds / 1e6 if case.size else None
    wanted, reached = "", None
    if case.most_ratio is not None and ratio is not None:
        wanted, reached = f"<= {case.most_ratio:g} x", ratio <= case.most_ratio
    elif case.least_speed is not None and speed is not None:
        wanted, reached = f">= {case.least_speed:g} MB/s", speed >= case.least_speed
    if case.most_peak is not None:
        wanted = f"{wanted}, {case.most_peak / 2**20:.0f} MiB".removeprefix(", ")
        reached = reached is not False and peak <= case.most_peak
    return Result(case.name, seconds, floor, ratio, speed, peak, case.size, len(times), wanted, reached)


def _timed(call: Callable[[], None], clean: Callable[[], None]) -> float:
    _collect()
    gc.disable()
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    gc.enable()
    clean()
    return seconds


def _collect() -> None:
    gc.collect()


def _reset_high_water() -> int:
    """Bytes in use now; where the system allows it (Linux), its high-water mark starts anew from here."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        # Some containers forbid it: the mark since the start of the process has to do.
        with contextlib.suppress(OSError):
            reset.write_text("5", encoding="ascii")
    return high_water()


def high_water() -> int:
    """The most memory (resident bytes) this process has had at once."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if os.name == "nt":
        return _windows_high_water()
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _windows_high_water() -> int:
    import ctypes
    from ctypes import wintypes

    class Counters(ctypes.Structure):
        _fields_ = [
            ("cb", wintypes.DWORD),
            ("page_faults", wintypes.DWORD),
            *(
                (name, ctypes.c_size_t)
                for name in ("peak", "working_set", "a", "b", "c", "d", "pagefile", "peak_pagefile")
            ),
        ]

    counters = Counters()
    counters.cb = ctypes.sizeof(counters)
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    query = kernel.K32GetProcessMemoryInfo
    query.argtypes = [wintypes.HANDLE, ctypes.POINTER(Counters), wintypes.DWORD]
    return int(counters.peak) if query(kernel.GetCurrentProcess(), ctypes.byref(counters), counters.cb) else 0
