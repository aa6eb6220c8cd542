# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables in the Text Editor: opened as CSV, written back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper, poll_file_object_drop

from ...io_common.formats.errors import UserError
from ..formats import table_encoding
from ..scene import table_block

_AUTO = "AUTO"
_ENCODINGS = [
    (_AUTO, "Automatic", "Opening: guessed from the texts. Writing: what the first line of the CSV names"),
    *((key, label, f"The texts of the table are {label}") for key, (_codec, label) in table_encoding.ENCODINGS.items()),
]


def encoding_property() -> Any:
    """The property of an operator that asks for the encoding."""
    return EnumProperty(
        name="Encoding", description="Encoding of the texts in the table", items=_ENCODINGS, default=_AUTO
    )


def chosen(value: str) -> str:
    """What the property says as `table_block` wants it."""
    return "" if value == _AUTO else value


class TableOpen(ImportHelper):
    """Open Dragon Nest tables as CSV in the Text Editor"""

    if TYPE_CHECKING:
        files: Any
        directory: str
        filepath: str
        encoding: str
        report: Any

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make a Text of each table, and show the last one where a Text Editor is open."""
        folder = Path(bpy.path.abspath(self.directory))
        found = [folder / entry.name for entry in self.files if entry.name]
        found = found or [Path(bpy.path.abspath(self.filepath))] * bool(self.filepath)
        if not found:
            self.report({"ERROR"}, "No file was chosen.")
            return {"CANCELLED"}
        opened = []
        for path in found:
            try:
                block, rows = table_block.open_table(path, chosen(self.encoding))
            except UserError as error:
                self.report({"ERROR" if len(found) == 1 else "WARNING"}, str(error))
                continue
            opened.append(block)
            self.report({"INFO"}, f'{path.name}: {rows} rows, as CSV in the Text "{block.name}".')
        if opened:
            show(context, opened[-1])
        return {"FINISHED"} if opened else {"CANCELLED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A table that was dropped is opened as it is; otherwise the file dialog."""
        if self.files and self.directory:
            return self.execute(context)
        return cast("set[str]", super().invoke(context, event))


DRAGONNEST_OT_table_open = type(
    "DRAGONNEST_OT_table_open",
    (TableOpen, bpy.types.Operator),
    {
        "__doc__": TableOpen.__doc__,
        "__module__": __name__,
        "__annotations__": {
            "files": CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"}),
            "directory": StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"}),
            "filter_glob": StringProperty(default="*.dnt;*.ext", options={"HIDDEN"}),
            "encoding": encoding_property(),
        },
        "bl_idname": "dragonnest.table_open",
        "bl_label": "Open Table",
        "bl_options": {"REGISTER", "UNDO"},
    },
)


def show(context: bpy.types.Context, block: bpy.types.Text) -> None:
    """In the Text Editors that are open."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "TEXT_EDITOR":
                cast("bpy.types.SpaceTextEditor", area.spaces.active).text = block


def _text(context: bpy.types.Context) -> bpy.types.Text | None:
    """The Text that the editor shows."""
    space = context.space_data
    return space.text if isinstance(space, bpy.types.SpaceTextEditor) else None


def named(context: bpy.types.Context, name: str) -> bpy.types.Text | None:
    """The Text of that name, or where none is named the one that the editor shows."""
    return bpy.data.texts.get(name) if name else _text(context)


class Written:
    """What this Blender itself has written: Undo makes a Text forget it, but no other program has changed the file."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.sums: dict[tuple[int, str], str] = {}  # session_uid of the Text and path -> `table_block.known`

    def register(self) -> None:
        """There is nothing to add."""

    def unregister(self) -> None:
        """Forget all."""
        self.sums.clear()


WRITTEN = Written()


def _write(operator: Any, block: bpy.types.Text | None, path: Path | None, *, overwrite: bool) -> set[str]:
    if block is None or (path is None and not table_block.is_table(block)):
        operator.report({"ERROR"}, "Show a Text that was opened from a table in the Text Editor, or name one.")
        return {"CANCELLED"}
    target = table_block.place(block) if path is None else path
    key = block.session_uid, str(target)
    try:
        rows = table_block.write_table(
            block, target, chosen(operator.encoding), overwrite=overwrite, written=WRITTEN.sums.get(key, "")
        )
    except UserError as error:
        operator.report({"ERROR"}, str(error))
        return {"CANCELLED"}
    if table_block.is_table(block) and table_block.place(block) == target:
        WRITTEN.sums[key] = table_block.known(block)
    operator.report({"INFO"}, f"{target.name}: {rows} rows written.")
    return {"FINISHED"}


class DRAGONNEST_OT_table_write(bpy.types.Operator):
    """Write the table back to the file that it was opened from; nothing is written if the CSV makes no table"""

    bl_idname = "dragonnest.table_write"
    bl_label = "Write Table Back"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        text: str
        encoding: str
        use_overwrite: bool
    else:
        text: StringProperty(name="Text", description="Name of the Text; the one that is shown, if empty")
        encoding: encoding_property()
        use_overwrite: BoolProperty(
            name="Overwrite",
            description="Replace the file even if another program has changed it since it was opened",
            options={"SKIP_SAVE"},
        )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Of the named Text, or of the one that is shown."""
        return _write(self, named(context, self.text), None, overwrite=self.use_overwrite)


class TableWriteAs(ExportHelper):
    """Write the CSV in the Text Editor as a table to another file"""

    filename_ext = ".dnt"
    check_extension = None

    if TYPE_CHECKING:
        filepath: str
        text: str
        encoding: str

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Suggest where it was opened from."""
        block = named(context, self.text)
        if block is not None and table_block.is_table(block):
            self.filepath = str(table_block.place(block))
        return cast("set[str]", super().invoke(context, event))

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Of the named Text, or of the one that is shown; the dialog has asked before a file is replaced."""
        return _write(self, named(context, self.text), Path(bpy.path.abspath(self.filepath)), overwrite=True)


DRAGONNEST_OT_table_write_as = type(
    "DRAGONNEST_OT_table_write_as",
    (TableWriteAs, bpy.types.Operator),
    {
        "__doc__": TableWriteAs.__doc__,
        "__module__": __name__,
        "__annotations__": {
            "filter_glob": StringProperty(default="*.dnt;*.ext", options={"HIDDEN"}),
            "text": StringProperty(name="Text", options={"HIDDEN", "SKIP_SAVE"}),
            "encoding": encoding_property(),
        },
        "bl_idname": "dragonnest.table_write_as",
        "bl_label": "Write Table As",
        "bl_options": {"REGISTER"},
    },
)


class DRAGONNEST_PT_table(bpy.types.Panel):
    """What the Text Editor can do with a table"""

    bl_idname = "DRAGONNEST_PT_table"
    bl_label = "Table"
    bl_space_type = "TEXT_EDITOR"
    bl_region_type = "UI"
    bl_category = "Dragon Nest"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Where a Text is shown that was opened from a table, or could become one."""
        return table_block.is_csv(_text(context)) or table_block.is_table(_text(context))

    def draw(self, context: bpy.types.Context) -> None:
        """The file, the encoding, and the ways to write."""
        block = _text(context)
        if block is None:
            return
        column = self.layout.column()
        known = table_block.is_table(block)
        if known:
            column.label(text=table_block.place(block).name, icon="FILE")
        entry = table_block.entry_of(block)
        if entry is not None:
            column.label(text=entry[0], icon="FILE")
            column.label(text=entry[1], icon="PACKAGE")
        column.label(text=table_block.encoding_of(block) or "The first line names no encoding")
        if known:
            column.operator("dragonnest.table_write", text="Write Back", icon="FILE_TICK").text = block.name
        column.operator("dragonnest.table_write_as", text="Write As...", icon="EXPORT").text = block.name
        patch: Any = column.operator("dragonnest.archive_table", text="Into Archive...", icon="PACKAGE")
        patch.text = block.name


class DRAGONNEST_FH_table(bpy.types.FileHandler):
    """Opens tables that are dropped on a 3D viewport or a Text Editor"""

    bl_idname = "DRAGONNEST_FH_table"
    bl_label = "Dragon Nest table"
    bl_import_operator = "dragonnest.table_open"
    bl_file_extensions = ".dnt;.ext"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        """Where models can be dropped, and where texts are shown."""
        area = context.area
        return bool(poll_file_object_drop(context)) or (area is not None and area.type == "TEXT_EDITOR")


CLASSES = (
    DRAGONNEST_OT_table_open,
    DRAGONNEST_OT_table_write,
    DRAGONNEST_OT_table_write_as,
    DRAGONNEST_PT_table,
    DRAGONNEST_FH_table,
)
