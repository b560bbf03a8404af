"""A reader goes from a requirement to its function in one step, and finds the neighbours beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tools import conformance, places
from tools.places import Definition, DefinitionKind, Module

ROOT = Path(__file__).parents[2]

TEN = {
    "queues": "DM-137",
    "messages": "DM-192",
    "cursors": "DM-132",
    "transactions": "DM-107",
    "journals": "DM-049",
    "dead letters": "DM-050",
    "acknowledgements": "DM-063",
    "open queue": "DM-162",
    "directory": "DM-238",
    "expiry": "DM-297",
}


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    return {module.path: module for module in places.modules(ROOT / "src", ROOT, ["DM"])}


@pytest.fixture(scope="module")
def obeyed(modules: Mapping[str, Module]) -> dict[str, list[Definition]]:
    return places.places(list(modules.values()))


@pytest.mark.parametrize("spec_id", TEN.values(), ids=TEN)
def test_a_rule_leads_to_a_function_that_has_neighbours(
    spec_id: str, obeyed: Mapping[str, list[Definition]], modules: Mapping[str, Module]
) -> None:
    functions = [place for place in obeyed[spec_id] if place.kind is DefinitionKind.FUNCTION]
    assert functions
    for function in functions:
        assert any(
            place.kind is DefinitionKind.FUNCTION
            for place in modules[function.path].cited
            if place != function
        )


def test_every_requirement_of_the_data_model_that_a_test_shows_has_a_place(
    obeyed: Mapping[str, list[Definition]],
) -> None:
    shown = [spec_id for spec_id in conformance.marks(ROOT / "tests", ROOT) if spec_id.startswith("DM-")]
    missing = [
        spec_id for spec_id in sorted(shown) if not any(place.name for place in obeyed.get(spec_id, ()))
    ]
    assert missing == [], "cite them in a comment at the line that obeys them"
