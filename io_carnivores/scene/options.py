# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user can choose when a Carnivores model is imported or exported."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...io_common.formats.options import option

SCALES = (
    (1 / 32, "1/32", "Game metres: one Blender unit is one metre on the games' own range finder"),
    (1 / 64, "1/64", "Half: the games draw everything about twice its natural size; this is the natural one"),
    (1.0, "1", "File units: the numbers as they stand in the file"),
)


@dataclass(frozen=True)
class ImportOptions:
    """Options of every static model."""

    global_scale: float = option(
        1 / 32,
        "Scale",
        "Size of one file unit in Blender. The mesh keeps file units; the object carries the scale",
        minimum=1e-6,
        maximum=1e6,
        presets=SCALES,
    )
    use_bones: bool = option(
        True, "Armature", "Make an armature of the bones; without it they are only kept for export"
    )
    use_collection: bool = option(False, "Own Collection", "Put each model into a collection of its own")
    search_folders: tuple[str, ...] = field(default=())
    flip_faces: bool = field(default=False)


@dataclass(frozen=True)
class Import3dnOptions(ImportOptions):
    """Options of the mobile model."""

    flip_faces: bool = option(
        False, "Flip Faces", "Turn every face round; some newer mobile animals are wound the other way"
    )
    use_texture_search: bool = option(
        True,
        "Find Texture",
        "Look for the texture beside the model, in the textures folder of the game "
        "and in the folders of the preferences",
    )


GAMES = (
    ("C1", "Carnivores", "The first game (1998)"),
    ("C2", "Carnivores 2", "The second game (1999)"),
    ("ICE_AGE", "Carnivores Ice Age", "The third game (2001)"),
    ("MEE", "MEE and other forks", "Modern engines with wider limits"),
    ("MOBILE", "Mobile", "Carnivores: Dinosaur Hunter on phones"),
)


@dataclass(frozen=True)
class ExportOptions:
    """Options of every static model."""

    use_selection: bool = option(True, "Selected Objects", "Export the selected objects", group="Include")
    use_visible: bool = option(False, "Visible Objects", "Export what is visible, selected or not", group="Include")
    use_active_collection: bool = option(
        False, "Active Collection", "Export the objects of the active collection", group="Include"
    )
    collection: str = option("", "Collection", "Export the objects of this collection only", hidden=True)
    use_join: bool = option(
        False, "Join Into One File", "Write all objects into one model instead of one file each", group="Include"
    )
    use_transform: bool = option(
        True, "Apply Transform", "Write the model as it stands in the scene, moved, turned and scaled", group="Geometry"
    )
    use_mesh_modifiers: bool = option(
        True, "Apply Modifiers", "Write the mesh as modified; Armature modifiers are left out", group="Geometry"
    )
    use_import_scale: bool = option(
        True, "Scale of the Import", "Imported objects go back with the scale they came with", group="Geometry"
    )
    global_scale: float = option(
        1 / 32,
        "Scale",
        "Size of one file unit in Blender, for objects made in Blender",
        minimum=1e-6,
        maximum=1e6,
        presets=SCALES,
        group="Geometry",
    )
    game: str = option("C2", "Game", "The game whose limits are checked before writing", choices=GAMES, group="Check")
    use_check: bool = option(
        True, "Stop at Errors", "Refuse to write a model that the chosen game cannot load", group="Check"
    )


@dataclass(frozen=True)
class Export3dnOptions(ExportOptions):
    """Options of the mobile model."""

    game: str = option(
        "MOBILE", "Game", "The game whose limits are checked before writing", choices=GAMES, group="Check"
    )
    texture_name: str = option(
        "",
        "Texture Name",
        "Base name of the texture file; empty: the imported name, or the file's own",
        group="Texture",
    )
    texture: str = option(
        "AUTO",
        "Texture File",
        "Write the picture beside the model",
        choices=(
            ("AUTO", "When Needed", "Only when it was made or changed in Blender, or came with a PC model"),
            ("ALWAYS", "Always", "Write it in any case"),
            ("NEVER", "Never", "Leave the textures alone"),
        ),
        group="Texture",
    )
    texture_format: str = option(
        "TGA",
        "Format",
        "Kind of texture file",
        choices=(("TGA", "TGA", "Targa, 24 or 32 bits"), ("CRT", "CRT", "The game's raw container")),
        group="Texture",
    )


@dataclass(frozen=True)
class CharacterOptions(ImportOptions):
    """Options of models with animations."""

    motion: str = option(
        "AUTO",
        "Motion",
        "How the animations are shown",
        choices=(
            ("AUTO", "Automatic", "Bones where they fit the motion well, else shape keys"),
            ("BONES", "Bones", "A skeleton recovered from the motion, one Action per animation"),
            ("KEYS", "Shape Keys", "One absolute key per frame and a single curve per animation: exact and light"),
            (
                "RELATIVE_KEYS",
                "Relative Keys",
                "One relative key and curve per frame, as glTF and FBX export needs them",
            ),
        ),
    )
    bones_from: str = option(
        "",
        "Skeleton From",
        "A 3DF or 3DN of the same creature: bones get its names, and its joints where they fit; empty: names by place",
        is_file=True,
        suffixes=(".3df", ".3dn"),
    )
    use_correctives: bool = option(
        False,
        "Soft Vertices",
        "With bones: show what they cannot express by corrective shape keys. Without, it is only kept for export",
    )


@dataclass(frozen=True)
class AnimationOptions:
    """Options of files that hold one animation and no model."""

    global_scale: float = option(
        1 / 32,
        "Scale",
        "Size of one file unit in Blender, where no mesh is selected that the animation could go to",
        minimum=1e-6,
        maximum=1e6,
        presets=SCALES,
    )
    search_folders: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class CatOptions(CharacterOptions):
    """Options of a mobile character."""

    flip_faces: bool = option(
        False, "Flip Faces", "Turn every face round; some newer mobile animals are wound the other way"
    )
    use_texture_search: bool = option(
        True,
        "Find Texture",
        "Look for the texture beside the model, in the textures folder of the game "
        "and in the folders of the preferences",
    )


_JOIN = ("Join Into One File", "Write all objects into one character instead of one file each")
_BASE = (
    "Follow Base Pose",
    (
        "Vertices that were moved in the base pose are moved in every frame too, along with their bones; "
        "without it frames stay as they are"
    ),
)
_LOOPS = ("Check Loops", "Warn of animations that do not end in their first frame")


@dataclass(frozen=True)
class ExportCharacterOptions(ExportOptions):
    """Options of models with animations."""

    use_join: bool = option(False, *_JOIN, group="Include")
    use_base_edits: bool = option(True, *_BASE, group="Animation")
    use_loop_check: bool = option(False, *_LOOPS, group="Check")


@dataclass(frozen=True)
class ExportAnimationOptions(ExportCharacterOptions):
    """Options of files that hold one animation and no model."""

    animation: str = option(
        "", "Animation", "Name of the animation to write; empty: the one chosen in the list", group="Animation"
    )


@dataclass(frozen=True)
class ExportAniOptions(ExportAnimationOptions):
    """The same for the mobile game."""

    game: str = option(
        "MOBILE", "Game", "The game whose limits are checked before writing", choices=GAMES, group="Check"
    )


@dataclass(frozen=True)
class ExportCatOptions(Export3dnOptions):
    """Options of a mobile character."""

    use_join: bool = option(False, *_JOIN, group="Include")
    use_base_edits: bool = option(True, *_BASE, group="Animation")
    use_loop_check: bool = option(False, *_LOOPS, group="Check")
