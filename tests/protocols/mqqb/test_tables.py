"""The tables of MQQB, and which messages of a stream are taken."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.tables import MQQB_ACCEPTANCE, TABLES
from reliquary.streams.acceptance import NumberRelation, StreamRelation, Verdict, judge
from reliquary.streams.tables import IncomingStream

KEPT = IncomingStream(5, last=3)


def test_the_five_tables_have_names_of_their_own() -> None:
    assert TABLES == ("mqqb_streams", "mqqb_numbers", "mqqb_incoming", "mqqb_history", "mqqb_ordinals")


def test_no_case_is_missing() -> None:
    assert set(MQQB_ACCEPTANCE) == {
        (standing, step) for standing in StreamRelation for step in NumberRelation
    }


@pytest.mark.spec("QB-259")
@pytest.mark.parametrize(
    ("kept", "stream", "current", "previous", "verdict"),
    [
        (None, 5, 1, 0, Verdict.BEGIN),
        (None, 5, 7, 0, Verdict.BEGIN),
        (None, 5, 7, 6, Verdict.OUT_OF_ORDER),
        (KEPT, 6, 1, 0, Verdict.BEGIN),
        (KEPT, 6, 4, 0, Verdict.BEGIN),
        (KEPT, 6, 4, 2, Verdict.OUT_OF_ORDER),
        (KEPT, 5, 4, 3, Verdict.GO_ON),
        (KEPT, 5, 6, 2, Verdict.GO_ON),
        (KEPT, 5, 6, 5, Verdict.OUT_OF_ORDER),
        (KEPT, 5, 3, 2, Verdict.REPEATED),
        (KEPT, 4, 9, 0, Verdict.OUTDATED),
    ],
)
def test_a_message_is_taken_in_its_turn(
    kept: IncomingStream | None, stream: int, current: int, previous: int, verdict: Verdict
) -> None:
    assert judge(kept, stream, current, previous, MQQB_ACCEPTANCE) is verdict
