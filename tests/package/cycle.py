# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the built zip into an empty user folder and look at what it does: `cycle.py PART ZIP RESULT`.

Runs as a program of its own, with BLENDER_USER_RESOURCES set: what is measured must not be mixed with what the test
session registered. PART is `leak` (enable and disable three times) or `read_only`.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import bpy  # first: it makes addon_utils importable

import addon_utils  # isort: skip

NAME = "bl_ext.user_default.io_carnivores_dragonnest"
ROUNDS = 3
WRITING_EVENTS = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.chmod", "os.link", "os.symlink"}


def registrations() -> dict[str, Any]:
    """Return everything an add-on can leave behind that Blender lets one count."""
    found = {name: getattr(bpy.types, name) for name in dir(bpy.types)}
    structs = {name: kind for name, kind in found.items() if isinstance(kind, type)}
    handlers = {name: len(calls) for name, calls in _handlers() if isinstance(calls, list)}
    drawn = {name: len(kind.draw._draw_funcs) for name, kind in structs.items() if hasattr(_draw(kind), "_draw_funcs")}
    properties = {
        name: sorted(kind.bl_rna.properties.keys()) for name, kind in structs.items() if issubclass(kind, bpy.types.ID)
    }
    keyconfig = bpy.context.window_manager.keyconfigs.addon
    keys = {keymap.name: len(keymap.keymap_items) for keymap in keyconfig.keymaps} if keyconfig else {}
    return {
        "types": sorted(structs),
        "properties": properties,
        "window manager": sorted(bpy.types.WindowManager.bl_rna.properties.keys()),
        "handlers": handlers,
        "draw functions": {name: count for name, count in drawn.items() if count},
        "keys": keys,
        "namespace": sorted(map(str, bpy.app.driver_namespace)),
        "other add-ons": sorted(set(bpy.context.preferences.addons.keys()) - {NAME}),
    }


def _handlers() -> list[tuple[str, object]]:
    return [(name, getattr(bpy.app.handlers, name)) for name in dir(bpy.app.handlers)]


def _draw(kind: type) -> object:
    return getattr(kind, "draw", None)


def fingerprint(folder: Path) -> dict[str, str]:
    """Return the files below *folder* with a hash of each; compiled modules are Python's own business."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def install(archive: str) -> Path:
    """Install the zip as dropping it into Blender does, without enabling it; return its folder."""
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=False)
    return Path(bpy.utils.user_resource("EXTENSIONS")) / "user_default" / NAME.rpartition(".")[2]


def fail(error: BaseException) -> None:
    """Do not let Blender turn an error of ours into a print."""
    raise error


def leak(archive: str) -> dict[str, Any]:
    """Enable and disable three times; note what is registered before, with and after."""
    folder = install(archive)
    before = registrations()
    enabled, disabled = [], []
    for _ in range(ROUNDS):
        addon_utils.enable(NAME, default_set=True, handle_error=fail)
        enabled.append(registrations())
        warnings = {key: list(map(str, found)) for key, found in addon_utils._extensions_warnings_get().items()}
        addon_utils.disable(NAME, default_set=True, handle_error=fail)
        disabled.append(registrations())
    return {
        "before": before,
        "enabled": enabled,
        "disabled": disabled,
        "warnings": warnings,
        "files": sorted(fingerprint(folder)),
    }


def forbid_writing(folder: Path) -> None:
    """Make every attempt to write below *folder* fail, as on a read-only disk.

    An audit hook does it, for root too, whom chmod does not stop.
    """
    inside = str(folder) + os.sep

    def guard(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event in WRITING_EVENTS or (event == "open" and _opens_for_writing(arguments))
        paths = [str(word) for word in arguments if isinstance(word, str | os.PathLike)]
        if writes and any(os.path.abspath(path).startswith(inside) for path in paths):  # noqa: PTH100 (resolve opens files)
            message = f"read-only: {event} {paths}"
            raise PermissionError(message)

    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    sys.addaudithook(guard)


def _opens_for_writing(arguments: tuple[Any, ...]) -> bool:
    _, mode, flags = arguments
    return any(letter in "wax+" for letter in mode or "") or bool(
        isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    )


def read_only(archive: str) -> dict[str, Any]:
    """Forbid writing to the installed extension, then enable it and load every module of it."""
    folder = install(archive)
    before = fingerprint(folder)
    forbid_writing(folder)
    try:
        (folder / "probe.txt").write_text("must not be written")
        refused = False
    except PermissionError:
        refused = True
    addon_utils.enable(NAME, default_set=True, handle_error=fail)
    modules = [Path(name).with_suffix("").as_posix().replace("/", ".") for name in before if name.endswith(".py")]
    for module in modules:
        importlib.import_module(f"{NAME}.{module}".removesuffix(".__init__").removesuffix("__init__").rstrip("."))
    enabled = NAME in bpy.context.preferences.addons
    addon_utils.disable(NAME, default_set=True, handle_error=fail)
    return {
        "refused": refused,
        "enabled": enabled,
        "modules": len(modules),
        "before": before,
        "after": fingerprint(folder),
        "compiled": len(list(folder.rglob("*.pyc"))),
    }


if __name__ == "__main__":
    part, zip_path, result = sys.argv[1:]
    Path(result).write_text(json.dumps({"leak": leak, "read_only": read_only}[part](zip_path)), encoding="utf-8")
