"""The scenarios T01 to T35 of [MS-WSRVCRM] are all played.

Those about one role stand beside it in tests/protocols/wsrm, those about sockets in tests/net/wsrm and
tests/server; here is what takes both roles.
"""

from __future__ import annotations

from pathlib import Path

from tools import conformance

ROOT = Path(__file__).parents[3]
SCENARIOS = {f"T{number:02}" for number in range(1, 36)}


def test_every_scenario_is_played() -> None:
    played = conformance.marks(ROOT / "tests", ROOT, "wsrm")
    assert sorted(SCENARIOS - set(played)) == []
    assert sorted(set(played) - SCENARIOS) == []


def test_every_requirement_is_shown_or_its_departure_is_announced() -> None:
    specifications = conformance.specifications(ROOT / "docs" / "requirements")
    (asked,) = [each for each in specifications if "[MS-WSRVCRM]" in each.title]
    shown = conformance.marks(ROOT / "tests", ROOT)
    departed = {name for each in conformance.departures(ROOT / "src", ROOT) for name in each.ids}
    assert [each.id for each in asked.requirements if each.id not in shown.keys() | departed] == []
