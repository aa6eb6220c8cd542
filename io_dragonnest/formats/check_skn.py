# SPDX-License-Identifier: GPL-3.0-or-later
"""What the game, or a file, would trip over in materials that are written for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import check_character, names, textures
from .checks import error, sorted_issues, warning
from .skn import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...io_common.formats.issues import Issue
    from .skn import Material, Skn

_LONGEST = 255  # bytes of a file name that Windows opens


def check(skin: Skn, game: str = "") -> list[Issue]:
    """Issues of an SKN, errors first; its number of materials too where it knows how many `submeshes` it is for."""
    found = check_character.check_skn(skin, game)
    submeshes = getattr(skin, "submeshes", None)
    if submeshes is not None:
        found += check_character.check_counts(submeshes, len(skin.materials))
    if not names.text(skin.mesh_name):
        found.append(warning("no-mesh-name", "the materials do not name the MSH they belong to"))
    for number, material in enumerate(skin.materials):
        found.extend(_material(material, f'material {number} "{material.label}"'))
    return sorted_issues(found)


def _material(material: Material, who: str) -> Iterator[Issue]:
    if not names.text(material.effect):
        yield error("no-effect", f"{who} names no effect file, such as Diffuse.fx")
    for entry in material.properties:
        if entry.kind is not Kind.TEXTURE or not entry.texture:
            continue
        if textures.base_name(entry.texture) != entry.texture:
            yield warning("texture-path", f'{who} names "{entry.texture}" with a path; the game goes by file names')
        if len(entry.value) > _LONGEST:
            yield error("texture-name", f'the texture name of "{entry.label}" of {who} is longer than {_LONGEST} bytes')
