# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user can choose when a Dragon Nest file is imported or exported."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...io_common.formats.options import option
from ...io_common.formats.places import Disk, Place
from ..formats.library import Library

SCALES = (
    (0.01, "0.01", "One Blender unit is 100 file units, about as tall as a character"),
    (0.1, "0.1", "Ten file units are one Blender unit"),
    (1.0, "1", "File units: the numbers as they stand in the file"),
)
DIRECTIONS = (
    ("CHILD", "At the Child", "Bones point at their children, as animators are used to"),
    ("STORED", "As Stored", "Bones point along the y axis of the file's matrices"),
)

EXISTING = (
    ("AUTO", "If It Fits", "Onto the selected armature or the only one that plainly is its own: the same bind pose"),
    ("ALWAYS", "Always", "Onto the selected armature or the only one that has any of its bones, whatever its pose"),
    ("NEVER", "Never", "Every model gets an armature of its own"),
)


@dataclass(frozen=True)
class ImportMshOptions:
    """Options of a model."""

    global_scale: float = option(
        0.01,
        "Scale",
        "Size of one file unit in Blender. Meshes and bones keep file units; the root object carries the scale",
        minimum=1e-6,
        maximum=1e6,
        presets=SCALES,
    )
    use_collection: bool = option(True, "Own Collection", "Put each file into a collection of its own")
    use_bones: bool = option(
        True, "Armature", "Make an armature of the bones; without it they are only kept for export", group="Bones"
    )
    existing_armature: str = option(
        "AUTO",
        "Onto Existing Armature",
        "Put the model onto an armature that is there instead of one of its own; bones it lacks are added",
        choices=EXISTING,
        group="Bones",
    )
    bone_direction: str = option(
        "CHILD", "Bone Direction", "Where the bones point; the files do not say", choices=DIRECTIONS, group="Bones"
    )
    hierarchy_from: str = option(
        "",
        "Hierarchy From",
        "The ANI file that says which bone hangs on which; empty: the one named as the model, beside it",
        is_file=True,
        suffixes=(".ani",),
        group="Bones",
    )
    use_rigid: bool = option(
        True,
        "Follow Parent Bone",
        "Sub-meshes without weights move with the bone that they name as their parent, as in the game",
        group="Bones",
    )
    use_skin: bool = option(
        True,
        "Materials",
        "Take the materials from the SKN of the same name beside the model, with their textures",
        group="Materials",
    )
    use_textures: bool = option(
        True,
        "Find Textures",
        "Look for the textures that the materials name: beside the model, in the folders around it and in those of the "
        "preferences",
        group="Materials",
    )
    use_pack: bool = option(
        False, "Pack Textures", "Keep the textures inside the .blend file instead of where they lie", group="Materials"
    )
    use_mask: bool = option(
        False,
        "Show Masks",
        "Let mask textures work as in the game: red glows, blue takes the colour of the skin",
        group="Materials",
    )
    search_folders: tuple[str, ...] = field(default=())
    library: Library = field(default_factory=Library, compare=False)
    place: Place = field(default_factory=Disk, compare=False)


@dataclass(frozen=True)
class ImportSknOptions(ImportMshOptions):
    """Options of materials: those of the model they bring along."""

    use_skin: bool = field(default=True)


@dataclass(frozen=True)
class ExportScope:
    """Which objects are written, and how, the same for models and materials."""

    use_selection: bool = option(True, "Selected Objects", "Export the selected objects", group="Include")
    use_visible: bool = option(False, "Visible Objects", "Export what is visible, selected or not", group="Include")
    use_active_collection: bool = option(
        False, "Active Collection", "Export the objects of the active collection", group="Include"
    )
    collection: str = option("", "Collection", "Export the objects of this collection only", hidden=True)
    use_join: bool = option(
        False, "Join Into One File", "Write all objects into one file instead of one for each import", group="Include"
    )
    use_check: bool = option(True, "Stop at Errors", "Refuse to write a file that the game cannot load", group="Check")
    game: str = field(default="")


VERSIONS = (
    ("AUTO", "As Imported", "The version it came with; 13 for what was made in Blender"),
    ("13", "13", "The newest known"),
    ("12", "12", "As 13, but dummies lose their rotation and scale"),
    ("11", "11", "As 12, with another number"),
    ("10", "10", "The oldest; collisions do not name their parent bone"),
)
LAYOUTS = (
    ("AUTO", "As Imported", "A strip where it came as one, else a list"),
    ("LIST", "Lists", "Three corners for each triangle"),
    ("STRIP", "Strips", "One strip for each sub-mesh, whose triangles share corners"),
)
SKIN_VERSIONS = (
    ("AUTO", "As Imported", "The version it came with; 11 for what was made in Blender"),
    ("11", "11", "The pieces of the file stand in another order"),
    ("10", "10", "The older one, as plain as it can be"),
)
TEXTURE_FORMATS = (
    ("TGA", "TGA", "Without loss and without compression"),
    ("PNG", "PNG", "Without loss, smaller"),
)


ANI_VERSIONS = (
    ("AUTO", "As Imported", "The version it came with; 11 for what was made in Blender"),
    ("11", "11", "The newest known: 16-bit frames and rotations of 16 bits"),
    ("10", "10", "The oldest; larger, and exact"),
)
KEY_MODES = (
    ("AUTO", "Keys Where They Do", "Keys as they are where the file can say the same, else one at every frame"),
    ("KEYS", "Keys", "Keys as they are, moved to whole frames; what the file cannot say is lost"),
    ("BAKE", "Every Frame", "What Blender shows at every frame, constraints and drivers included; untouched clips too"),
)


CLIPS_HELP = (
    'Names of the clips to write, separated by ";"; * and ? stand for any characters. '
    "Empty: those ticked in the sidebar"
)
TOLERANCE_HELP = "Leave keys out as long as nothing moves by more than this many file units; 0 keeps them all"
LIST_HELP = "What came from a list of files goes back into these files and a list of them"


@dataclass(frozen=True)
class ExportMshOptions(ExportScope):
    """Options of a model."""

    version: str = option("AUTO", "Version", "The version of the file", choices=VERSIONS)
    face_layout: str = option("AUTO", "Faces", "How the triangles of edited meshes are written", choices=LAYOUTS)
    use_split: bool = option(
        False,
        "Split Large Meshes",
        "Divide what has more than 50 bones or 65535 vertices into several sub-meshes",
    )
    use_transform: bool = option(
        False,
        "Apply Armature Transform",
        "Write the model as its armature stands in the scene, moved and turned; meshes without one always are",
        group="Geometry",
    )
    use_mesh_modifiers: bool = option(
        True, "Apply Modifiers", "Write the mesh as modified; Armature modifiers are left out", group="Geometry"
    )
    use_import_scale: bool = option(
        True, "Scale of the Import", "Imported objects go back with the scale they came with", group="Geometry"
    )
    global_scale: float = option(
        0.01,
        "Scale",
        "Size of one file unit in Blender, for objects made in Blender",
        minimum=1e-6,
        maximum=1e6,
        presets=SCALES,
        group="Geometry",
    )
    use_skin: bool = option(
        False, "Materials Too", "Write the SKN of the same name beside the model", group="Materials"
    )
    skin_version: str = option(
        "AUTO", "SKN Version", "The version of the material file", choices=SKIN_VERSIONS, group="Materials"
    )
    use_textures: bool = option(
        False,
        "Write Textures",
        "Write the textures beside the materials: untouched ones as they are, others in the format chosen here",
        group="Materials",
    )
    texture_format: str = option(
        "TGA",
        "New Textures As",
        "How painted and new pictures are written; Blender cannot write DDS",
        choices=TEXTURE_FORMATS,
        group="Materials",
    )
    use_animation: bool = option(
        False,
        "Animations Too",
        "Write the clips of the armature beside the model, as an ANI of the same name; parts on one armature share one "
        "that is named as the armature",
        group="Animations",
    )
    ani_version: str = option(
        "AUTO", "ANI Version", "The version of the animation file", choices=ANI_VERSIONS, group="Animations"
    )
    clips: str = option("", "Clips", CLIPS_HELP, group="Animations")
    key_mode: str = option("AUTO", "Keys", "How edited clips are written", choices=KEY_MODES, group="Animations")
    tolerance: float = option(
        0.0, "Reduce Keys", TOLERANCE_HELP, minimum=0.0, maximum=100.0, precision=4, group="Animations"
    )
    use_list: bool = option(True, "Text List", LIST_HELP, group="Animations")


@dataclass(frozen=True)
class ExportSknOptions(ExportMshOptions):
    """Options of materials. How the model is written counts too: every sub-mesh has a material."""

    skin_version: str = option("AUTO", "Version", "The version of the file", choices=SKIN_VERSIONS)
    mesh_name: str = option(
        "",
        "Model Name",
        "The MSH that the materials name; empty: the one they came with, or that of the exported file",
    )
    use_model: bool = option(False, "Model Too", "Write the MSH of the same name beside the materials")
    version: str = option(
        "AUTO", "MSH Version", "The version of the model, where it is written too", choices=VERSIONS, group="Geometry"
    )
    face_layout: str = option(
        "AUTO", "Faces", "How the triangles of edited meshes are written", choices=LAYOUTS, group="Geometry"
    )
    use_skin: bool = field(default=True)


ROOT_MOTIONS = (
    ("STORED", "As Stored", "The root bone walks away from the armature, as the file says"),
    ("IN_PLACE", "In Place", "The root bone stays over where it stands at frame 0; its height stays"),
    ("OBJECT", "On the Object", "The armature object walks, and the root bone stays above it; export takes it back"),
)


@dataclass(frozen=True)
class ImportAniOptions:
    """Options of animations."""

    clips: str = option(
        "",
        "Clips",
        'Names of the clips to import, separated by ";"; * and ? stand for any characters. Empty: all of them',
    )
    root_motion: str = option(
        "STORED", "Root Motion", "Where the way goes that the root bone walks over the ground", choices=ROOT_MOTIONS
    )
    use_fps: bool = option(
        True,
        "Set 60 fps",
        "Set the frame rate of the game, and the frame range of the first clip, where nothing in the scene is "
        "animated yet",
    )
    use_missing: bool = option(
        False, "Add Missing Bones", "Bones of the file that the armature lacks are added to it", group="Bones"
    )
    bone_direction: str = option(
        "CHILD",
        "Bone Direction",
        "Where bones that are made point; the files do not say",
        choices=DIRECTIONS,
        group="Bones",
    )
    global_scale: float = option(
        0.01,
        "Scale",
        "Size of one file unit in Blender, for an armature that is made; one that is there keeps its own",
        minimum=1e-6,
        maximum=1e6,
        presets=SCALES,
        group="Bones",
    )
    use_collection: bool = option(
        True, "Own Collection", "Put an armature that is made into a collection of its own", group="Bones"
    )
    # File and number in it of the clips, where they were chosen in the list of the dialog.
    chosen: tuple[tuple[int, int], ...] | None = field(default=None)
    place: Place = field(default_factory=Disk, compare=False)


@dataclass(frozen=True)
class ExportAniOptions(ExportScope):
    """Options of animations."""

    version: str = option("AUTO", "Version", "The version of the file", choices=ANI_VERSIONS)
    clips: str = option("", "Clips", CLIPS_HELP)
    key_mode: str = option("AUTO", "Keys", "How edited clips are written", choices=KEY_MODES)
    tolerance: float = option(0.0, "Reduce Keys", TOLERANCE_HELP, minimum=0.0, maximum=100.0, precision=4)
    use_list: bool = option(True, "Text List", LIST_HELP)
    use_import_scale: bool = option(
        True, "Scale of the Import", "Imported armatures go back with the scale they came with", group="Geometry"
    )
    global_scale: float = option(
        0.01,
        "Scale",
        "Size of one file unit in Blender, for armatures made in Blender",
        minimum=1e-6,
        maximum=1e6,
        presets=SCALES,
        group="Geometry",
    )
    use_transform: bool = option(
        False,
        "Apply Armature Transform",
        "Write the motion as the armature stands in the scene, moved and turned",
        group="Geometry",
    )


@dataclass(frozen=True)
class ExportAnimOptions(ExportAniOptions):
    """Options of a dump of one clip, which is always of version 11."""

    version: str = field(default="11")
    use_list: bool = field(default=False)
