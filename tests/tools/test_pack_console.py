"""Tests the wheel: it is built and opened, and an unknown version of htmx is refused."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from configparser import ConfigParser
from email import message_from_string
from pathlib import Path

import pytest

from tools import pack_console

ROOT = Path(__file__).parents[2]
PACKAGES = ("reliquary", "pyspark_reliquary")
LOAD_ASSETS = """
import sys
sys.path.insert(0, sys.argv[1])
from reliquary.console.web import assets
assets.find_spec = lambda _: None
print(assets.__file__, *sorted(assets.load()))
"""


def test_the_version_of_htmx_is_the_one_whose_licence_is_here_and_another_is_refused(tmp_path: Path) -> None:
    added = pack_console.packed(pack_console.package_folder())
    assert all(Path(each).is_file() for each in added)
    script = tmp_path / pack_console.FOREIGN["htmx.min.js"]
    script.parent.mkdir(parents=True)
    script.write_text('var htmx={version:"2.0.11"}')
    with pytest.raises(SystemExit, match="look at the licence of its version"):
        pack_console.packed(tmp_path)


@pytest.mark.long
def test_a_wheel_has_every_file_its_licences_its_types_and_its_command(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        archive.extractall(unpacked)
    within = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}

    own = {
        str(path.relative_to(ROOT / "src"))
        for package in PACKAGES
        for path in (ROOT / "src" / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {
        f"{pack_console.PACKED}/{name}"
        for name in (*pack_console.FOREIGN, "LICENSE-htmx", "LICENSE-htmx-sse", "LICENSE-django-htmx")
    }
    [info] = unpacked.glob("*.dist-info")
    assert own | packed == {name for name in within if not name.startswith(info.name)}
    assert "reliquary/py.typed" in within
    assert "Zero-Clause BSD" in (unpacked / pack_console.PACKED / "LICENSE-htmx").read_text()

    metadata = message_from_string((info / "METADATA").read_text())
    assert (metadata["Name"], metadata["License-Expression"]) == ("reliquary", "Apache-2.0")
    assert (info / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    entries = ConfigParser()
    entries.read(info / "entry_points.txt")
    assert dict(entries["console_scripts"]) == {"reliquary": "reliquary.cli.main:main"}

    alone = [sys.executable, "-I", "-c", LOAD_ASSETS, str(unpacked)]
    file, *assets = subprocess.run(alone, check=True, capture_output=True, text=True).stdout.split()
    assert Path(file).is_relative_to(unpacked)
    assert assets == ["console.css", "console.js", "htmx-sse.min.js", "htmx.min.js"]
