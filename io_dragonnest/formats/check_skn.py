# SPDX-License-Identifier: GPL-3.0-or-later
"""What the game, or a file, would trip over in materials, looked for before they are written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from . import names, textures
from .checks import count, error, sorted_issues, warning
from .skn import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...io_common.formats.issues import Issue
    from .skn import Material, Skn

_FINDERS = 255  # bytes of a texture name that Windows opens


def check_skn(skin: Skn, _game: str = "", *, submeshes: int | None = None) -> list[Issue]:
    """Issues of an SKN; errors first. `submeshes`: how many its model has, where that is known."""
    found = []
    if submeshes is None:
        submeshes = getattr(skin, "submeshes", None)
    if submeshes is not None and submeshes != len(skin.materials):
        found.append(
            error(
                "material-count",
                f"there {'is' if len(skin.materials) == 1 else 'are'} {count(len(skin.materials), 'material')} for "
                f"{count(submeshes, 'sub-mesh', 'sub-meshes')}; the game wants one for each",
            )
        )
    if not names.text(skin.mesh_name):
        found.append(warning("no-mesh-name", "the materials do not name the MSH they belong to"))
    for number, material in enumerate(skin.materials):
        found.extend(_material(material, f'material {number} "{material.label}"'))
    if skin.trailing or skin.body_rest:
        found.append(
            warning("trailing-bytes", f"{count(len(skin.trailing) + len(skin.body_rest), 'byte')} stand behind the end")
        )
    return sorted_issues(found)


def _material(material: Material, who: str) -> Iterator[Issue]:
    if not names.text(material.effect):
        yield error("no-effect", f"{who} names no effect file, such as Diffuse.fx")
    if not np.isfinite(material.alpha):
        yield error("not-a-number", f"the alpha of {who} is not a number")
    repeated = [
        name for name, many in Counter(names.key(entry.name) for entry in material.properties).items() if many > 1
    ]
    if repeated:
        yield warning("repeated-property", f'{who} has the property "{repeated[0]}" more than once')
    for entry in material.properties:
        if entry.kind in (Kind.FLOAT, Kind.VECTOR) and not np.isfinite(entry.numbers).all():
            yield error("not-a-number", f'the property "{entry.label}" of {who} is not a number')
        if entry.kind is not Kind.TEXTURE or not entry.texture:
            continue
        if textures.base_name(entry.texture) != entry.texture:
            yield warning("texture-path", f'{who} names "{entry.texture}" with a path; the game goes by file names')
        if len(entry.value) > _FINDERS:
            yield error("texture-name", f'the texture name of "{entry.label}" of {who} is longer than {_FINDERS} bytes')
