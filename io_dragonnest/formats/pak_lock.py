# SPDX-License-Identifier: GPL-3.0-or-later
"""One program at a time changes an archive: a lock that goes by itself with the process that holds it.

Two that append at once would write over each other's payloads. Only programs that ask for the lock heed it; what others
do is noticed by the header, see `pak_write`.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, BinaryIO

from ...io_common.formats import files
from ...io_common.formats.errors import FileAccessError

with contextlib.suppress(ImportError):  # Windows has none
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HAS_FLOCK = os.name == "posix"
_BUSY = "this archive is being changed by another program right now and is left as it is"


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock of the archive at `path`, a file that exists. `FileAccessError` if another program has it."""
    with _flocked(path) if _HAS_FLOCK else _beside(path):
        yield


@contextlib.contextmanager
def _flocked(path: Path) -> Iterator[None]:
    with files.open_file(path) as stream:
        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FileAccessError(_BUSY, path=path) from error
        except OSError:
            # Some file systems of a network have no locks: better without than not at all.
            yield
            return
        # Who had the lock before may have put a new file in its place.
        if not _is_there(path, stream):
            raise FileAccessError(_BUSY, path=path)
        yield


def _is_there(path: Path, stream: BinaryIO) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except OSError:
        return False


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[None]:
    """Windows replaces no file that is open, so the lock is a file of its own there, which goes when it is closed."""
    name = path.with_name(f".{path.name[:40]}.lock")
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_TEMPORARY", 0) | getattr(os, "O_NOINHERIT", 0)
    try:
        descriptor = os.open(name, flags, 0o600)
    except (FileExistsError, PermissionError) as error:
        # A file that is about to go gives "permission denied"; so does a folder where nothing can be changed anyway.
        busy = name.exists()
        reason = _BUSY if busy else f"cannot be written ({error.strerror})"
        raise FileAccessError(reason, path=path) from error
    except OSError as error:
        raise FileAccessError(f"cannot be written ({error.strerror})", path=path) from error
    try:
        yield
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            name.unlink()
