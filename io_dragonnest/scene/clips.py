# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of clips that an armature carries, and what is kept of the files they came from.

The list lives on the armature's data, in export order, and points at Actions, so that nothing is found by its name.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, PointerProperty, StringProperty

from ...io_common.formats.errors import FormatError, UserError
from ...io_common.scene import armature
from ..formats import ani, ani_set, key_frames, names
from . import bone_motion, kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..formats.ani import Ani
    from ..formats.ani_set import AniSet

CLIPS = "dragonnest_clips"
ACTIVE = "dragonnest_clip_index"
_LEVEL = 1  # of zlib: records hardly get smaller with more


def _get_length(item: Any) -> int:
    return written_length(item.action) if item.action is not None else 0


def _set_length(item: Any, frames: int) -> None:
    if item.action is not None:
        set_length(item.action, frames)


def _name_action(item: Any, _context: bpy.types.Context) -> None:
    """Let the Action of an entry that was renamed have its name, and know what that is."""
    action = item.action
    if action is not None and action.library is None and item.label and item.name.strip():
        action.name = armature.fit_name(item.name.strip())
    know_action(item)


def know_action(item: Any, _context: bpy.types.Context | None = None) -> None:
    """Remember what the Action of an entry is called: when that changes, it was renamed in Blender."""
    item.label = item.action.name if item.action is not None else ""


class DRAGONNEST_PG_clip(bpy.types.PropertyGroup):
    """One clip. `name` is what the user edits; `raw_name` the field it came from, as hexadecimal.

    `label`: what its Action was called when that and `name` were last in accord; see `title`.
    """

    if TYPE_CHECKING:
        name: str
        raw_name: str
        label: str
        action: bpy.types.Action | None
        use_export: bool
        length: int
    else:
        name: StringProperty(
            name="Name", description="The name in the file; the Action is named alike", update=_name_action
        )
        raw_name: StringProperty(options={"HIDDEN"})
        label: StringProperty(options={"HIDDEN"})
        action: PointerProperty(
            type=bpy.types.Action, name="Action", description="The motion that is exported", update=know_action
        )
        use_export: BoolProperty(name="Export", description="Write this clip", default=True)
        length: IntProperty(
            name="Length",
            description="Number of frames that are written: the last one plus one. The frame range of the Action goes "
            "along",
            soft_min=1,
            get=_get_length,
            set=_set_length,
        )

    @property
    def title(self) -> str:
        """The name in the file: that of the Action where it was renamed since, else `name`."""
        return self.action.name if is_renamed(self) else self.name


CLASSES = (DRAGONNEST_PG_clip,)


def register() -> None:
    """Give armatures their list; after the class."""
    setattr(bpy.types.Armature, CLIPS, CollectionProperty(type=DRAGONNEST_PG_clip))
    setattr(
        bpy.types.Armature, ACTIVE, IntProperty(name="Active Clip", description="Number of the chosen entry", min=0)
    )


def unregister() -> None:
    """Take the list back; what a .blend holds in it stays in it."""
    delattr(bpy.types.Armature, ACTIVE)
    delattr(bpy.types.Armature, CLIPS)


def listed(obj: bpy.types.Object) -> Any:
    """The clips of an armature object, in export order."""
    return getattr(obj.data, CLIPS, ())


def active(obj: bpy.types.Object) -> Any:
    """The entry chosen in the list, None when there is none."""
    items = listed(obj)
    return items[min(getattr(obj.data, ACTIVE, 0), len(items) - 1)] if len(items) else None


def add(obj: bpy.types.Object, action: bpy.types.Action, raw: bytes = b"") -> Any:
    """Append an Action; `raw` the name field it came with."""
    item = listed(obj).add()
    item.name = names.text(raw) if raw else action.name
    item.raw_name = raw.rstrip(b"\0").hex()
    item.action = action
    return item


def is_renamed(item: Any) -> bool:
    """Whether the Action of an entry was given another name in Blender. A number that Blender put behind it is none."""
    if item.action is None or not item.label or item.action.name == item.label:
        return False
    return armature.without_number(item.action.name) not in {item.label, item.name}


def raw_name(item: Any) -> bytes:
    """The field of an entry: as it came, unless it was renamed. Raises `ExportError` for what cannot stand there."""
    try:
        raw = names.padded(bytes.fromhex(item.raw_name))
    except ValueError:  # somebody else wrote there
        raw = b""
    return raw if names.text(raw) == item.title else names.field(item.title, "clip")


def remove(obj: bpy.types.Object, number: int, *, with_action: bool) -> None:
    """Take a clip out of the list; `with_action`: what nothing else uses goes when the file is saved."""
    items = listed(obj)
    action = items[number].action
    items.remove(number)
    setattr(obj.data, ACTIVE, max(0, min(getattr(obj.data, ACTIVE), len(items) - 1)))
    if action is None or not with_action:
        return
    data = obj.animation_data
    if data is not None and data.action == action:
        data.action = None
    action.use_fake_user = False


# What is kept of files and clips.


def keep_clip(action: bpy.types.Action, found: Ani, clip: int) -> None:
    """Keep a clip on its Action, with bones and header, as a file of its own."""
    kept.put(action, kept.CLIP, zlib.compress(ani.write(ani_set.single(found, clip)), _LEVEL))
    action.use_frame_range = True
    action.frame_start = 0.0
    set_length(action, int(found.lengths[clip]))
    kept.put(action, kept.END, float(action.frame_end) + 1.0)


def clip_of(action: bpy.types.Action) -> Ani | None:
    """The clip an Action was made of, as a file of its own; None for an Action made in Blender."""
    try:
        found = ani.read_binary(zlib.decompress(kept.get(action, kept.CLIP, b"")))
    except (zlib.error, FormatError):  # nothing, or somebody else wrote there
        return None
    return found if len(found.lengths) == 1 else None


def set_length(action: bpy.types.Action, frames: int) -> None:
    """Let an Action last that many frames from where it starts."""
    if not action.use_frame_range:
        start = float(span(action)[0])
        action.use_frame_range = True
        action.frame_start = start
    action.frame_end = action.frame_start + bone_motion.shown_end(frames)


def span(action: bpy.types.Action) -> tuple[int, int]:
    """First and last whole frame of an Action.

    Frames are those of the file, one for one: without a range of its own an Action starts at 0, or where its first key
    is before that.
    """
    start, end = round(float(action.frame_range[0])), round(float(action.frame_range[1]))
    if not action.use_frame_range:
        start = min(start, 0)
    return start, max(start, end)


def length_of(action: bpy.types.Action, clip: Ani | None = None) -> int:
    """Number of frames that a file says an Action has: what it came with, until its range is changed."""
    start, end = span(action)
    if kept.has(action, kept.CLIP) and is_whole(action):
        clip = clip or clip_of(action)
        if clip is not None:
            return int(clip.lengths[0])
    return end - start + 1


def written_length(action: bpy.types.Action) -> int:
    """Number of frames that an export writes: keys behind the end of an import make it longer."""
    start, end = span(action)
    if not kept.has(action, kept.CLIP) or not is_whole(action):
        return end - start + 1
    before = kept_end(action)
    behind = last_key(action) > before - 1 + 1e-3
    if 1 < before < key_frames.FARTHEST and not behind:  # as nearly always, and without unpacking it
        return before
    clip = clip_of(action)
    length = length_of(action, clip)
    return with_keys(action, clip, length) if behind else length


def with_keys(action: bpy.types.Action, clip: Ani | None, length: int, last: float | None = None) -> int:
    """`length` with room for the keys of an Action, whose last one is at `last`.

    Of an imported clip those count that were set behind its end, not those that the file itself has there.
    """
    last = last_key(action) if last is None else last
    needed = math.ceil(last - 1e-3) - span(action)[0] + 1
    if clip is not None and needed <= clip.last_frame(0) + 1:
        return length
    return max(length, needed)


def last_key(action: bpy.types.Action) -> float:
    """The last frame with a key, 0 without any."""
    return float(action.curve_frame_range[1])


def is_whole(action: bpy.types.Action) -> bool:
    """Whether the range of an imported Action is the one it came with."""
    return span(action) == (0, kept_end(action) - 1)


def kept_end(action: bpy.types.Action) -> int:
    """The number of frames that the range of an Action had at import; 0 without one."""
    found = float(kept.get(action, kept.END, 0.0))
    return round(found) if math.isfinite(found) else 0


def keep_files(obj: bpy.types.Object, found: AniSet, path: Path) -> None:
    """Remember the files on the armature: where they lie, the text that lists them, of each what belongs to no clip."""
    known = [entry for entry in files(obj) if entry["id"] != set_id(found)]
    known.append(
        {
            "id": set_id(found),
            "path": str(path),
            "list": _text(found.raw),
            "parts": [
                {"name": part.name, "shell": _text(zlib.compress(ani.write(ani_set.shell(part.found)), _LEVEL))}
                for part in found.parts
            ],
        }
    )
    kept.put(cast("bpy.types.ID", obj.data), kept.ANIS, json.dumps(known))


def set_id(found: AniSet) -> str:
    """What the Actions of one import have in common with each other and with what is kept on the armature."""
    return "-".join(ani_set.identity(part.found) for part in found.parts[:64])


def files(obj: bpy.types.Object) -> list[dict[str, Any]]:
    """What `keep_files` kept, the last one last."""
    raw = kept.get(cast("bpy.types.ID", obj.data), kept.ANIS, "")
    try:
        found = json.loads(raw) if raw else []
        return [entry for entry in found if _is_entry(entry)] if isinstance(found, list) else []
    except (ValueError, RecursionError):  # somebody else wrote there
        return []


def _is_entry(entry: Any) -> bool:
    """Whether an entry of `files` can be read to its end."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in ("id", "list")):
        return False
    parts = entry.get("parts")
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        return False
    try:
        list_text(entry)
        return len(list(shells(entry))) == len(parts) and all(isinstance(part["name"], str) for part in parts)
    except (KeyError, TypeError, ValueError, zlib.error, FormatError):
        return False


def path_of(obj: bpy.types.Object) -> Path:
    """Where the file lies that was imported last. Raises `UserError` without any."""
    known = files(obj)
    if not known:
        raise UserError(f'no animation was imported onto "{obj.name}" yet')
    return Path(str(known[-1].get("path", "")))


def places(obj: bpy.types.Object) -> Iterator[tuple[str, tuple[int, int]]]:
    """Of every clip in the list that was imported: the id of its files, and its file and number there, from 0."""
    for item in listed(obj):
        if item.action is not None and kept.has(item.action, kept.SOURCE):
            part = int(kept.get(item.action, kept.ANI_PART, 1)) - 1
            yield str(kept.get(item.action, kept.SOURCE, "")), (part, int(kept.get(item.action, kept.ORDER, 1)) - 1)


def shells(entry: dict[str, Any]) -> Iterator[tuple[str, Ani]]:
    """Name and shell (see `ani_set.shell`) of each file of an entry of `files`."""
    for part in entry["parts"]:
        yield str(part["name"]), ani.read_binary(zlib.decompress(base64.b64decode(part["shell"])))


def list_text(entry: dict[str, Any]) -> bytes:
    """The text that lists the files; empty for a file by itself."""
    return base64.b64decode(entry["list"])


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
