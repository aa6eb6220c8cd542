# SPDX-License-Identifier: GPL-3.0-or-later
"""`pak`: list, search, extract and write archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...io_common.ui.command_line import AddParser, Subparsers


class PakCommand:
    """The group of commands."""

    def add(self, commands: Subparsers, add_parser: AddParser) -> None:
        """Make their parsers."""


COMMAND = PakCommand()
