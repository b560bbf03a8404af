"""Tests the directory over both transports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reliquary import BadRequest, DirectoryUnavailable, Manager, NotFound, ObjectExists
from reliquary.client.sync.directory import Directory


@pytest.fixture
def directory(qm: Manager) -> Iterator[Directory]:
    """Return the manager's directory, and empty it afterwards."""
    found = qm.directory
    yield found
    found.attach()
    for kind in ("routing-link", "site"):
        for each in found.objects(kind):
            found.remove(kind, each["identifier"])


def test_objects_are_made_shown_changed_listed_and_removed(directory: Directory) -> None:
    north, south = directory.add("site", name="north"), directory.add("site", name="south")
    ends = {"site1": north["identifier"], "site2": south["identifier"]}
    link = directory.add("routing-link", **ends, actual_cost=5)
    assert directory.object("routing-link", link["identifier"]) == link
    assert directory.objects("routing-link", "actual_cost>=5", "actual_cost<9") == [link]
    assert directory.objects("routing-link", "actual_cost<5") == []
    assert directory.change("site", "north", foreign_site=True) == north | {"foreign_site": True}
    directory.remove("routing-link", link["identifier"])
    directory.remove("site", "south")
    assert [each["name"] for each in directory.objects("site")] == ["north"]


def test_the_directory_is_exported_and_imported_as_a_file(directory: Directory) -> None:
    directory.add("site", name="north")
    text = directory.export_text()
    directory.remove("site", "north")
    assert directory.import_text(text) == 1
    assert directory.export_text() == text
    with pytest.raises(BadRequest, match="this is not TOML"):
        directory.import_text("[[")


def test_the_directory_can_be_detached_and_attached(directory: Directory) -> None:
    before = directory.info()
    assert (before.attached, before.connection, before.objects["site"]) == (True, "apart", 0)
    assert directory.detach().attached is False
    for ask in (directory.export_text, lambda: directory.add("site", name="a")):
        with pytest.raises(DirectoryUnavailable, match="not connected"):
            ask()
    assert directory.attach() == before


def test_impossible_changes_are_refused(directory: Directory) -> None:
    directory.add("site", name="north")
    with pytest.raises(ObjectExists):
        directory.add("site", name="North")
    with pytest.raises(NotFound):
        directory.object("site", "east")
    with pytest.raises(NotFound):
        directory.remove("site", "east")
    with pytest.raises(BadRequest, match="no type of directory object"):
        directory.objects("house")
    with pytest.raises(BadRequest, match="no attribute 'colour'"):
        directory.change("site", "north", colour="red")
    with pytest.raises(BadRequest, match="no attribute 'colour'"):
        directory.objects("site", "colour=red")
