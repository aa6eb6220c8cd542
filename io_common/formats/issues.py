# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check before writing finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt


class Severity(Enum):
    """An error stops the export; a warning is listed."""

    ERROR = "error"
    WARNING = "warning"


def _none() -> npt.NDArray[np.intp]:
    return np.zeros(0, np.intp)


@dataclass(frozen=True)
class Issue:
    """One finding. `code` is stable for scripts; `message` is one sentence; `faces` and `vertices` are file indices.

    `part`: the number of the sub-mesh that these count in, -1 where the file has none or all of it is meant.
    """

    severity: Severity
    code: str
    message: str
    faces: npt.NDArray[np.intp] = field(default_factory=_none, compare=False)
    vertices: npt.NDArray[np.intp] = field(default_factory=_none, compare=False)
    part: int = field(default=-1, compare=False)
