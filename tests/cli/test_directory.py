"""Tests of the command `reliquary directory`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reliquary import Manager
from reliquary.cli.directory import KINDS, NAMES
from reliquary.queueing.model.directory.objects import TYPES, ObjectKind
from reliquary.server.exits import Exit
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def empty(qm: Manager) -> Iterator[None]:
    """Yield an empty directory for each test."""
    yield
    qm.directory.attach()
    for kind in ("routing-link", "site", "distribution-list"):
        for each in qm.directory.objects(kind):
            qm.directory.remove(kind, each["identifier"])


def test_the_command_line_knows_every_type_and_how_it_is_called() -> None:
    assert [kind.value for kind in ObjectKind] == list(KINDS)
    assert all(set(NAMES) & set(type_.__struct_fields__) for type_ in TYPES.values())


def test_an_object_is_made_shown_changed_listed_and_removed(run: Run) -> None:
    made = json.loads(run("directory", "add", "site", "name=north").output)
    assert (made["name"], made["foreign_site"]) == ("north", False)
    changed = json.loads(run("directory", "set", "site", "north", "foreign_site=true").output)
    assert changed == made | {"foreign_site": True}
    assert json.loads(run("directory", "show", "site", made["identifier"]).output) == changed
    assert (
        "foreign_site                    yes" in run("directory", "show", "site", "north", "--table").output
    )
    [line] = run("directory", "list", "site").output.splitlines()
    assert json.loads(line) == changed
    table = run("directory", "list", "site", "--table").output.split()
    assert table == ["identifier", "name", made["identifier"], "north"]
    assert run("directory", "list", "site", "--where", "name=south").output == ""
    assert run("directory", "remove", "site", "north").exit_code == Exit.OK
    assert run("directory", "show", "site", "north").exit_code == Exit.NOT_FOUND


def test_a_list_is_given_with_commas(run: Run) -> None:
    names = r"DIRECT=OS:a\x,DIRECT=OS:b\x"
    made = json.loads(
        run("directory", "add", "distribution-list", "name=shops", f"format_names={names}").output
    )
    assert made["format_names"] == names.split(",")
    shown = run("directory", "show", "distribution-list", "shops", "--table").output
    assert names.replace(",", ", ") in shown


def test_the_directory_goes_out_and_comes_in_as_a_file(run: Run, tmp_path: Path) -> None:
    run("directory", "add", "site", "name=north")
    file = tmp_path / "directory.toml"
    assert run("directory", "export", file).exit_code == Exit.OK
    assert run("directory", "export").output == file.read_text()
    run("directory", "remove", "site", "north")
    assert run("directory", "import", file).output == "1 objects\n"
    assert run("directory", "import", "-", stdin=file.read_bytes()).output == "1 objects\n"
    assert run("directory", "export").output == file.read_text()


def test_the_directory_is_detached_and_attached(run: Run) -> None:
    assert json.loads(run("directory", "detach").output)["attached"] is False
    refused = run("directory", "list", "site")
    assert (refused.exit_code, refused.stderr) == (
        Exit.REFUSED,
        "reliquary: the directory is not connected\n",
    )
    table = run("directory", "status", "--table").output
    assert "attached           no" in table
    assert "routing-link       0" in table
    assert json.loads(run("directory", "attach").output)["attached"] is True


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("add", "site", "north"), "an attribute is NAME=VALUE, not 'north'"),
        (("add", "site", "name=a", "name=b"), "name is given twice"),
        (("add", "site", "colour=red"), "site has no attribute 'colour'"),
        (("add", "routing-link", "actual_cost=high"), "actual_cost cannot be 'high'"),
        (("add", "house", "name=a"), "'house' is not one of"),
        (("add", "site"), "name is empty"),
        (("list", "site", "--where", "red"), "a condition is ATTRIBUTE=VALUE"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, arguments: tuple[str, ...], why: str) -> None:
    result = run("directory", *arguments)
    assert result.exit_code == Exit.USAGE
    assert why in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_file_that_is_not_good_changes_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    assert "is not text" in run("directory", "import", tmp_path / "bad.toml").stderr
    (tmp_path / "bad.toml").write_text("[[site]]\nname = 'a'")
    result = run("directory", "import", tmp_path / "bad.toml")
    assert (result.exit_code, result.stderr) == (
        Exit.USAGE,
        "reliquary: line 1: site 1: identifier is missing\n",
    )
    assert run("directory", "import", tmp_path / "none.toml").exit_code != Exit.OK
