# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation says what the code does: generated parts, check codes, names that are kept in a .blend."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from addon.io_carnivores.scene import kept
from addon.io_common.scene import transfer

from tools import docs_reference
from tools.staging import ROOT

PAGES = docs_reference.pages()
CHECK = ROOT / "io_carnivores" / "formats" / "check.py"
CHARACTERS = CHECK.with_name("check_character.py")
DRAGON_NEST = [
    ROOT / "io_dragonnest" / "formats" / name
    for name in ("checks.py", "check_character.py", "check_skn.py", "pak_check.py")
]


def words(text: str) -> str:
    """Drop what the argparse of one Python does otherwise than another's: line breaks and indents."""
    return " ".join(text.split())


def test_there_are_generated_parts() -> None:
    """Formats, options and the help of every command stand in the pages."""
    found = {
        name for page in PAGES for _start, name, _end in docs_reference.BLOCK.findall(page.read_text(encoding="utf-8"))
    }
    assert {"formats", "flags", "games", *(f"help {name}" for name in docs_reference.COMMANDS)} <= found
    assert {name for name in found if name.startswith("options ")} == {
        f"options {entry.id}" for entry in docs_reference.Source(kept.__package__.rsplit(".", 2)[0]).formats
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_parts_are_those_of_the_code(page: Path, extension_name: str) -> None:
    """`python3 dev.py python tools/docs_reference.py` would change nothing."""
    text = page.read_text(encoding="utf-8")
    assert words(docs_reference.renewed(text, extension_name)) == words(text)


def codes() -> set[str]:
    """Return the codes of all findings of the check, from its source."""
    found = set(re.findall(r'_(?:error|warning)\(\s*f?"([a-z{}-]+)"', CHECK.read_text(encoding="utf-8")))
    many = {code for code in found if "{many}" in code}
    # There is no advice on the number of bones, so "many-bones" does not exist.
    filled = {code.replace("{many}", noun) for code in many for noun in ("vertices", "faces", "bones")} - {"many-bones"}
    own = set(re.findall(r'"((?:[a-z]+-)+[a-z]+)"', CHARACTERS.read_text(encoding="utf-8")))
    lists = {f"too-many-{noun}" for noun in ("animations", "sounds")}
    assert "too-many-{noun}" in CHARACTERS.read_text(encoding="utf-8")
    return found - many | filled | own | lists


def test_every_finding_of_the_check_is_explained() -> None:
    """A heading for each code, and none for a code that is gone."""
    assert len(codes()) > 15
    assert explained("messages.md") == codes()


def explained(page: str) -> set[str]:
    """Return the codes that have a heading."""
    text = (docs_reference.DOCS / page).read_text(encoding="utf-8")
    headings = re.findall(r"^### (.+)$", text, re.MULTILINE)
    return {code for heading in headings for code in re.findall(r"`([a-z0-9-]+)`", heading)}


def test_every_finding_about_dragon_nest_is_explained() -> None:
    """Likewise."""
    source = "".join(path.read_text(encoding="utf-8") for path in DRAGON_NEST)
    found = set(re.findall(r'\b(?:error|warning)\(\s*"([a-z0-9-]+)"', source))
    found |= set(re.findall(r'^    "([a-z0-9-]+)": \((?:error|warning), ', source, re.MULTILINE))
    assert len(found) > 30
    assert explained("messages-dragonnest.md") == found


def test_everything_that_is_kept_is_listed() -> None:
    """Every attribute and property that a .blend may hold."""
    names = {value for key, value in vars(kept).items() if key.isupper() and isinstance(value, str)} | {
        *kept.RESERVED,
        transfer.SOURCE,
    }
    text = (docs_reference.DOCS / "what-is-kept.md").read_text(encoding="utf-8")
    assert {name for name in names if f"`{name}`" not in text} == set()
    assert set(re.findall(r"`(carnivores_\w+)`", text)) - names == set()
