"""Tests of the ways in which an outgoing request can fail."""

from __future__ import annotations

from enum import Enum

import pytest

from reliquary.net.http.courier import UNANSWERED
from reliquary.net.http.failures import (
    BadResponse,
    ConnectFailed,
    ConnectionLost,
    Failure,
    RequestFailed,
    TimedOut,
)
from reliquary.net.httpr.courier import FAILURES as HTTPR_FAILURES
from reliquary.net.tcp.dialing import DialFailure


@pytest.mark.parametrize(
    ("failure", "sent"),
    [
        (ConnectFailed("x"), False),
        (ConnectionLost("x", began=False), True),
        (TimedOut("x", sent=False), False),
        (TimedOut("x", sent=True), True),
        (BadResponse("x"), True),
    ],
    ids=repr,
)
def test_every_failure_tells_whether_the_request_can_have_been_done(
    failure: RequestFailed, sent: bool
) -> None:
    assert failure.sent is sent


def test_only_a_request_for_which_there_was_no_connection_cannot_have_been_done() -> None:
    assert {each.value for each in Failure if not each.sent} == {each.value for each in DialFailure}


@pytest.mark.parametrize("failures", [UNANSWERED, HTTPR_FAILURES], ids=["post", "httpr"])
def test_each_courier_has_a_word_for_every_failure(failures: dict[Failure, Enum]) -> None:
    assert set(failures) == set(Failure)
    unsent = {failures[each].value for each in Failure if not each.sent}
    unknown = {failures[each].value for each in Failure if each.sent}
    assert unsent == {each.value for each in DialFailure}
    assert not unsent & unknown
