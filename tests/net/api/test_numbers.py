"""Tests numbers and ids of requests: what is read, and what is refused with its limit."""

from __future__ import annotations

import math
from functools import partial
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.net.api.errors import Refused
from reliquary.net.api.numbers import (
    LONGEST_HOLD,
    LONGEST_WAIT,
    Tickets,
    hold_of,
    lookup_id_of,
    object_id_of,
    wait_of,
    whole_seconds,
)
from reliquary.queueing.model.events import FOREVER_WAIT
from reliquary.queueing.model.message import ObjectId
from reliquary.queueing.model.tables import LAST_ID
from tests.net.api.harness import SeededChance, refusal


def test_the_least_and_the_longest_waits_and_holds_are_taken() -> None:
    assert wait_of(None) == FOREVER_WAIT
    assert wait_of(0) == 0
    assert wait_of(604_800) == LONGEST_WAIT
    assert hold_of(0) == 0
    assert hold_of(0.001) == 1000
    assert hold_of(43_200) == LONGEST_HOLD


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -0.001, 604_800.001])
def test_a_wrong_time_to_wait_is_refused(number: float) -> None:
    assert refusal(lambda: wait_of(number)) == f"timeout is 0 to 604800 seconds or null, not {number}"


@given(st.floats(0.001, 43_200))
def test_a_hold_never_becomes_none_by_rounding(number: float) -> None:
    assert hold_of(number) > 0


def test_seconds_are_rounded_up_and_bounded() -> None:
    assert [whole_seconds("expires", given, 0) for given in (0, 0.1, 1, 4294967295)] == [0, 1, 1, 4294967295]
    for number in (-1, 4294967295.5, math.nan, math.inf):
        assert "expires is 0 to 4294967295 seconds" in refusal(partial(whole_seconds, "expires", number, 0))


@given(st.integers(0, LAST_ID))
def test_every_lookup_id_is_read(number: int) -> None:
    assert lookup_id_of(str(number)) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "0x1", "٣", "²", str(LAST_ID + 1), "9" * 5000])
def test_a_malformed_lookup_id_is_refused(text: str) -> None:
    assert f"from 0 to {LAST_ID}" in refusal(lambda: lookup_id_of(text))


def test_ids_of_messages_are_read_or_refused() -> None:
    guid = UUID("0c44cb60-0000-4000-8000-000000000007")
    assert object_id_of("correlation", f"{guid}\\7") == ObjectId(guid, 7)
    for text in (
        "",
        "\\",
        f"{guid}",
        f"{guid}\\",
        f"{guid}\\-1",
        f"{guid}\\4294967296",
        "x\\1",
        f"{guid}\\²",
    ):
        assert "correlation is the id of a message" in refusal(partial(object_id_of, "correlation", text))


def test_a_ticket_is_good_for_one_run() -> None:
    today, yesterday = Tickets(SeededChance(1)), Tickets(SeededChance(2))
    assert today.read("receipt", today.write(7)) == 7
    for foreign in (yesterday.write(7), "7", "", today.write(7) + "x", today.write(7)[:-1]):
        with pytest.raises(Refused, match="the receipt is not known"):
            today.read("receipt", foreign)
