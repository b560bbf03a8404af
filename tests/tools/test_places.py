"""Tests the places of the requirements: each citation belongs to the right definition."""

from __future__ import annotations

import pytest

from tools.places import DefinitionKind, places, read

MODULE = '''\
"""The room of DM-001
to DM-003, and of SHA-256 and ZZ-004."""

# DM-010: about nothing

# DM-011: above
# a table
TABLE = {  # DM-012
    "a": 1,  # DM-013
}
"""DM-014."""

NAME = "DM-015 is a value here"


class It:
    """DM-020."""

    # DM-021
    size: int  # DM-022
    """DM-023."""
    other: int

    @property  # DM-024
    def go(self) -> int:
        """DM-025."""
        def inner() -> int:
            return 1  # DM-026

        # DM-027
        return inner()

    class Inner:
        colour = 1  # DM-028


# DM-030
@decorated
async def go() -> None:
    text = "# DM-031"
    return None  # DM-032, SR-033
'''


@pytest.mark.parametrize(
    ("name", "line", "kind", "cited"),
    [
        ("", 1, DefinitionKind.MODULE, "DM-001 DM-002 DM-003 DM-010"),
        ("TABLE", 8, DefinitionKind.TABLE, "DM-011 DM-012 DM-013 DM-014"),
        ("NAME", 13, DefinitionKind.TABLE, ""),
        ("It", 16, DefinitionKind.CLASS, "DM-020"),
        ("It.size", 20, DefinitionKind.FIELD, "DM-021 DM-022 DM-023"),
        ("It.other", 22, DefinitionKind.FIELD, ""),
        ("It.go", 25, DefinitionKind.FUNCTION, "DM-024 DM-025 DM-026 DM-027"),
        ("It.Inner", 33, DefinitionKind.CLASS, ""),
        ("It.Inner.colour", 34, DefinitionKind.FIELD, "DM-028"),
        ("go", 39, DefinitionKind.FUNCTION, "DM-030 DM-032 SR-033"),
    ],
)
def test_a_citation_belongs_to_the_innermost_definition(
    name: str, line: int, kind: DefinitionKind, cited: str
) -> None:
    module = read(MODULE, "src/it.py", ["DM", "SR"])
    (found,) = (place for place in module.cited if place.name == name)
    assert (found.line, found.kind) == (line, kind)
    assert module.cited[found] == tuple(cited.split())


def test_the_places_of_an_id_are_in_the_order_of_files_and_lines() -> None:
    second = read("def b(): ...  # DM-001\ndef a(): ...  # DM-001\n", "src/second.py", ["DM"])
    first = read("def c(): ...  # DM-001\n", "src/first.py", ["DM"])
    assert [str(place) for place in places([second, first])["DM-001"]] == [
        "src/first.py::c",
        "src/second.py::b",
        "src/second.py::a",
    ]
