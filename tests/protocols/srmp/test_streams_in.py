"""Which messages of a stream are taken."""

from __future__ import annotations

from itertools import product
from uuid import UUID

import pytest

from reliquary.protocols.srmp.codec.values import StreamPlace
from reliquary.protocols.srmp.streams_in import ACCEPTANCE, TAKEN, Standing, Step, Verdict, judge
from reliquary.protocols.srmp.tables import IncomingStream

KEPT = IncomingStream(50, last=5, acknowledged=3, receipts_to="http://alpha.example/receipts")


def place(number: int, current: int, previous: int | None = None) -> StreamPlace:
    return StreamPlace(
        identifier=f"uid:x\\{number}",
        sender=UUID(int=1),
        number=number,
        current=current,
        previous=current - 1 if previous is None else previous,
        receipts_to="http://alpha.example/receipts" if current == 1 else "",
    )


def test_every_case_has_a_verdict() -> None:
    assert set(ACCEPTANCE) == set(product(Standing, Step))


@pytest.mark.spec("SR-069", "SR-070", "SR-136", "SR-211")
@pytest.mark.parametrize(
    ("kept", "came", "verdict"),
    [
        (None, place(50, 1), Verdict.BEGIN),
        (None, place(50, 2), Verdict.OUT_OF_ORDER),
        (None, place(50, 3, previous=0), Verdict.OUT_OF_ORDER),
        (KEPT, place(51, 1), Verdict.BEGIN),
        (KEPT, place(51, 6), Verdict.OUT_OF_ORDER),
        (KEPT, place(51, 9, previous=5), Verdict.OUT_OF_ORDER),
        (KEPT, place(50, 6), Verdict.GO_ON),
        (KEPT, place(50, 6, previous=2), Verdict.GO_ON),
        (KEPT, place(50, 9, previous=5), Verdict.GO_ON),
        (KEPT, place(50, 9, previous=4), Verdict.GO_ON),
        (KEPT, place(50, 9, previous=6), Verdict.OUT_OF_ORDER),
        (KEPT, place(50, 9), Verdict.OUT_OF_ORDER),
        (KEPT, place(50, 5), Verdict.REPEATED),
        (KEPT, place(50, 1), Verdict.REPEATED),
        (KEPT, place(49, 1), Verdict.OUTDATED),
        (KEPT, place(49, 6), Verdict.OUTDATED),
        (KEPT, place(49, 9, previous=5), Verdict.OUTDATED),
        (KEPT, place(49, 9), Verdict.OUTDATED),
    ],
)
def test_a_message_is_judged_by_its_stream_and_its_number(
    kept: IncomingStream | None, came: StreamPlace, verdict: Verdict
) -> None:
    assert judge(kept, came) is verdict


def test_what_is_taken_is_a_beginning_or_the_next_one() -> None:
    """Only then it is known where receipts go: the first message says it."""
    begins = [case for case, verdict in ACCEPTANCE.items() if verdict is Verdict.BEGIN]
    assert all(step is Step.NEXT and standing is not Standing.SAME for standing, step in begins)
    goes_on = [standing for (standing, _), verdict in ACCEPTANCE.items() if verdict is Verdict.GO_ON]
    assert set(goes_on) == {Standing.SAME}
    assert {Verdict.BEGIN, Verdict.GO_ON} == TAKEN
