# SPDX-License-Identifier: GPL-3.0-or-later
"""The check before writing: each rule with a model just inside and one just outside of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from addon.io_carnivores.formats import check, model_3df, model_3dn
from addon.io_carnivores.formats.limits import LIMITS
from addon.io_carnivores.formats.model import BONE, FACE, VERTEX, Model, TextureFile
from addon.io_common.formats.errors import UserError
from addon.io_common.formats.issues import Issue, Severity
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

GAMES = ("C1", "C2", "ICE_AGE", "MEE", "MOBILE")
ORIGINAL = ("C1", "C2", "ICE_AGE")


def make(flags: tuple[int, ...] = (0, 0), *, vertices: int = 3, bones: int = 1, rows: int = 256) -> Model:
    """A model that no game has anything against: one triangle per entry of `flags`, white texture."""
    faces = np.zeros(len(flags), FACE)
    faces["corner"] = (0, 1, 2)
    faces["flags"] = flags
    table = np.zeros(bones, BONE)
    table["parent"] = np.arange(-1, bones - 1)
    return Model(faces, np.zeros(vertices, VERTEX), table, np.full((rows, 256), 0x7FFF, "<u2"))


def found(model: Model, game: str, kind: str = "3df") -> dict[str, Issue]:
    """The issues by code, which must not repeat."""
    issues = check.check(model, game, kind)
    by_code = {issue.code: issue for issue in issues}
    assert len(by_code) == len(issues)
    return by_code


def test_every_game_of_the_options_has_limits() -> None:
    """The list a user chooses from and the table of limits have the same keys."""
    from addon.io_carnivores.scene.options import GAMES as CHOICES

    assert tuple(value for value, *_ in CHOICES) == tuple(LIMITS) == GAMES


@pytest.mark.parametrize("game", ["C1", "C2", "ICE_AGE", "MEE"])
def test_a_plain_model_is_clean(game: str) -> None:
    assert found(make((0x00, 0x01, 0x05, 0x10)[:2]), game) == {}


def test_a_plain_mobile_model_is_clean() -> None:
    model = make(bones=0, rows=0)
    assert found(model, "MOBILE", "3dn") == {}


@pytest.mark.parametrize("game", ORIGINAL)
@pytest.mark.parametrize("what", ["vertices", "faces", "bones"])
def test_1024_of_each_fit_and_1025_do_not(game: str, what: str) -> None:
    def sized(number: int) -> Model:
        if what == "faces":
            return make((0,) * number)
        return make(vertices=number) if what == "vertices" else make(bones=number)

    assert found(sized(1024), game) == {}
    (issue,) = found(sized(1025), game).values()
    assert issue.code == f"too-many-{what}"
    assert issue.severity is Severity.ERROR
    assert "1025" in issue.message
    assert "1024" in issue.message
    selected = {"faces": issue.faces, "vertices": issue.vertices, "bones": np.array([1024])}[what]
    assert selected.tolist() == [1024]


def test_the_fork_holds_what_the_originals_do_not() -> None:
    model = make((0,) * 1488, vertices=1989)  # the largest mods that are known
    assert found(model, "MEE") == {}
    assert set(found(model, "C2")) == {"too-many-vertices", "too-many-faces"}


def test_the_fork_has_limits_too() -> None:
    assert found(make((0,) * 2049), "MEE")["many-faces"].severity is Severity.WARNING
    assert found(make(vertices=6145), "MEE")["many-vertices"].severity is Severity.WARNING
    big = found(make(vertices=(1 << 20) + 1), "MEE")
    assert big["too-many-vertices"].severity is Severity.ERROR
    assert "many-vertices" not in big


def test_mobile_sizes_are_compared_with_the_largest_file() -> None:
    assert found(make((0,) * 2042, vertices=1145), "MOBILE", "3dn") == {}
    issues = found(make((0,) * 2043, vertices=1146), "MOBILE", "3dn")
    assert {code: issue.severity for code, issue in issues.items()} == {
        "many-faces": Severity.WARNING,
        "many-vertices": Severity.WARNING,
    }


@pytest.mark.parametrize("game", ["C1", "C2", "ICE_AGE", "MEE"])
def test_a_texture_of_257_rows_is_too_large(game: str) -> None:
    assert "texture-too-large" not in found(make(rows=256), game)
    assert found(make(rows=257), game)["texture-too-large"].severity is Severity.ERROR


@pytest.mark.parametrize("game", ["C1", "C2", "ICE_AGE", "MEE"])
def test_a_3df_without_texture(game: str) -> None:
    assert found(make(rows=0), game)["no-texture"].severity is Severity.WARNING


def test_a_texture_that_is_cut_off() -> None:
    model = make(rows=0)
    model.texture_missing = 131072
    assert set(found(model, "C1")) == {"texture-cut-off"}
    model.texture_missing = 131074
    assert set(found(model, "C1")) == {"texture-cut-off", "texture-too-large"}


def test_a_texture_that_ends_within_a_row() -> None:
    model = make(rows=10)
    model.texture_rest = b"ab"
    assert set(found(model, "C2")) == {"texture-part-row"}


@pytest.mark.parametrize(
    ("v", "bad"),
    [
        (0, False),
        (252, False),
        (253, False),
        (254, True),
        (255, True),
        (256, True),
        (-254, False),
        (-2, True),
        (257, False),
    ],
)
def test_rows_below_the_texture(v: int, bad: bool) -> None:
    model = make(rows=253)
    model.faces["v"][1, 2] = v
    issues = found(model, "C1")
    assert set(issues) == ({"uv-below-texture"} if bad else set())
    if bad:
        assert issues["uv-below-texture"].severity is Severity.WARNING
        assert issues["uv-below-texture"].faces.tolist() == [1]


def test_full_height_has_no_row_below() -> None:
    model = make(rows=256)
    model.faces["v"] = 256
    assert found(model, "C1") == {}


@pytest.mark.parametrize(("value", "bad"), [(-256, False), (-257, True), (512, False), (513, True), (2**31 - 1, True)])
@pytest.mark.parametrize("axis", ["u", "v"])
def test_uv_far_outside(axis: str, value: int, bad: bool) -> None:
    model = make()
    model.faces[axis][0, 1] = value
    issues = found(model, "C2")
    assert set(issues) == ({"uv-far-outside"} if bad else set())
    if bad:
        assert issues["uv-far-outside"].faces.tolist() == [0]


@pytest.mark.parametrize(("value", "bad"), [(-0x8000, False), (0x7FFF, False), (-0x8001, True), (0x8000, True)])
def test_a_3dn_has_16_bits_for_a_uv(value: int, bad: bool) -> None:
    model = make(bones=0)
    model.faces["u"][1, 0] = value
    issues = found(model, "MOBILE", "3dn")
    assert set(issues) == {"uv-out-of-range" if bad else "uv-far-outside"}
    if bad:
        assert issues["uv-out-of-range"].severity is Severity.ERROR
        assert issues["uv-out-of-range"].faces.tolist() == [1]
        with pytest.raises(UserError):
            model_3dn.write(model)


@pytest.mark.parametrize("game", GAMES)
def test_a_corner_without_vertex(game: str) -> None:
    model = make()
    model.faces["corner"][1] = (0, 1, 3)
    issue = found(model, game)["missing-vertex"]
    assert issue.severity is Severity.ERROR
    assert issue.faces.tolist() == [1]


@pytest.mark.parametrize("game", GAMES)
def test_nothing_to_draw(game: str) -> None:
    assert found(make(()), game)["empty"].severity is Severity.ERROR
    assert found(make((), vertices=0), game)["empty"].severity is Severity.ERROR


@pytest.mark.parametrize("game", ["C2", "ICE_AGE"])
def test_the_sort_quirk(game: str) -> None:
    keyed = np.zeros((256, 256), "<u2")
    for flags, bad in (((0x0C, 0x0D), False), ((0x08, 0x04), False), ((0x0C, 0x08), True), ((0x08, 0x0D, 0), True)):
        model = make(flags)
        model.texels = keyed
        issues = found(model, game)
        assert set(issues) == ({"sort-quirk"} if bad else set())
        if bad:
            assert issues["sort-quirk"].faces.tolist() == [i for i, flag in enumerate(flags) if flag & 0x0C == 0x0C]
        assert "sort-quirk" not in found(model, "C1")
        assert "sort-quirk" not in found(model, "MEE")


@pytest.mark.parametrize("game", GAMES)
def test_opacity_without_key_colour(game: str) -> None:
    model = make((0, 0x05, 0x04))
    assert found(model, game)["opacity-without-key"].faces.tolist() == [1, 2]
    for key in (0, 0x8000):
        model.texels = np.full((256, 256), 0x7FFF, "<u2")
        model.texels[3, 4] = key
        assert "opacity-without-key" not in found(model, game)
    assert "opacity-without-key" not in found(make((8,)), game)


def test_opacity_without_holes_in_the_texture_file() -> None:
    picture = np.full((4, 4, 4), 255, np.uint8)
    model = make((4,), bones=0, rows=0)
    assert found(model, "MOBILE", "3dn") == {}  # nothing is known of the texture
    model.texture = TextureFile(".tga", picture)
    assert set(found(model, "MOBILE", "3dn")) == {"opacity-without-key"}
    picture[0, 0, 3] = 0
    assert found(model, "MOBILE", "3dn") == {}


@pytest.mark.parametrize("game", ["C2", "ICE_AGE"])
@pytest.mark.parametrize("weapon", [0x20, 0x40, 0x60])
def test_mortal_on_a_weapon(game: str, weapon: int) -> None:
    assert found(make((0, weapon)), game) == {}
    assert found(make((0x10, weapon)), game)["mortal-weapon"].faces.tolist() == [0]
    assert found(make((0, weapon | 0x10)), game)["mortal-weapon"].faces.tolist() == [1]
    assert "mortal-weapon" not in found(make((0x10, weapon)), "C1")
    assert found(make((0x10, 0x01)), game) == {}


def test_flags_that_are_no_authors() -> None:
    issues = found(make((0x80, 0x8001, 0x0100, 0x4000)), "C1")
    assert issues["run-time-flags"].faces.tolist() == [0, 1]
    assert issues["unknown-flags"].faces.tolist() == [2, 3]
    assert "0x4100" in issues["unknown-flags"].message
    assert {issue.severity for issue in issues.values()} == {Severity.WARNING}


def test_owners_outside_the_bone_table() -> None:
    model = make(bones=2, vertices=4)
    model.vertices["owner"] = (0, 1, 2, -1)
    assert found(model, "C1")["missing-owner"].vertices.tolist() == [2, 3]
    assert found(model, "MOBILE", "3dn")["missing-owner"].vertices.tolist() == [2]  # -1 is "none" there


def test_a_3df_without_bones() -> None:
    assert set(found(make(bones=0), "C1")) == {"no-bone"}


@pytest.mark.parametrize(
    ("parents", "codes"),
    [
        ((-1, 0, 1), set()),
        ((-1, 3, 1), {"missing-parent"}),
        ((-2, 0, 1), {"missing-parent"}),
        ((1, -1, 0), {"parent-order"}),
        ((0, 0, 0), {"parent-order"}),
    ],
)
def test_bone_parents(parents: tuple[int, ...], codes: set[str]) -> None:
    model = make(bones=3)
    model.bones["parent"] = parents
    assert set(found(model, "C1")) == codes


def test_a_format_that_the_game_does_not_load() -> None:
    assert "other-format" in found(make(), "MOBILE", "3df")
    assert "other-format" in found(make(), "C1", "3dn")


def test_errors_come_first_and_every_message_is_a_clause() -> None:
    model = make((0x80, 0x0C, 0x08, 0x4030) * 300, bones=0, rows=300)
    model.faces["corner"][5] = 9
    issues = check.check(model, "C2", "3df")
    severities = [issue.severity for issue in issues]
    assert severities == sorted(severities, key=lambda severity: severity is not Severity.ERROR)
    assert len(issues) >= 7
    for issue in issues:
        assert not issue.message.endswith(".")
        assert "\n" not in issue.message
        assert len(issue.message) < 240


@pytest.mark.samples("carnivores/*.3df", "carnivores/*.3dn")
def test_game_files_have_no_error_for_their_own_game(sample: Path) -> None:
    """The files that came with a game load in it; mods beyond 1024 are what the fork is for."""
    mobile = sample.suffix.lower() == ".3dn"
    reader = model_3dn if mobile else model_3df
    model = reader.read(sample.read_bytes())
    large = max(len(model.faces), len(model.vertices)) > 1024
    game = "MOBILE" if mobile else "MEE" if large else "C1"
    errors = [
        issue for issue in check.check(model, game, sample.suffix.lower()[1:]) if issue.severity is Severity.ERROR
    ]
    assert errors == []


def models() -> st.SearchStrategy[Model]:
    """Any model that could be in memory, nonsense included."""

    def table(dtype: np.dtype[Any], most: int) -> st.SearchStrategy[Any]:
        return st.integers(0, most).flatmap(
            lambda count: st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize).map(
                lambda raw: np.frombuffer(raw, dtype)
            )
        )

    rows = st.sampled_from((0, 1, 255, 256, 257)).map(lambda count: np.zeros((count, 256), "<u2"))
    return st.builds(
        Model,
        table(FACE, 6),
        table(VERTEX, 6),
        table(BONE, 4),
        rows,
        texture_rest=st.binary(max_size=3),
        texture_missing=st.sampled_from((0, 1, 2**32 - 1)),
    )


@given(models(), st.sampled_from(GAMES), st.sampled_from(("3df", "3dn")))
@settings(max_examples=300, deadline=None)
def test_it_never_raises_and_its_indices_exist(model: Model, game: str, kind: str) -> None:
    for issue in check.check(model, game, kind):
        assert (issue.faces < len(model.faces)).all()
        assert (issue.vertices < len(model.vertices)).all()
        assert len(np.unique(issue.faces)) == len(issue.faces)


@given(models(), st.sampled_from(GAMES))
@settings(max_examples=200, deadline=None)
def test_whatever_can_be_read_can_be_checked(model: Model, game: str) -> None:
    model.vertices = np.concatenate((model.vertices, np.zeros(1, VERTEX)))
    model.vertices["position"] = 0.0
    model.bones = model.bones.copy()
    model.bones["position"] = 0.0
    model.faces = model.faces.copy()
    model.faces["corner"] %= len(model.vertices)
    model.texture_missing = 0
    back = model_3df.read(model_3df.write(model))
    issues = check.check(back, game, "3df")
    assert "missing-vertex" not in {issue.code for issue in issues}
