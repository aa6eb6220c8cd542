# SPDX-License-Identifier: GPL-3.0-or-later
"""How much memory something takes."""

from __future__ import annotations

import contextlib
import tracemalloc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def measured() -> Iterator[Callable[[], int]]:
    """What Python and numpy allocate at the most inside, in bytes: a function that says it."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
