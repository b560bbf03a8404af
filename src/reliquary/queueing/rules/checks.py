"""Check the values of read requests against their limits, for queues here and on other managers.

A UsageError names the limit and the value that was given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Duration
from reliquary.queueing.model import events
from reliquary.queueing.model.events import FOREVER_WAIT, Request
from reliquary.queueing.model.message import FOREVER

COUNT_LIMIT: Final = 10_000
"""The largest number of messages in one request or answer."""
LONGEST_TIME: Final = Duration(FOREVER * SECOND)
"""The longest time-out, lease or lock time that a request may have."""
LOOKUP_LIMIT: Final = 2**64 - 1


def check_request(request: Request) -> None:
    """Refuse a read whose values are out of range; handles are not checked here."""
    check = _CHECKS.get(type(request))
    if check is not None:
        check(request)


def check_time(what: str, span: Duration, *, least: int) -> None:
    """Refuse a time span that is shorter than `least` or longer than a timer can run."""
    if span != FOREVER_WAIT and not least <= span <= LONGEST_TIME:
        raise UsageError(
            f"{what} is {least} to {LONGEST_TIME} microseconds, or {FOREVER_WAIT} for no limit, not {span}"
        )


def check_lookup_id(lookup_id: int) -> None:
    """Refuse a number that is out of the range of a LookupIdentifier."""
    if not 0 <= lookup_id <= LOOKUP_LIMIT:
        raise UsageError(f"a LookupIdentifier is 0 to {LOOKUP_LIMIT}, not {lookup_id}")


def _check_hold(hold: Duration, transaction: UUID | None) -> None:
    """Refuse a lock time that is out of range, or together with a transaction."""
    check_time("a hold", hold, least=1)
    # DEPARTS from 3.1.7.1.11 (AN-32, DM-212): a read is not begun with both, because Dequeue Message End
    # would find no lock to end.
    if transaction is not None:
        raise UsageError("a receive is held or in a transaction, not both")  # DM-198


def _check_open(request: events.OpenQueue) -> None:
    """Refuse to open a queue with a lease that is out of range."""
    check_time("a lease", request.lease, least=1)


def check_receive(request: events.ReceiveMessages) -> None:
    """Refuse a receive whose values are out of range."""
    if not 1 <= request.count <= COUNT_LIMIT:
        raise UsageError(f"one request receives 1 to {COUNT_LIMIT} messages, not {request.count}")
    check_time("a time-out", request.timeout, least=0)
    if request.hold:
        _check_hold(request.hold, request.transaction)


def _check_look_up(request: events.LookUpMessage) -> None:
    """Refuse a lookup whose values are out of range, or a peek in a transaction."""
    check_lookup_id(request.lookup_id)
    if request.hold:
        _check_hold(request.hold, request.transaction)
    if request.peek and request.transaction is not None:
        raise UsageError("a peek cannot be in a transaction")  # DM-216


def _check_end(request: events.EndRead) -> None:
    """Refuse to reject a message and to give it back in one request."""
    if request.reject and not request.delete:
        raise UsageError("a message is rejected or given back, not both")


def _check_peek(request: events.PeekMessage) -> None:
    """Refuse a peek whose time-out is out of range, or at the next message without a cursor."""
    check_time("a time-out", request.timeout, least=0)
    if request.next and not request.cursor:
        raise UsageError("the next message is relative to a cursor, and none is given")


def _check_browse(request: events.BrowseMessages) -> None:
    """Refuse to browse with a limit that is out of range."""
    if not 1 <= request.limit <= COUNT_LIMIT:
        raise UsageError(f"one request shows 1 to {COUNT_LIMIT} messages, not {request.limit}")


_CHECKS: Final[Mapping[type[Request], Callable[[Any], None]]] = {
    events.OpenQueue: _check_open,
    events.ReceiveMessages: check_receive,
    events.LookUpMessage: _check_look_up,
    events.EndRead: _check_end,
    events.PeekMessage: _check_peek,
    events.BrowseMessages: _check_browse,
}
