# SPDX-License-Identifier: GPL-3.0-or-later
"""The effect parameters that the game is known to have, to be offered; unknown ones are kept all the same."""

from __future__ import annotations

from .skn import Kind, Material, Property

EFFECTS = ("Default.fx", "Diffuse.fx", "Flat.fx")

# Name -> type and value of a new one. The grey of ambient and diffuse is what the game's tools write; textures, those
# two colours and g_EmissivePower are of the type found in files, the others of the one their name suggests.
PARAMETERS: dict[str, tuple[Kind, float | tuple[float, ...] | str]] = {
    "g_MaterialAmbient": (Kind.VECTOR, (0.682, 0.682, 0.682, 1.0)),
    "g_MaterialDiffuse": (Kind.VECTOR, (0.682, 0.682, 0.682, 1.0)),
    "g_MaterialSpecular": (Kind.VECTOR, (0.0, 0.0, 0.0, 1.0)),
    "g_SpecPower": (Kind.FLOAT, 1.0),
    "g_DiffuseTex": (Kind.TEXTURE, ""),
    "g_DiffuseVolumeTex": (Kind.TEXTURE, ""),
    "g_MaskTex": (Kind.TEXTURE, ""),
    "g_EmissiveTex": (Kind.TEXTURE, ""),
    "g_NormalTex": (Kind.TEXTURE, ""),
    "g_SpecularTex": (Kind.TEXTURE, ""),
    "g_EnvTex": (Kind.TEXTURE, ""),
    "g_ReflectTex": (Kind.TEXTURE, ""),
    "g_TatooTex": (Kind.TEXTURE, ""),  # spelt so
    "g_EmissiveColor": (Kind.VECTOR, (1.0, 1.0, 1.0, 1.0)),
    "g_EmissivePower": (Kind.FLOAT, 1.0),
    "g_EmissivePowerRange": (Kind.FLOAT, 0.0),
    "g_EmissiveAniSpeed": (Kind.FLOAT, 0.0),
    "g_SkinColor": (Kind.VECTOR, (1.0, 1.0, 1.0, 1.0)),
    "g_SkinCoeffA": (Kind.VECTOR, (0.0, 0.0, 0.0, 0.0)),
    "g_SkinCoeffB": (Kind.VECTOR, (0.0, 0.0, 0.0, 0.0)),
    "g_SkinCoeffC": (Kind.VECTOR, (0.0, 0.0, 0.0, 0.0)),
    "g_SkinCoeffD": (Kind.VECTOR, (0.0, 0.0, 0.0, 0.0)),
    "g_EyeColor": (Kind.VECTOR, (1.0, 1.0, 1.0, 1.0)),
    "g_CustomColor": (Kind.VECTOR, (1.0, 1.0, 1.0, 1.0)),
    "g_CustomColor2": (Kind.VECTOR, (1.0, 1.0, 1.0, 1.0)),
    "g_ScrollSpeedU": (Kind.FLOAT, 0.0),
    "g_ScrollSpeedV": (Kind.FLOAT, 0.0),
    "g_AniTime": (Kind.FLOAT, 0.0),
    "g_AlphaRef": (Kind.FLOAT, 0.0),
}


def parameter(name: str) -> Property:
    """A new property of a known name, with its usual type and value; of another name a float."""
    kind, value = PARAMETERS.get(name, (Kind.FLOAT, 0.0))
    return Property.of(name, kind, value)


def is_color(name: str) -> bool:
    """Whether four numbers of that name are a colour."""
    plain = name.lower()
    return "color" in plain or plain in {"g_materialambient", "g_materialdiffuse", "g_materialspecular"}


def textures(material: Material) -> list[str]:
    """The texture names of a material, in order, without empty ones and repeats."""
    return list(dict.fromkeys(entry.texture for entry in material.properties if entry.texture))
