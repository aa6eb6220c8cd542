# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone hangs on which, spelled out, broken, or guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from addon.io_dragonnest.formats import ani, hierarchy, msh, rig
from addon.io_dragonnest.formats.hierarchy import Source
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import dragons

if TYPE_CHECKING:
    from pathlib import Path

BIPED = {
    "Bip01": "",
    "Bip01 Footsteps": "Bip01",
    "Bip01 Pelvis": "Bip01",
    "Bip01 Spine": "Bip01 Pelvis",
    "Bip01 Spine1": "Bip01 Spine",
    "Bip01 Spine2": "Bip01 Spine1",
    "Bip01 Neck": "Bip01 Spine2",
    "Bip01 Head": "Bip01 Neck",
    "Bip01 HeadNub": "Bip01 Head",
    "Bip01 Ponytail1": "Bip01 Head",
    "Bip01 Ponytail11": "Bip01 Ponytail1",
    "Bip01 Ponytail1Nub": "Bip01 Ponytail11",
    "Bip01 L Clavicle": "Bip01 Neck",
    "Bip01 L UpperArm": "Bip01 L Clavicle",
    "Bip01 L Forearm": "Bip01 L UpperArm",
    "Bip01 L ForeTwist": "Bip01 L Forearm",
    "Bip01 L Hand": "Bip01 L Forearm",
    "Bip01 L Finger0": "Bip01 L Hand",
    "Bip01 L Finger01": "Bip01 L Finger0",
    "Bip01 L Finger02": "Bip01 L Finger01",
    "Bip01 L Finger0Nub": "Bip01 L Finger02",
    "Bip01 L Finger1": "Bip01 L Hand",
    "Bip01 R Clavicle": "Bip01 Neck",
    "Bip01 R Hand": "Bip01 R Clavicle",
    "Bip01 R Finger0": "Bip01 R Hand",
    "Bip01 R Finger0Nub": "Bip01 R Finger0",
    "Bip01 L Thigh": "Bip01 Pelvis",
    "Bip01 L Calf": "Bip01 L Thigh",
    "Bip01 L Foot": "Bip01 L Calf",
    "Bip01 L Toe0": "Bip01 L Foot",
    "Bip01 L Toe0Nub": "Bip01 L Toe0",
    "Bip01 R Thigh": "Bip01 Pelvis",
    "Bip01 R HorseLink": "Bip01 R Thigh",
    "Bip01 R Foot": "Bip01 R HorseLink",
    "Bip01 Tail": "Bip01 Pelvis",
    "Bip01 Tail1": "Bip01 Tail",
    "Bip01 Tail2": "Bip01 Tail1",
    "Bip01 TailNub": "Bip01 Tail2",
    "Bip02": "",
    "Bip02 Pelvis": "Bip02",
}
BROKEN_ARM = {"Bip01 R Hand": "Bip01 R Clavicle"}  # neither upper arm nor forearm are there


@pytest.mark.parametrize("spelling", [str, str.lower, str.upper])
@pytest.mark.parametrize("backwards", [False, True])
def test_biped_names(spelling: type[str], backwards: bool) -> None:
    """In any case and any order of the bones, with links missing."""
    labels = [name for name in BIPED if name not in BROKEN_ARM]
    labels = labels[::-1] if backwards else labels
    found = hierarchy.inferred([spelling(name) for name in labels], np.zeros((len(labels), 3)))
    assert set(found.sources) == {Source.NAME} and found.inferred
    for row, name in enumerate(labels):
        above = BIPED[name]
        while above in BROKEN_ARM:
            above = BIPED[above]
        assert found.parents[row] == (labels.index(above) if above else -1), name


def test_other_bones_hang_on_the_nearest_before_them() -> None:
    labels = ["Bip01", "Bip01 Head", "hair_a", "hair_b", "hair_c", "Box"]
    heads = np.array([[0, 0, 0], [0, 10, 0], [1, 11, 0], [3, 12, 0], [6, 12, 0], [0.5, 0, 1]])
    found = hierarchy.inferred(labels, heads)
    assert found.parents.tolist() == [-1, 0, 1, 2, 3, 0]
    assert found.sources == [Source.NAME] * 2 + [Source.PLACE] * 4
    # A bone that stands before all of the rig may still hang on it.
    found = hierarchy.inferred(["hair", "Bip01", "Bip01 Head"], np.array([[0, 11, 0], [0, 0, 0], [0, 10, 0]]))
    assert found.parents.tolist() == [2, -1, 1]


def test_without_any_known_name_the_first_is_the_root() -> None:
    found = hierarchy.inferred(["a", "b", "c"], np.array([[0, 0, 0], [0, 1, 0], [0, np.nan, 2]]))
    assert found.parents.tolist() == [-1, 0, 0]
    assert found.sources == [Source.NONE, Source.PLACE, Source.PLACE]
    assert hierarchy.inferred([], np.zeros((0, 3))).parents.tolist() == []


@pytest.mark.samples("*dragonnest/*_biped.msh")
def test_the_guess_agrees_with_the_animation(sample: Path) -> None:
    model = msh.read(sample.read_bytes())
    found = ani.read_binary((sample.parent / "syn_v10_biped.ani").read_bytes())
    binds, _flat = rig.binds(model.bones["inverse_bind"])
    guess = hierarchy.inferred(model.bone_names, binds[:, 3, :3])
    assert guess.parents.tolist() == hierarchy.from_ani(found).parents.tolist()


def test_names_of_an_ani() -> None:
    found = hierarchy.from_ani(dragons.animation())
    assert found.parents.tolist() == list(dragons.PARENTS)
    assert set(found.sources) == {Source.FILE} and not found.inferred and found.notes == []


def test_broken_names() -> None:
    """Loops are cut at the first bone, unknown parents and repeated names are noted; nothing is lost."""
    labels = ["root", "a", "b", "c", "self", "A", "lost"]
    parents = ["SCENE ROOT", "c", "A", "b", "Self", "root", "nobody"]
    found = hierarchy.from_names(labels, parents)
    assert found.parents.tolist() == [-1, -1, 1, 2, -1, 0, -1]
    assert len(found.notes) == 4
    assert any('"lost" hangs on "nobody"' in note for note in found.notes)
    assert any('"a" hangs on itself' in note for note in found.notes)
    assert any('"self" hangs on itself' in note for note in found.notes)
    assert any('1 bone has the name of another one, "A"' in note for note in found.notes)


def test_other_bones_are_matched_by_name() -> None:
    """A parent that is missing is stepped over."""
    source = hierarchy.from_ani(dragons.animation())
    found = hierarchy.matched(["BIP01 head", "bip01", "Wing", "머리카락"], source, dragons.BONES)
    assert found.parents.tolist() == [1, -1, -1, 0]
    assert found.sources == [Source.FILE, Source.FILE, Source.NONE, Source.FILE]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-3, 12), max_size=12))
def test_any_parents_become_a_forest(numbers: list[int]) -> None:
    parents = np.array(numbers, np.int32)
    before = parents.copy()
    cut = hierarchy.cut_loops(parents)
    assert all(parents[row] == -1 for row in cut)
    for row in range(len(parents)):
        steps, at = 0, row
        while at >= 0:
            at, steps = int(parents[at]), steps + 1
            assert steps <= len(parents)
    assert hierarchy.cut_loops(parents) == []
    kept = [row for row in range(len(parents)) if row not in cut and 0 <= before[row] < len(parents)]
    assert (parents[kept] == before[kept]).all()
    order = hierarchy.order(parents).tolist()
    assert sorted(order) == list(range(len(parents)))
    for place, row in enumerate(order):
        assert parents[row] < 0 or int(parents[row]) in order[:place]


def test_a_chain_of_many_bones() -> None:
    """No recursion, no quadratic walk."""
    count = 20_000
    parents = np.arange(count, dtype=np.int32) - 1
    parents[0] = count - 1
    assert hierarchy.cut_loops(parents) == [0]
