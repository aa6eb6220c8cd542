# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a file whole, and saving so that a failure leaves the old file as it was."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .errors import FileAccessError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# The largest files of the games have some ten megabytes.
_MOST_BYTES = 1 << 30


def read_file(path: str | Path, most: int = -1) -> bytes:
    """All bytes of `path`, or the first `most`; a missing file, a folder, no permission is a `FileAccessError`."""
    target = Path(path)
    with open_file(target, _MOST_BYTES) as stream:
        try:
            return stream.read(most)
        except OSError as error:
            raise FileAccessError(f"cannot be read ({_reason(error)})", path=target) from error


def read_head(path: str | Path, most: int) -> tuple[bytes, int]:
    """The first `most` bytes of `path` and its size in bytes, which may be any; errors like `read_file`."""
    target = Path(path)
    with open_file(target) as stream:
        try:
            return stream.read(most), os.fstat(stream.fileno()).st_size
        except OSError as error:
            raise FileAccessError(f"cannot be read ({_reason(error)})", path=target) from error


def open_file(path: str | Path, most: int | None = None) -> BinaryIO:
    """`path` opened for reading; errors like `read_file`. A file of more than `most` bytes is refused."""
    target = Path(path)
    if target == Path():
        raise FileAccessError("no file is named")
    if os.path.isdir(target):  # noqa: PTH112  (Path.is_dir of Python 3.11 raises on a name that is too long)
        raise FileAccessError("this is a folder, expected a file", path=target)
    try:
        size = _size(target)
        if most is not None and size > most:
            raise FileAccessError(f"the file is too large for a game file ({size} bytes)", path=target)
        return target.open("rb")
    except FileNotFoundError as error:
        raise FileAccessError("the file does not exist", path=target) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise FileAccessError(f"cannot be read ({_reason(error)})", path=target) from error


def _size(target: Path) -> int:
    """Bytes of `target`, which is refused before it is opened if it is a pipe or a device: those never end."""
    found = target.stat()
    if not stat.S_ISREG(found.st_mode):
        raise FileAccessError("this is a pipe or a device, expected a file", path=target)
    return found.st_size


def save(path: str | Path, data: bytes) -> None:
    """Write `data` to `path` in one step: a temporary file beside it, then a rename over it."""
    save_all({Path(path): data})


def save_all(bundle: Mapping[Path, bytes]) -> None:
    """Write several files. All are written out beside their targets before the first target is replaced.

    Where one of them cannot be replaced, those before it are put back as they were.
    """
    waiting: list[tuple[Path, Path]] = []
    old: dict[Path, Path] = {}
    done: list[Path] = []
    try:
        for path, data in bundle.items():
            waiting.append((_write_beside(path, data), path))
        for temporary, path in waiting[:-1]:  # behind the last one nothing can fail
            if os.path.lexists(path):
                old[path] = temporary.with_suffix(".old")
                _set_aside(path, old[path])
        for temporary, path in waiting:
            try:
                temporary.replace(path)
            except OSError as error:
                _put_back(done, old)
                raise FileAccessError(f"cannot be replaced ({_reason(error)})", path=path) from error
            done.append(path)
    finally:
        for rest in (*(temporary for temporary, _path in waiting), *old.values()):
            with contextlib.suppress(OSError):
                rest.unlink(missing_ok=True)


def _set_aside(path: Path, name: Path) -> None:
    """Let the file at `path` have another name, too, until it is known that it is not needed any more."""
    try:
        try:
            os.link(path, name, follow_symlinks=False)
        except (OSError, NotImplementedError):  # a file system without hard links
            shutil.copy2(path, name, follow_symlinks=False)
    except OSError as error:
        raise FileAccessError(f"cannot be kept while others are written ({_reason(error)})", path=path) from error


def _put_back(done: list[Path], old: dict[Path, Path]) -> None:
    """Undo what was replaced. What cannot be undone stays beside it as what it was set aside as."""
    for path in done:
        try:
            if path in old:
                old[path].replace(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            kept = old.pop(path, None)
            rest = f"; the old file is {kept.name}" if kept is not None else ""
            raise FileAccessError(
                f"was written alone and cannot be put back ({_reason(error)}){rest}", path=path
            ) from error


def changes(bundle: Mapping[Path, bytes]) -> list[Path]:
    """The files of `bundle` that exist with other bytes, or cannot be read."""
    return [path for path, data in bundle.items() if _is_file(path) and not _holds(path, data)]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have; whoever writes there says so
        return False


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def refuse_changes(bundle: Mapping[Path, bytes]) -> None:
    """Raise `FileAccessError` for the first file of `bundle` that exists with other bytes."""
    for path in changes(bundle):
        raise FileAccessError("the file exists already and is left as it is", path=path)


def _write_beside(path: Path, data: bytes) -> Path:
    with _beside(path) as (stream, temporary):
        write_all(stream, data)
    return temporary


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A new file to write what shall be at `path`, unbuffered; it takes its place when the block ends well.

    Until then, and for good if anything is raised, `path` stays as it is. `FileAccessError` if the disk will not.
    """
    target = Path(path)
    with _beside(target) as (stream, temporary):
        yield stream
    try:
        temporary.replace(target)
    except OSError as error:
        raise FileAccessError(f"cannot be replaced ({_reason(error)})", path=target) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_all(stream: BinaryIO, data: bytes | memoryview) -> None:
    """Write all of `data` to an unbuffered stream, which may take it in parts."""
    rest = memoryview(data).cast("B")
    while rest:
        rest = rest[stream.write(rest) :]


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A temporary file beside `path`, which is on the disk for good when the block ends, and gone if it fails."""
    if path == Path():
        raise FileAccessError("no file is named")
    if os.path.isdir(path):  # noqa: PTH112  (as in open_file)
        raise FileAccessError("this is a folder, expected a file name to write to", path=path)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise FileAccessError(f"cannot be written ({_reason(error)})", path=path) from error
    temporary = Path(name)
    done = False
    try:
        with os.fdopen(descriptor, "wb", 0) as stream:
            yield stream, temporary
            os.fsync(stream.fileno())
        _copy_mode(path, temporary)
        done = True
    except OSError as error:
        raise FileAccessError(f"cannot be written ({_reason(error)})", path=path) from error
    finally:
        if not done:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _copy_mode(path: Path, temporary: Path) -> None:
    """A file made by mkstemp is private; give it the mode of the old file, or what the umask allows."""
    if os.name != "posix":
        return
    if path.exists():
        temporary.chmod(path.stat().st_mode & 0o777)
        return
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


# Windows takes the raised digits of Latin-1 for digits here.
_RESERVED = {
    *("con", "prn", "aux", "nul", "conin$", "conout$"),
    *(f"{port}{n}" for port in ("com", "lpt") for n in "0123456789\u00b9\u00b2\u00b3"),
}


def safe_stem(name: str, default: str = "model", most: int = 200) -> str:
    """`name` as a file stem that every file system takes: no separators, control characters or reserved words.

    It has `most` bytes at the most: with its suffix, a file name may have 255.
    """
    plain = "".join("_" if char in '<>:"/\\|?*' or ord(char) < 32 else char for char in name).strip(" .")
    if plain.split(".")[0].lower() in _RESERVED:
        plain = f"_{plain}"
    whole = plain.encode(errors="replace").replace(b"?", b"_")  # bytes of a file name that were no text
    return whole[:most].decode(errors="ignore").rstrip(" .") or default


def unsafe_name(name: str) -> str:
    """Why `name` is no plain file name on every system, as a clause; empty if it is.

    For names that come out of a file or a scene: none may lead out of the folder that was chosen, on Windows neither.
    """
    if not name or len(name) > 255:
        return "is empty" if not name else "is too long"
    if any(char in '<>:"/\\|?*' or ord(char) < 32 for char in name):
        return "holds a character that no file name may have"
    if name != name.strip(" ") or name.endswith("."):
        return "begins or ends with a space or a dot"
    if name.split(".", maxsplit=1)[0].strip(" ").lower() in _RESERVED:
        return "is reserved by Windows"
    return ""
