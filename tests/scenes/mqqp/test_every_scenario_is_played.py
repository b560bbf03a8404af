"""The scenarios T01 to T46 of [MS-MQQP] are all played, and each requirement that must be met is shown.

Those about one role stand beside it in tests/protocols/mqqp, those about sockets in tests/net/mqqp,
tests/server and tests/client, those with other implementations in tests/peers.
"""

from __future__ import annotations

from pathlib import Path

from tools import conformance

ROOT = Path(__file__).parents[3]
SCENARIOS = {f"T{number:02}" for number in range(1, 47)}
NOT_OURS = {
    "QP-011": "where queues are found is the directory's matter, [MS-MQDMPR]",
    "QP-078": "H-09 of the readings: the search would always fail",
    "QP-096": "as QP-078",
}
"""What the text leaves open and is not done here, with the reason."""


def test_every_scenario_is_played() -> None:
    played = conformance.marks(ROOT / "tests", ROOT, "mqqp")
    assert sorted(SCENARIOS - set(played)) == []
    assert sorted(set(played) - SCENARIOS) == []


def test_every_requirement_is_shown_or_its_departure_is_announced() -> None:
    specifications = conformance.specifications(ROOT / "docs" / "requirements")
    (asked,) = [each for each in specifications if "[MS-MQQP]" in each.title]
    shown = conformance.marks(ROOT / "tests", ROOT)
    departed = {name for each in conformance.departures(ROOT / "src", ROOT) for name in each.ids}
    known = shown.keys() | departed | NOT_OURS.keys()
    assert [each.id for each in asked.requirements if each.id not in known] == []
