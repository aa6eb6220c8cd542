# SPDX-License-Identifier: GPL-3.0-or-later
"""What every reader promises for any input."""

from __future__ import annotations

import re
import tracemalloc
import warnings
from typing import TYPE_CHECKING

from addon.io_common.formats.errors import UserError

from tests import hostile

if TYPE_CHECKING:
    from tests.fuzz.readers import Reader

_ALLOWED = 64 << 20
_TIMES = 20


def broken_promise(reader: Reader, data: bytes) -> str:
    """What `reader` did wrong with `data`; empty when it did nothing wrong. Lets through whatever else it raises."""
    started = not tracemalloc.is_tracing()
    if started:
        tracemalloc.start(1)
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        trouble = _content(reader, data)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        if started:
            tracemalloc.stop()
    if not trouble and peak > _ALLOWED + _TIMES * len(data):
        return f"needed {peak} bytes at once for a file of {len(data)} bytes"
    return trouble


def _content(reader: Reader, data: bytes) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = reader.read(data)
        except UserError as error:
            text = str(error)
            # What is quoted out of the input may be anything.
            own = re.sub('".*"', '""', text)
            return "" if hostile.is_sentence(own) and "\n" not in text else f"this is not one plain sentence: {text!r}"
        if reader.write is None:
            return ""
        written = reader.write(found)
    return "" if written == data else f"written back as {len(written)} other bytes"
