# SPDX-License-Identifier: GPL-3.0-or-later
"""What the zip holds: everything of the product, nothing else, and always the same bytes."""

from __future__ import annotations

import calendar
import re
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from tools import build, staging

ALLOWED = re.compile(
    r"__init__\.py|blender_manifest\.toml|LICENSE"
    r"|io_(common|carnivores|dragonnest)/(formats/|scene/|ui/)?([a-z0-9_]+/)?\w+\.py"
)


def names(archive: Path) -> list[str]:
    """Return the files in a zip, folders left out."""
    with zipfile.ZipFile(archive) as opened:
        return [name for name in opened.namelist() if not name.endswith("/")]


def test_every_file_is_of_an_allowed_kind(extension_zip: Path) -> None:
    """No tests, tools, caches, wheels, pictures or game files."""
    assert [name for name in names(extension_zip) if not ALLOWED.fullmatch(name)] == []


def test_it_holds_the_whole_product(extension_zip: Path) -> None:
    """The builder, which follows the manifest's exclusions, drops nothing that is staged."""
    tracked = staging.tracked_files()
    expected = [path.as_posix() for path in staging.product_files() if tracked is None or path in tracked]
    assert sorted(names(extension_zip)) == sorted(expected)
    assert {"__init__.py", "blender_manifest.toml", "LICENSE"} < set(expected)


def test_the_manifest_alone_excludes_the_same_files(tmp_path: Path) -> None:
    """Whoever builds the checkout with Blender itself gets the same files as from `dev.py build`."""
    tracked = staging.tracked_files()
    if tracked is None:
        pytest.skip("not a git checkout")
    for path in tracked:
        if (staging.ROOT / path).is_file():
            copy = tmp_path / "checkout" / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes((staging.ROOT / path).read_bytes())
    archive = tmp_path / "all.zip"
    build.run_builder("build", "--source-dir", str(tmp_path / "checkout"), "--output-filepath", str(archive))
    assert sorted(names(archive)) == sorted(path.as_posix() for path in staging.product_files() if path in tracked)


def test_the_same_sources_give_the_same_bytes(
    extension_zip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Built again, elsewhere, in another time zone; in a full run by another Blender's builder too."""
    with zipfile.ZipFile(extension_zip) as opened:
        when = calendar.timegm(opened.infolist()[0].date_time)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(when))
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    assert build.build(tmp_path).read_bytes() == extension_zip.read_bytes()


def test_names_are_plain_and_unique(extension_zip: Path) -> None:
    """Nothing climbs out of the folder or collides where letter case does not count."""
    found = names(extension_zip)
    assert len({name.lower() for name in found}) == len(found)
    assert not any(PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts for name in found)


def test_the_manifest_says_what_the_project_promises(extension_zip: Path) -> None:
    """Pure Python (no wheels), file access declared, from Blender 4.2.0 on with no upper bound."""
    with zipfile.ZipFile(extension_zip) as opened:
        manifest = tomllib.loads(opened.read("blender_manifest.toml").decode())
    assert manifest["id"] == staging.EXTENSION_ID
    assert manifest["blender_version_min"] == "4.2.0"
    assert manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert set(manifest["permissions"]) == {"files"}
    assert not {"wheels", "platforms", "blender_version_max"} & set(manifest)
