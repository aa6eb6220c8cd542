# SPDX-License-Identifier: GPL-3.0-or-later
"""Resizing pictures without darkening: in linear light, colour weighted by alpha.

Pictures are uint8 arrays (rows, columns, 4), RGBA, straight alpha, sRGB-coded colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

    from .texels import Picture

Floats = npt.NDArray[np.float32]


def resize(picture: Picture, width: int, height: int) -> Picture:
    """A picture at another size, uint8 (height, width, 4): area average when it shrinks, linear when it grows.

    Each axis on its own. The same size gives the same values. Texels that are wholly transparent come out as
    transparent black. The working memory is a few rows of the source and height x source columns floats.
    """
    rows, columns = picture.shape[:2]
    if (columns, rows) == (width, height):
        return picture.copy()
    light = _resample(picture, height, _linear)
    light = _resample(light.transpose(1, 0, 2), width, lambda part: part).transpose(1, 0, 2)
    alpha = light[..., 3:]
    out = np.empty((height, width, 4), dtype=np.uint8)
    out[..., :3] = encode_srgb(np.divide(light[..., :3], alpha, out=np.zeros_like(light[..., :3]), where=alpha > 0))
    out[..., 3] = np.rint(np.clip(light[..., 3], 0.0, 1.0) * np.float32(255.0))
    return out


def decode_srgb(coded: npt.NDArray[np.uint8]) -> Floats:
    """sRGB-coded bytes to linear light, float32 0..1, same shape."""
    value = np.arange(256) / 255.0
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    light: Floats = linear.astype(np.float32)[coded]
    return light


def encode_srgb(linear: Floats) -> npt.NDArray[np.uint8]:
    """Linear light, clipped to 0..1, to sRGB-coded bytes, same shape; undoes `decode_srgb` exactly."""
    value = np.clip(linear, 0.0, 1.0)
    coded = np.where(value <= 0.0031308, value * 12.92, 1.055 * np.power(value, 1 / 2.4) - 0.055)
    picture: npt.NDArray[np.uint8] = np.rint(coded * 255.0).astype(np.uint8)
    return picture


def _linear(picture: Picture) -> Floats:
    """Linear light multiplied by alpha, and alpha, float32 (rows, columns, 4)."""
    out = np.empty(picture.shape, dtype=np.float32)
    np.divide(picture[..., 3], np.float32(255.0), out=out[..., 3])
    np.multiply(decode_srgb(picture[..., :3]), out[..., 3:], out=out[..., :3])
    return out


def _resample(source: npt.NDArray[Any], count: int, load: Callable[[npt.NDArray[Any]], Floats]) -> Floats:
    """Resample axis 0 of `source` to `count`; `load` turns the part that is worked on into floats."""
    if source.shape[0] == count:
        return load(source)
    out = np.empty((count, *source.shape[1:]), dtype=np.float32)
    for index, (start, weights) in enumerate(_taps(source.shape[0], count)):
        out[index] = np.tensordot(weights, load(source[start : start + len(weights)]), axes=1)
    return out


def _taps(source: int, target: int) -> list[tuple[int, Floats]]:
    """For each of `target` samples, the first of its source samples and their weights, which add up to 1."""
    scale = source / target
    taps = []
    for index in range(target):
        if scale > 1.0:
            low, high = index * scale, (index + 1) * scale
            first, last = int(low), min(int(np.ceil(high - 1e-9)), source)
            edges = np.clip(np.arange(first, last + 1, dtype=np.float64), low, high)
            weights = np.diff(edges)
        else:
            centre = min(max((index + 0.5) * scale - 0.5, 0.0), source - 1.0)
            first = min(int(centre), max(source - 2, 0))
            share = centre - first
            weights = np.array([1.0 - share, share]) if source > 1 else np.ones(1)
        taps.append((first, (weights / weights.sum()).astype(np.float32)))
    return taps
