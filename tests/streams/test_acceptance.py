"""Acceptance decides which messages of a stream are taken."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import Instant
from reliquary.streams.acceptance import (
    ACCEPTANCE,
    TAKEN,
    NumberRelation,
    StreamRelation,
    Verdict,
    advanced,
    judge,
    without_skipped,
)
from reliquary.streams.tables import IncomingStream

NumberInStream = tuple[int, int, int]
"""The stream, the current and the previous number of a message."""
KEPT = IncomingStream(50, last=5, acknowledged=3, receipts_to="where it said")


def number_in(stream: int, current: int, previous: int | None = None) -> NumberInStream:
    return stream, current, current - 1 if previous is None else previous


def test_every_case_has_a_verdict() -> None:
    assert set(ACCEPTANCE) == set(product(StreamRelation, NumberRelation))


@pytest.mark.spec("SR-069", "SR-070", "SR-136", "SR-211")
@pytest.mark.parametrize(
    ("kept", "came", "verdict"),
    [
        (None, number_in(50, 1), Verdict.BEGIN),
        (None, number_in(50, 2), Verdict.OUT_OF_ORDER),
        (None, number_in(50, 3, previous=0), Verdict.OUT_OF_ORDER),
        (KEPT, number_in(51, 1), Verdict.BEGIN),
        (KEPT, number_in(51, 6), Verdict.OUT_OF_ORDER),
        (KEPT, number_in(51, 9, previous=5), Verdict.OUT_OF_ORDER),
        (KEPT, number_in(50, 6), Verdict.GO_ON),
        (KEPT, number_in(50, 6, previous=2), Verdict.GO_ON),
        (KEPT, number_in(50, 9, previous=5), Verdict.GO_ON),
        (KEPT, number_in(50, 9, previous=4), Verdict.GO_ON),
        (KEPT, number_in(50, 9, previous=6), Verdict.OUT_OF_ORDER),
        (KEPT, number_in(50, 9), Verdict.OUT_OF_ORDER),
        (KEPT, number_in(50, 5), Verdict.REPEATED),
        (KEPT, number_in(50, 1), Verdict.REPEATED),
        (KEPT, number_in(49, 1), Verdict.OUTDATED),
        (KEPT, number_in(49, 6), Verdict.OUTDATED),
        (KEPT, number_in(49, 9, previous=5), Verdict.OUTDATED),
        (KEPT, number_in(49, 9), Verdict.OUTDATED),
    ],
)
def test_a_message_is_judged_by_its_stream_and_its_number(
    kept: IncomingStream | None, came: NumberInStream, verdict: Verdict
) -> None:
    assert judge(kept, *came) is verdict


def test_what_is_taken_is_a_beginning_or_the_next_one() -> None:
    """The address for receipts is known only from the first message of a stream."""
    begins = [case for case, verdict in ACCEPTANCE.items() if verdict is Verdict.BEGIN]
    assert all(
        step is NumberRelation.NEXT and standing is not StreamRelation.SAME for standing, step in begins
    )
    goes_on = [standing for (standing, _), verdict in ACCEPTANCE.items() if verdict is Verdict.GO_ON]
    assert set(goes_on) == {StreamRelation.SAME}
    assert {Verdict.BEGIN, Verdict.GO_ON, Verdict.RESUMED} == TAKEN
    assert not {Verdict.RESUMED, Verdict.LATE} & set(ACCEPTANCE.values())  # only `gaps` gives them


@pytest.mark.parametrize(
    ("came", "verdict"),
    [
        (number_in(51, 9, previous=0), Verdict.BEGIN),
        (number_in(51, 9, previous=1), Verdict.OUT_OF_ORDER),
        (number_in(51, 1), Verdict.BEGIN),
        (number_in(49, 9, previous=0), Verdict.OUTDATED),
    ],
)
def test_a_protocol_may_let_streams_begin_with_any_number(came: NumberInStream, verdict: Verdict) -> None:
    anywhere = {
        **ACCEPTANCE,
        (StreamRelation.NONE_KEPT, NumberRelation.SKIP): Verdict.BEGIN,
        (StreamRelation.NEWER, NumberRelation.SKIP): Verdict.BEGIN,
    }
    assert judge(KEPT, *came, anywhere) is verdict


@pytest.mark.spec("SR-212", "SR-213")
def test_a_stream_that_goes_on_keeps_what_its_first_message_said() -> None:
    begun = advanced(
        None, 50, 1, 0, Instant(7), receipts_to="where it said", identifier="fifty", format_name="here"
    )
    assert begun == IncomingStream(50, 1, 0, "where it said", "fifty", "here", 7)
    assert advanced(KEPT, 50, 6, 5, Instant(8)) == IncomingStream(50, 6, 3, "where it said", accessed=8)
    assert advanced(KEPT, 51, 1, 0, Instant(8), receipts_to="elsewhere") == IncomingStream(
        51, 1, 0, "elsewhere", accessed=8
    )


@given(st.sets(st.integers(1, 30)), st.lists(st.integers(0, 29), max_size=120))
def test_messages_are_taken_once_and_in_order_despite_repeats_and_early_arrivals(
    expired: set[int], arrivals: list[int]
) -> None:
    """The sender has 30 numbers, of which some expired; it sends all again at the end."""
    sent = [number for number in range(1, 31) if number == 1 or number not in expired]
    kept: IncomingStream | None = None
    taken = []
    for index in [*arrivals, *range(len(sent))]:
        current = sent[index % len(sent)]
        previous = max([number for number in sent if number < current], default=0)
        if judge(kept, 50, current, previous) in TAKEN:
            taken.append(current)
            kept = advanced(kept, 50, current, previous, Instant(0))
    assert taken == sent
    assert kept is not None
    assert not kept.skipped


def test_a_number_that_was_passed_over_is_made_up_for() -> None:
    kept = IncomingStream(50, 9, skipped=((2, 4), (6, 6)))
    assert without_skipped(kept, 3).skipped == ((2, 2), (4, 4), (6, 6))
    assert without_skipped(kept, 6).skipped == ((2, 4),)
