"""The scenarios T01 to T47, the flows F1 to F9 and the bodies H1 to H17 of HTTPR are all played.

Those about one machine stand beside it in tests/protocols/httpr, those about sockets in tests/net/httpr and
tests/server; here are the flows of chapter 4, and what takes more than one agent.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools import conformance

ROOT = Path(__file__).parents[3]
LISTED = set(
    re.findall(
        r"^\| (T\d\d|F\d|H\d{1,2}) \|", (ROOT / "docs/requirements/httpr.md").read_text(), re.MULTILINE
    )
)
"""The scenarios, flows and bodies of the page of HTTPR's requirements."""
FLOWS = {each for each in LISTED if each[0] == "F"}
HERE = "tests/scenes/httpr/"
PARTS = ("at_the_server", "at_the_client", "together")


def test_every_scenario_is_played() -> None:
    played = conformance.marks(ROOT / "tests", ROOT, "httpr")
    assert len(LISTED) == 47 + 9 + 16
    assert sorted(LISTED - set(played)) == []
    assert sorted(set(played) - LISTED) == []


def test_every_flow_is_played_by_the_server_agent_the_client_agent_and_both() -> None:
    played = conformance.marks(ROOT / "tests", ROOT, "httpr")
    wanted = {(flow, f"{HERE}test_chapter_4_{part}.py") for flow in FLOWS for part in PARTS}
    found = {(flow, test.partition("::")[0]) for flow in FLOWS for test in played[flow]}
    assert sorted(wanted - found) == []
