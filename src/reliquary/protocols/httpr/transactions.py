"""Decides about batches in doubt (3.12.1) and about batches that come (3.12.2), by tables for both agents.

A peer sends (completed c, outcome o).  Each of our batches in doubt is before c, is c, or is after c;
the meaning of the pair depends on the message that carried it:

    RESPONSE       PUSH, PULL or EXCHANGE, request or response: later batches may still be on the way
    INFO_ANSWER    response to GET-RESPONDER-INFO: a batch behind c may still arrive at the server
    INFO_REQUEST   GET-RESPONDER-INFO: its client ignores responses on older connections
    REPORT         request or response: both know the last id that was used, so a late batch is refused
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from enum import Enum
from itertools import product
from typing import Final

import msgspec

from reliquary.protocols.httpr.codec.values import NOTHING, Outcome
from reliquary.protocols.httpr.tables import Channel


class OutcomeMessage(Enum):
    """The message of the protocol that carried an outcome."""

    RESPONSE = "response"
    INFO_ANSWER = "info-answer"
    INFO_REQUEST = "info-request"
    REPORT = "report"


class BatchPosition(Enum):
    """The position of a batch relative to the batch that the peer named."""

    BEFORE = "before"
    NAMED = "named"
    BEHIND = "behind"


class Resolution(Enum):
    """The outcome of a batch in doubt."""

    COMMITTED = "committed"
    RETURNED = "returned"
    """The messages are available again, and are sent under a new id (HR-053)."""
    IN_DOUBT = "in-doubt"


def _resolutions() -> dict[tuple[OutcomeMessage, BatchPosition, Outcome], Resolution]:
    done, back, doubt = Resolution.COMMITTED, Resolution.RETURNED, Resolution.IN_DOUBT
    table = {
        (by, BatchPosition.BEFORE, outcome): done for by, outcome in product(OutcomeMessage, Outcome)
    }  # HR-015, HR-127
    for by in OutcomeMessage:
        table[by, BatchPosition.NAMED, Outcome.COMMIT] = done
        table[by, BatchPosition.NAMED, Outcome.ROLLBACK] = back
        table[by, BatchPosition.NAMED, Outcome.INDOUBT] = doubt
        table[by, BatchPosition.BEHIND, Outcome.INDOUBT] = doubt  # the named batch is resolved first
    table[OutcomeMessage.RESPONSE, BatchPosition.BEHIND, Outcome.COMMIT] = (
        doubt  # HR-126: pipelined, its response comes later
    )
    table[OutcomeMessage.RESPONSE, BatchPosition.BEHIND, Outcome.ROLLBACK] = (
        back  # the session ends, so the batch is not taken
    )
    # DEPARTS from 3.4 (HR-020): the answer to GET-RESPONDER-INFO returns nothing that was not named, because
    # a request that comes late would be taken after its messages went again; REPORT tells the server of it.
    table[OutcomeMessage.INFO_ANSWER, BatchPosition.BEHIND, Outcome.COMMIT] = doubt
    table[OutcomeMessage.INFO_ANSWER, BatchPosition.BEHIND, Outcome.ROLLBACK] = doubt
    for by, outcome in product(
        (OutcomeMessage.INFO_REQUEST, OutcomeMessage.REPORT), (Outcome.COMMIT, Outcome.ROLLBACK)
    ):
        table[by, BatchPosition.BEHIND, outcome] = back
    return table


RESOLUTIONS: Final[Mapping[tuple[OutcomeMessage, BatchPosition, Outcome], Resolution]] = _resolutions()
_PLACES: Final = tuple(BatchPosition)


class Settlement(msgspec.Struct, frozen=True):
    """The consequence of a pair of id and outcome for all batches in doubt, as lists of ids."""

    committed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    """The store was restored since: it is unknown whether the peer took them (`memory`)."""

    def __bool__(self) -> bool:
        return bool(self.committed or self.returned or self.unknown)


def settlement(in_doubt: tuple[int, ...], completed: int, outcome: Outcome, by: OutcomeMessage) -> Settlement:
    """Look up each batch in doubt in the table; an unknown id is no error (HR-018).

    A peer repeats a rollback that is settled already until it has judged the next batch; that says
    nothing about batches that are on the way.
    """
    if by is OutcomeMessage.RESPONSE and outcome is Outcome.ROLLBACK and completed not in in_doubt:
        outcome = Outcome.COMMIT
    first = bisect_left(in_doubt, completed)  # ids never decrease
    rest = bisect_right(in_doubt, completed)
    committed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()
    places = (in_doubt[:first], in_doubt[first:rest], in_doubt[rest:])
    for place, batches in zip(_PLACES, places, strict=True):
        resolution = RESOLUTIONS[by, place, outcome] if batches else Resolution.IN_DOUBT
        if resolution is Resolution.COMMITTED:
            committed += batches
        elif resolution is Resolution.RETURNED:
            returned += batches
    return Settlement(committed, returned)


class Reception(Enum):
    """Whether a batch is taken (HR-055)."""

    TAKEN = "taken"
    KNOWN = "known"
    """The id is not above the last that came.

    529, without an outcome that could contradict the first (H-22).
    """
    LATE = "late"
    """The source has abandoned the batch: 529 and ROLLBACK (HR-081, HR-082)."""
    MALFORMED = "malformed"
    """Zero is not a valid id (HR-104): 520."""


TAKEN: Final = Reception.TAKEN


def reception(channel: Channel, batch: int) -> Reception:
    """Return whether a batch with this id is taken, by the tests of 3.12.2 in their order."""
    if batch == NOTHING:
        return Reception.MALFORMED
    if batch <= channel.last_received_id:
        return Reception.KNOWN
    return Reception.LATE if batch <= channel.last_sent_id else TAKEN
