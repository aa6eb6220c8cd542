# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the sample models again: `python tools/make_samples.py [FOLDER]`; the folder is assets/ unless one is given.

Needs numpy and nothing else. Prints what it wrote, and whether it differs from what was there.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __package__ in {None, ""}:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools import addon_alias
from tools.staging import ROOT

ASSETS = ROOT / "assets"


def make() -> dict[str, bytes]:
    """Every sample file: its name, its bytes."""
    addon_alias.install(addon_alias.load_root_package)
    from tools.samples import assemble
    from tools.samples.fox import files

    return assemble.files() | files.files()


def main(arguments: list[str]) -> int:
    """Write the files."""
    folder = Path(arguments[0]) if arguments else ASSETS
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in make().items():
        path = folder / name
        known = path.read_bytes() if path.exists() else None
        path.write_bytes(data)
        print(f"{name}: {len(data)} bytes, {'new' if known is None else 'same' if known == data else 'changed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
