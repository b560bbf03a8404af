"""The scenarios T01 to T47, the flows F1 to F9 and the bodies H1 to H17 of HTTPR are all played.

Those about one machine stand beside it in tests/protocols/httpr, those about sockets in tests/net/httpr and
tests/server; here are the flows of chapter 4, and what takes more than one agent.
"""

from __future__ import annotations

from pathlib import Path

from tools import conformance

ROOT = Path(__file__).parents[3]
SCENARIOS = {f"T{number:02}" for number in range(1, 48)}
FLOWS = {f"F{number}" for number in range(1, 10)}
BODIES = {f"H{number}" for number in range(1, 18)} - {"H10"}
"""The list has no H10."""
HERE = "tests/scenes/httpr/"
PARTS = ("at_the_server", "at_the_client", "together")


def test_every_scenario_is_played() -> None:
    played = conformance.marks(ROOT / "tests", ROOT, "httpr")
    known = SCENARIOS | FLOWS | BODIES
    assert sorted(known - set(played)) == []
    assert sorted(set(played) - known) == []


def test_every_flow_is_played_by_our_server_our_client_and_both() -> None:
    played = conformance.marks(ROOT / "tests", ROOT, "httpr")
    wanted = {(flow, f"{HERE}test_chapter_4_{part}.py") for flow in FLOWS for part in PARTS}
    found = {(flow, test.partition("::")[0]) for flow in FLOWS for test in played[flow]}
    assert sorted(wanted - found) == []
