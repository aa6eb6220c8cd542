# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables in Blender: opened as texts, written back, and the panel in the Text Editor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper, poll_file_object_drop

from ...io_common.formats.errors import UserError
from ..formats import table_encoding, table_guess
from ..scene import table_text_block

_GLOB = "*.dnt;*.ext"
_NAMES = [
    (encoding.upper(), label, f"Texts of the table are in {label}")
    for encoding, (_python, label) in table_encoding.ENCODINGS.items()
]
_GUESS = ("AUTO", "Guess", "Guess the encoding by the texts of the whole table")
_SAID = ("CSV", "As the Text Says", "The encoding that the first cell of the text names")


def _encoding_property(first: tuple[str, str, str]) -> Any:
    return EnumProperty(name="Encoding", description="How the table stores its texts", items=[first, *_NAMES])


def _chosen(value: str) -> str:
    """The encoding that an item of the property stands for; "" for the first, "auto" for guessing."""
    return {"AUTO": "auto", "CSV": ""}.get(value, value.lower())


def show(context: bpy.types.Context, text: bpy.types.Text) -> bool:
    """Show a text in the Text Editor it was opened from, or else in the first of the window; whether there is one."""
    screen = context.screen
    areas = [context.area, *(screen.areas if screen is not None else ())]
    for area in areas:
        if area is not None and area.type == "TEXT_EDITOR":
            space: Any = area.spaces.active
            space.text = text
            text.current_line_index = 0
            return True
    return False


class TableOpen(ImportHelper):
    """Open tables as texts in CSV, to be edited in the Text Editor and written back"""

    filename_ext = ".dnt"

    if TYPE_CHECKING:
        filepath: str
        directory: str
        encoding: str
        files: Any
        report: Any

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Open at once what was dropped, else open the file dialog."""
        if self.directory and any(entry.name for entry in self.files):
            return self.execute(context)
        result: Any = super().invoke(context, event)
        return result

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Open every chosen file."""
        folder = Path(bpy.path.abspath(self.directory or str(Path(self.filepath).parent)))
        names = [entry.name for entry in self.files if entry.name]
        found = [folder / name for name in names] or [Path(bpy.path.abspath(self.filepath))] * bool(self.filepath)
        failures = [] if found else ["No file was chosen."]
        opened = []
        for path in found:
            try:
                opened.append(table_text_block.open_table(path, _chosen(self.encoding)))
            except UserError as error:
                failures.append(str(error))
        if opened:
            text, table = opened[-1]
            what = f'"{text.name}", {len(table)} rows' if len(opened) == 1 else f"{len(opened)} texts"
            encoding = self.encoding if self.encoding != "AUTO" else table_guess.guess(table)
            said = table_encoding.ENCODINGS[encoding.lower()][1]
            place = "" if show(context, text) else "; choose it in a Text Editor"
            self.report({"INFO"}, f"Opened {what}, in {said}{place}.")
        for failure in failures:
            self.report({"WARNING" if opened else "ERROR"}, failure)
        return {"FINISHED"} if opened else {"CANCELLED"}


DRAGONNEST_OT_table_open = type(
    "DRAGONNEST_OT_table_open",
    (TableOpen, bpy.types.Operator),
    {
        "__doc__": TableOpen.__doc__,
        "__module__": __name__,
        "__annotations__": {
            "files": CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"}),
            "directory": StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"}),
            "filter_glob": StringProperty(default=_GLOB, options={"HIDDEN"}),
            "encoding": _encoding_property(_GUESS),
        },
        "bl_idname": "dragonnest.table_open",
        "bl_label": "Open Table",
        "bl_options": {"REGISTER", "UNDO"},
    },
)


def _text_of(context: bpy.types.Context) -> bpy.types.Text | None:
    """The text in the Text Editor of the context."""
    return getattr(context, "edit_text", None) or getattr(context.space_data, "text", None)


class _WriteMixin:
    """Shared by both ways to write."""

    if TYPE_CHECKING:
        encoding: str
        text: str
        report: Any

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """A text is shown, or a script can name one."""
        return len(bpy.data.texts) > 0 if context.area is None else _text_of(context) is not None

    def found(self, context: bpy.types.Context) -> bpy.types.Text:
        """The text to write. Raises `UserError`."""
        text = bpy.data.texts.get(self.text) if self.text else _text_of(context)
        if text is None:
            raise UserError(f'there is no text "{self.text}"' if self.text else "no text is shown")
        return text

    def write(self, text: bpy.types.Text, path: Path, *, overwrite: bool) -> set[str]:
        """Write it and say so."""
        try:
            table = table_text_block.write_back(text, path, _chosen(self.encoding), overwrite=overwrite)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Wrote {path.name}, {len(table)} rows.")
        return {"FINISHED"}


class DRAGONNEST_OT_table_write(_WriteMixin, bpy.types.Operator):
    """Write the table that this text says back into its file. Where the text is broken, nothing is written"""

    bl_idname = "dragonnest.table_write"
    bl_label = "Write Table Back"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        use_overwrite: bool
    else:
        text: StringProperty(name="Text", description="Name of the text", options={"HIDDEN", "SKIP_SAVE"})
        encoding: _encoding_property(_SAID)
        use_overwrite: BoolProperty(
            name="Overwrite Changes",
            description="Replace the file even if another program has changed it since it was opened",
            options={"SKIP_SAVE"},
        )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Write it."""
        try:
            text = self.found(context)
            if not table_text_block.is_table(text):
                raise UserError("the text did not come from a table; Write Table As asks where to write it", path=text.name)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return self.write(text, table_text_block.path_of(text), overwrite=self.use_overwrite)


class TableWriteAs(_WriteMixin, ExportHelper):
    """Write the table that this text says into another file"""

    filename_ext = ".dnt"

    if TYPE_CHECKING:
        filepath: str

    def check(self, _context: bpy.types.Context) -> bool:
        """Leave the name as it was typed: it may end in .ext."""
        return False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Open the file dialog on the file of the text."""
        text = _text_of(context)
        if text is not None and table_text_block.is_table(text):
            self.filepath = str(table_text_block.path_of(text))
        elif text is not None:
            self.filepath = str(Path(bpy.path.abspath("//")) / f"{Path(text.name).stem}.dnt")
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Write it; the dialog has asked before a file is replaced."""
        try:
            text = self.found(context)
        except UserError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return self.write(text, Path(bpy.path.abspath(self.filepath)), overwrite=True)


DRAGONNEST_OT_table_write_as = type(
    "DRAGONNEST_OT_table_write_as",
    (TableWriteAs, bpy.types.Operator),
    {
        "__doc__": TableWriteAs.__doc__,
        "__module__": __name__,
        "__annotations__": {
            "text": StringProperty(name="Text", description="Name of the text", options={"HIDDEN", "SKIP_SAVE"}),
            "filter_glob": StringProperty(default=_GLOB, options={"HIDDEN"}),
            "encoding": _encoding_property(_SAID),
        },
        "bl_idname": "dragonnest.table_write_as",
        "bl_label": "Write Table As",
        "bl_options": {"REGISTER"},
    },
)


class DRAGONNEST_PT_table(bpy.types.Panel):
    """The table that the text came from"""

    bl_idname = "DRAGONNEST_PT_table"
    bl_label = "Table"
    bl_space_type = "TEXT_EDITOR"
    bl_region_type = "UI"
    bl_category = "Dragon Nest"

    if TYPE_CHECKING:
        layout: bpy.types.UILayout

    def draw(self, context: bpy.types.Context) -> None:
        """Where the text came from, and the buttons."""
        text = _text_of(context)
        column = self.layout.column(align=True)
        if text is not None and table_text_block.is_table(text):
            column.label(text=table_text_block.path_of(text).name, icon="SPREADSHEET")
            column.operator("dragonnest.table_write", icon="FILE_TICK")
        column.operator("dragonnest.table_write_as", text="Write Table As…", icon="EXPORT")
        column.separator()
        column.operator("dragonnest.table_open", text="Open Table…", icon="FILEBROWSER")


class DRAGONNEST_FH_table(bpy.types.FileHandler):
    """Opens tables that are dropped on a 3D viewport"""

    bl_idname = "DRAGONNEST_FH_table"
    bl_label = "Dragon Nest table"
    bl_import_operator = "dragonnest.table_open"
    bl_file_extensions = ".dnt;.ext"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        """Where models can be dropped, and on a Text Editor."""
        area = context.area
        return bool(poll_file_object_drop(context)) or (area is not None and area.type == "TEXT_EDITOR")


CLASSES = (
    DRAGONNEST_OT_table_open,
    DRAGONNEST_OT_table_write,
    DRAGONNEST_OT_table_write_as,
    DRAGONNEST_PT_table,
    DRAGONNEST_FH_table,
)
