# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything Blender is given when the extension is enabled, and taken back when it is disabled."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import bpy

from . import command_line, operators, preferences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..formats.registry import Format
    from .command_line import Command
    from .operators import Service, Wing

COMMAND = "carnivores_dragonnest"


class Extension:
    """The registered whole. One object per loaded extension; `register` and `unregister` may be called by turns."""

    def __init__(self, wings: Sequence[Wing]) -> None:
        """Make the classes that belong to no single wing."""
        self.wings = tuple(wings)
        self.formats: tuple[Format, ...] = tuple(entry for wing in wings for entry in wing.formats)
        self.commands: tuple[Command, ...] = tuple(entry for wing in wings for entry in wing.commands)
        self._classes = (
            *preferences.classes(wing.preferences for wing in wings if wing.preferences is not None),
            *(entry for wing in wings for entry in wing.classes),
            *operators.drop_classes(self.formats),
        )
        self._services: tuple[Service, ...] = tuple(service for wing in wings for service in wing.services)
        self._registered: list[type] = []
        self._running: list[Service] = []
        self._imports = tuple(entry for wing in wings for entry in wing.imports)
        self._menus = (("TOPBAR_MT_file_import", self._draw_import), ("TOPBAR_MT_file_export", self._draw_export))
        self._command: Any = None

    def register(self) -> None:
        """Register classes, services, menu entries and the command; when one fails, none stays."""
        try:
            for entry in self._classes:
                bpy.utils.register_class(entry)
                self._registered.append(entry)
            for service in self._services:
                service.register()
                self._running.append(service)
            for menu, draw in self._menus:
                getattr(bpy.types, menu).append(draw)
            run = partial(command_line.main, formats=self.formats, commands=self.commands)
            self._command = bpy.utils.register_cli_command(COMMAND, run)
        except BaseException:
            self.unregister()
            raise

    def unregister(self) -> None:
        """Take everything back, in reverse order."""
        if self._command is not None:
            bpy.utils.unregister_cli_command(self._command)
            self._command = None
        for menu, draw in reversed(self._menus):
            getattr(bpy.types, menu).remove(draw)
        while self._running:
            self._running.pop().unregister()
        while self._registered:
            bpy.utils.unregister_class(self._registered.pop())

    @property
    def _draw_import(self) -> Any:
        return partial(_draw_menu, self.formats, "import_scene", self._imports)

    @property
    def _draw_export(self) -> Any:
        return partial(_draw_menu, self.formats, "export_scene", ())


def _draw_menu(
    formats: Sequence[Format],
    group: str,
    others: Sequence[tuple[str, str]],
    menu: bpy.types.Menu,
    _context: bpy.types.Context,
) -> None:
    for entry in formats:
        if (entry.build if group == "import_scene" else entry.extract) is None:
            continue
        extensions = "/".join(entry.extensions)
        menu.layout.operator(f"{group}.{entry.id}", text=f"{entry.label} ({extensions})")
    for operator, text in others:
        menu.layout.operator(operator, text=text)
