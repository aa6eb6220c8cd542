# SPDX-License-Identifier: GPL-3.0-or-later
"""The "Blender executable" that pytest-blender is given: starts the real one with a window.

pytest-blender starts `BLENDER -b --python .../run_pytest.py -- ARGS` and takes the exit code. This program takes its
place: it leaves out `-b`, lets `session.py` start that script once Blender's event loop runs, and returns pytest's exit
code, or Blender's own if that is an error. Its configuration is the JSON file named by WINDOW_CONFIG (see `run.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Start Blender with the arguments pytest-blender gave, changed as said above; return the exit code."""
    config = json.loads(Path(os.environ["WINDOW_CONFIG"]).read_text(encoding="utf-8"))
    command = list(config["blender"])
    split = arguments.index("--") if "--" in arguments else len(arguments)
    for argument in arguments[:split]:
        if argument in {"-b", "--background"}:
            continue
        command.append(config["session"] if Path(argument).name == "run_pytest.py" else argument)
    code_file = Path(config["exit_code"])
    code_file.unlink(missing_ok=True)
    code = subprocess.run(
        [*command, *arguments[split:]], env={**os.environ, **config["environment"]}, check=False
    ).returncode
    if code:
        print(f"window: Blender ended with exit code {code}", file=sys.stderr, flush=True)
        return code if code > 0 else 128 - code
    if not code_file.is_file():
        print("window: Blender ended before pytest did", file=sys.stderr, flush=True)
        return 1
    return int(code_file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
