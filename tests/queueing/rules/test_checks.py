"""Tests of the limits of request values; `test_requests` shows that the manager refuses what is outside."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Access,
    BrowseMessages,
    CloseQueue,
    EndRead,
    LookUpMessage,
    OpenQueue,
    PeekMessage,
    ReceiveMessages,
    Request,
)
from reliquary.queueing.rules.checks import (
    COUNT_LIMIT,
    LONGEST_TIME,
    LOOKUP_LIMIT,
    check_lookup_id,
    check_request,
    check_time,
)

TRANSACTION = UUID(int=5)
RIGHT: list[Request] = [
    OpenQueue(1, "q", Access.RECEIVE),
    OpenQueue(1, "q", Access.RECEIVE, lease=LONGEST_TIME),
    ReceiveMessages(1, "q", count=COUNT_LIMIT, timeout=LONGEST_TIME, hold=FOREVER_WAIT),
    ReceiveMessages(1, "q", transaction=TRANSACTION),
    LookUpMessage(1, "q", LOOKUP_LIMIT),
    LookUpMessage(1, "q", 0, peek=False, transaction=TRANSACTION),
    EndRead(1, 2, delete=True, reject=True),
    PeekMessage(1, "q", cursor=3, next=True),
    BrowseMessages(1, "q", limit=COUNT_LIMIT),
    CloseQueue(1, 2),
]
WRONG: list[tuple[Request, str]] = [
    (OpenQueue(1, "q", Access.RECEIVE, lease=Duration(0)), "a lease is 1 to"),
    (ReceiveMessages(1, "q", count=0), "receives 1 to 10000 messages, not 0"),
    (ReceiveMessages(1, "q", count=COUNT_LIMIT + 1), "receives 1 to 10000 messages, not 10001"),
    (ReceiveMessages(1, "q", timeout=Duration(-2)), "a time-out is 0 to"),
    (ReceiveMessages(1, "q", hold=Duration(-2)), "a hold is 1 to"),
    (ReceiveMessages(1, "q", hold=Duration(5), transaction=TRANSACTION), "held or in a transaction"),
    (LookUpMessage(1, "q", -1), "a LookupIdentifier is 0 to"),
    (LookUpMessage(1, "q", 1, hold=Duration(LONGEST_TIME + 1)), "a hold is 1 to"),
    (LookUpMessage(1, "q", 1, transaction=TRANSACTION), "a peek cannot be in a transaction"),
    (EndRead(1, 2, delete=False, reject=True), "rejected or given back"),
    (PeekMessage(1, "q", timeout=Duration(LONGEST_TIME + 1)), "a time-out is 0 to"),
    (PeekMessage(1, "q", next=True), "relative to a cursor"),
    (BrowseMessages(1, "q", limit=0), "shows 1 to 10000 messages, not 0"),
]


@pytest.mark.parametrize("request_", RIGHT)
def test_what_is_within_its_range_passes(request_: Request) -> None:
    check_request(request_)


@pytest.mark.parametrize(("request_", "why"), WRONG)
def test_what_is_outside_its_range_is_refused_with_a_sentence(request_: Request, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check_request(request_)


def test_the_sentence_names_limit_and_value() -> None:
    check_time("a span", FOREVER_WAIT, least=3)
    with pytest.raises(UsageError, match=f"a span is 3 to {LONGEST_TIME} microseconds.*not 2"):
        check_time("a span", Duration(2), least=3)
    check_lookup_id(LOOKUP_LIMIT)
    with pytest.raises(UsageError, match=f"0 to {LOOKUP_LIMIT}, not {LOOKUP_LIMIT + 1}"):
        check_lookup_id(LOOKUP_LIMIT + 1)
