"""What becomes of batches in doubt (3.12.1), and which batches are taken (3.12.2): two tables.

A peer says (completed c, outcome o).  Each batch t that we have in doubt lies before c, is c, or lies
behind it; what that means depends on what carried the pair:

    RESPONSE       an answer to PUSH, PULL, EXCHANGE, or a request of those: batches may still be on the way
    INFO_ANSWER    GET-RESPONDER-INFO answered: a batch behind c may still arrive, nobody has been told of it
    INFO_REQUEST   GET-RESPONDER-INFO asked: its client hears nothing of older connections any more
    REPORT         asked or answered: both know the last id that was used, so what comes late is refused
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


class By(Enum):
    """What carried an outcome."""

    RESPONSE = "response"
    INFO_ANSWER = "info-answer"
    INFO_REQUEST = "info-request"
    REPORT = "report"


class Place(Enum):
    """Where a batch lies, seen from the one that was named."""

    BEFORE = "before"
    NAMED = "named"
    BEHIND = "behind"


class Fate(Enum):
    """What becomes of a batch in doubt."""

    COMMITTED = "committed"
    RETURNED = "returned"
    """Its messages are available again, and travel under a new id (HR-053)."""
    IN_DOUBT = "in-doubt"


def _fates() -> dict[tuple[By, Place, Outcome], Fate]:
    done, back, doubt = Fate.COMMITTED, Fate.RETURNED, Fate.IN_DOUBT
    table = {(by, Place.BEFORE, outcome): done for by, outcome in product(By, Outcome)}  # HR-015, HR-127
    for by in By:
        table[by, Place.NAMED, Outcome.COMMIT] = done
        table[by, Place.NAMED, Outcome.ROLLBACK] = back
        table[by, Place.NAMED, Outcome.INDOUBT] = doubt
        table[by, Place.BEHIND, Outcome.INDOUBT] = doubt  # the named one is resolved first
    table[By.RESPONSE, Place.BEHIND, Outcome.COMMIT] = doubt  # HR-126: pipelined, its answer comes
    table[By.RESPONSE, Place.BEHIND, Outcome.ROLLBACK] = back  # the session ends: it is not processed
    # DEPARTS from 3.4 (HR-020): the answer to GET-RESPONDER-INFO returns nothing that was not named, because
    # a request that comes late would be taken after its messages went again; REPORT tells the server of it.
    table[By.INFO_ANSWER, Place.BEHIND, Outcome.COMMIT] = doubt
    table[By.INFO_ANSWER, Place.BEHIND, Outcome.ROLLBACK] = doubt
    for by, outcome in product((By.INFO_REQUEST, By.REPORT), (Outcome.COMMIT, Outcome.ROLLBACK)):
        table[by, Place.BEHIND, outcome] = back
    return table


FATES: Final[Mapping[tuple[By, Place, Outcome], Fate]] = _fates()
_PLACES: Final = tuple(Place)


class Settlement(msgspec.Struct, frozen=True):
    """What a pair means for all batches in doubt."""

    committed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.committed or self.returned)


def settlement(in_doubt: tuple[int, ...], completed: int, outcome: Outcome, by: By) -> Settlement:
    """Look each of them up; ids that we do not know are no error (HR-018).

    A rollback that was settled before is repeated until the next batch was judged; it says nothing of those
    that are on the way meanwhile.
    """
    if by is By.RESPONSE and outcome is Outcome.ROLLBACK and completed not in in_doubt:
        outcome = Outcome.COMMIT
    first = bisect_left(in_doubt, completed)  # ids only grow
    rest = bisect_right(in_doubt, completed)
    committed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()
    places = (in_doubt[:first], in_doubt[first:rest], in_doubt[rest:])
    for place, batches in zip(_PLACES, places, strict=True):
        fate = FATES[by, place, outcome] if batches else Fate.IN_DOUBT
        if fate is Fate.COMMITTED:
            committed += batches
        elif fate is Fate.RETURNED:
            returned += batches
    return Settlement(committed, returned)


class Reception(Enum):
    """Whether a batch is taken (HR-055)."""

    TAKEN = "taken"
    KNOWN = "known"
    """It is not after the last one that came: 529, and no outcome that could contradict the first (H-22)."""
    LATE = "late"
    """Its source has given it up: 529 and ROLLBACK (HR-081, HR-082)."""
    MALFORMED = "malformed"
    """Zero is no id (HR-104): 520."""


def reception(channel: Channel, batch: int) -> Reception:
    """The tests of 3.12.2, in their order."""
    if batch == NOTHING:
        return Reception.MALFORMED
    if batch <= channel.last_received_id:
        return Reception.KNOWN
    return Reception.LATE if batch <= channel.last_sent_id else Reception.TAKEN
