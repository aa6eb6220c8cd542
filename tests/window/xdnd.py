# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag a file from another program and drop it on Blender's window: a source of the XDND protocol, version 5.

`python3 xdnd.py FILE X Y`, X and Y in pixels from the upper left corner of the screen. Needs python-xlib and DISPLAY.
Leaves with 0 when the target says it took the data (XdndFinished), with 1 when it refuses or is silent.

Source of the protocol: the XDND specification, https://freedesktop.org/wiki/Specifications/XDND/.
"""

from __future__ import annotations

import select
import sys
import time
from pathlib import Path
from typing import Any

from Xlib import X, Xatom
from Xlib.display import Display
from Xlib.protocol import event

VERSION = 5
PATIENCE = 60.0  # seconds for the target to answer


class Source:
    """The dragging program: a window that owns the selection XdndSelection."""

    def __init__(self, path: Path, x: int, y: int) -> None:
        self.display = Display()
        self.atom = self.display.intern_atom
        self.screen = self.display.screen()
        self.window = self.screen.root.create_window(0, 0, 1, 1, 0, self.screen.root_depth)
        self.uris = (path.resolve().as_uri() + "\r\n").encode()
        self.position = (x << 16) | y
        self.target = self.find_target(self.screen.root)

    def find_target(self, window: Any) -> Any:
        """Return the first window that understands XDND."""
        if window.get_full_property(self.atom("XdndAware"), Xatom.ATOM):
            return window
        for child in window.query_tree().children:
            found = self.find_target(child)
            if found is not None:
                return found
        return None

    def send(self, name: str, *data: int) -> None:
        """Send a client message of the protocol to the target."""
        message = event.ClientMessage(
            window=self.target,
            client_type=self.atom(name),
            data=(32, [self.window.id, *data, *[0] * (4 - len(data))]),
        )
        self.target.send_event(message)
        self.display.flush()

    def drop(self) -> bool:
        """Play the whole drag; return whether the target took the file."""
        kind = self.atom("text/uri-list")
        self.window.set_selection_owner(self.atom("XdndSelection"), X.CurrentTime)
        self.send("XdndEnter", VERSION << 24, kind)
        self.send("XdndPosition", 0, self.position, X.CurrentTime, self.atom("XdndActionCopy"))
        if not self.answer("XdndStatus").data[1][1] & 1:
            return False
        self.send("XdndDrop", 0, X.CurrentTime)
        self.answer("XdndFinished")
        return True

    def answer(self, name: str) -> Any:
        """Hand out the data while waiting for the target's message of that name; return the message."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            while self.display.pending_events():
                found = self.display.next_event()
                if found.type == X.SelectionRequest:
                    self.hand_over(found)
                elif found.type == X.ClientMessage and found.client_type == self.atom(name):
                    return found
            select.select([self.display], [], [], 0.1)
        raise SystemExit(f"the target did not answer with {name}")

    def hand_over(self, request: Any) -> None:
        """Answer a SelectionRequest with the list of files."""
        request.requestor.change_property(request.property, request.target, 8, self.uris)
        request.requestor.send_event(
            event.SelectionNotify(
                time=request.time,
                requestor=request.requestor,
                selection=request.selection,
                target=request.target,
                property=request.property,
            )
        )
        self.display.flush()


if __name__ == "__main__":
    source = Source(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    raise SystemExit("no window takes drops" if source.target is None else 0 if source.drop() else "refused")
