"""What the audit calls a fault: every definition stands here, once.

A *trace* is all that one manager tells of one message, put together from its events.  A *passage* is a trace
that left a queue for another manager, beside the trace of its arrival there, if there is one:

    manager a                                manager b
    trace: queued, delivered  -- passage --> trace: arrived, received
           '-- in doubt?  acknowledged?             '-- twice?  late?  in order?

Each rule is a condition over the columns of traces or passages (`traces.COLUMNS`, `findings.passages`), as
SQL, and says which stretch of whose history must be complete before its answer counts.  What that stretch
does not cover is *not judged*: it is neither a fault nor proven.  docs/guides/audit.md tells the same in
words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final

from reliquary.wire.history import Happening

HAPPENINGS: Final = tuple(happening.word for happening in sorted(Happening))
"""The events of the history; the number of each is its bit in the mask of a trace."""

TRANSACTIONAL: Final = 1 << 40
"""It was sent in a transaction or in a stream."""
REACHED: Final = 1 << 41
"""Another manager acknowledged that it is in its queue."""
READ: Final = 1 << 42
"""Another manager acknowledged that it was received."""
BATCHED: Final = 1 << 43
"""It came by a protocol that keeps the order without numbers."""
FETCHED: Final = 1 << 44
"""Another manager fetched it from a queue of this one."""
OUTGOING: Final = 1 << 45
"""It was put into an outgoing queue."""
LOCAL: Final = 1 << 46
"""It was put into a queue of applications."""
UNPROMISED: Final = 1 << 47
"""Nobody promised that it comes: an express message, or a receipt that a manager wrote to another."""
LANE: Final = 48
"""The three bits from here on are its lane: messages of one lane keep their order in a queue."""

ORDERED: Final = ("httpr",)
"""Protocols that keep the order of messages that have no number, and that fetch from queues of others."""
UNSURE: Final = ("multicast",)
"""Protocols that send without knowing who listens."""
COPIES: Final = ("journal", "dead-letter")
"""Kinds of queues that hold copies: what is read there was delivered before."""


def bit(*happenings: str) -> int:
    """The mask of these events.

    >>> bit("accepted"), bit("accepted", "arrived")
    (2, 6)
    """
    return sum(1 << (HAPPENINGS.index(happening) + 1) for happening in happenings)


SETTLING: Final = bit(
    "released", "delivered", "received", "expired", "purged", "rejected", "moved", "dead-lettered",
    "poisoned", "committed", "aborted", "accepted", "queued", "arrived", "returned",
)  # fmt: skip
"""After one of these a message is not in doubt."""
OUT_OF_LINE: Final = bit(
    "returned", "released", "delayed", "due", "prepared", "moved", "poisoned", "rejected"
)
"""A message to which one of these happened may be overtaken."""
GONE: Final = bit("received", "expired", "purged", "rejected", "moved", "dead-lettered", "poisoned")
"""How a message that arrived can have left its queue."""


class Kind(StrEnum):
    """What a finding can be."""

    LOST = "lost"
    DUPLICATED = "duplicated"
    REORDERED = "reordered"
    LATE = "late"
    IN_DOUBT = "in-doubt"
    ACKNOWLEDGED = "acknowledged"


class Verdict(StrEnum):
    """What the audit says of a stream, and of all of them."""

    PROVEN = "proven"
    REFUTED = "refuted"
    NOT_JUDGED = "not-judged"


class Reason(StrEnum):
    """Why something is not judged."""

    NO_HISTORY = "no-history"
    TOO_RECENT = "too-recent"
    TOO_OLD = "too-old"
    MISSING = "events-missing"

    @property
    def sentence(self) -> str:
        """For people."""
        return _SENTENCES[self]


_SENTENCES: Final[Mapping[Reason, str]] = {
    Reason.NO_HISTORY: "the history of the destination was not given, or nobody said which manager it is",
    Reason.TOO_RECENT: "the history of the manager that must tell does not reach far enough yet",
    Reason.TOO_OLD: "the history of the manager that must tell begins later",
    Reason.MISSING: "events are missing in the history of the manager that must tell",
}

SECOND: Final = 1_000_000
HOUR: Final = 3600 * SECOND


def span(micros: str) -> str:
    """SQL that writes a span of microseconds as people do."""
    return (
        f"case when {micros} < 120e6 then concat(round({micros} / 1e6, 1), ' s') "
        f"when {micros} < 7200e6 then concat(round({micros} / 60e6, 1), ' min') "
        f"else concat(round({micros} / 3600e6, 1), ' h') end"
    )


@dataclass(frozen=True)
class Limits:
    """What the audit allows; all in microseconds."""

    late: int = HOUR
    """A message may take so long from one queue to the next, and wait so long to be read."""
    doubt: int = HOUR
    """A batch or a transaction may be in doubt so long."""
    grace: int = 300 * SECOND
    """Clocks of two managers may differ by so much."""

    def names(self) -> dict[str, int]:
        """By the names that the conditions use."""
        return {"late": self.late, "doubt": self.doubt, "grace": self.grace}


class Over(Enum):
    """Of what a rule speaks."""

    TRACES = "traces"
    PASSAGES = "passages"
    ARRIVALS = "arrivals"
    """Arrivals of one message in one queue."""
    PLACES_IN_LINE = "places in line"
    """Messages of one stream, in the order in which they came out of it, with the `latest` before each."""


@dataclass(frozen=True)
class Rule:
    """One way to be at fault."""

    kind: Kind
    over: Over
    condition: str
    covered_by: str
    """Whose history must be complete: `manager`, `other`, or `destination` where nothing arrived; or none."""
    since: str
    until: str
    """The stretch of time in which it must be complete."""
    at: str
    """When it happened."""
    sentence: str
    """What a person reads: the message ..."""
    events: tuple[str, ...] = ()
    """The events of `manager` that prove it."""
    other_events: tuple[str, ...] = ()
    """Those of the other manager."""
    detail: str = ""
    """More for the sentence, as SQL; empty for nothing."""

    def text(self, part: str, limits: Limits) -> str:
        """A part of the rule as SQL, with the limits put in."""
        return part.format_map({**_MASKS, **limits.names()})


_MASKS: Final[Mapping[str, int]] = {
    "DELIVERED": bit("delivered"),
    "RECEIVED": bit("received"),
    "SENT": bit("sent", "held"),
    "REACHED": REACHED,
    "READ": READ,
    "TRANSACTIONAL": TRANSACTIONAL,
    "OUT_OF_LINE": OUT_OF_LINE,
    "HELD": bit("held"),
    "GONE": GONE,
    "UNPROMISED": UNPROMISED,
}

RULES: Final = (
    Rule(
        Kind.LOST,
        Over.PASSAGES,
        condition="left_event is not null and seen = 0 and mask & {REACHED} = 0 and mask & {READ} = 0 "
        "and mask & {UNPROMISED} = 0",
        covered_by="destination",
        since="entered_time - {grace}",
        until="left_time + {grace}",
        at="left_time",
        sentence="left for the next manager, which has no trace of it",
        events=("entered_event", "left_event"),
    ),
    Rule(
        Kind.LOST,
        Over.PASSAGES,
        condition="left_event is null and seen = 0 and overtaken and mask & {SENT} != 0 "
        "and mask & {GONE} = 0",
        covered_by="destination",
        since="entered_time - {grace}",
        until="overtaken_time + {grace}",
        at="entered_time",
        sentence="was sent, and a later message of its stream arrived without it",
        events=("entered_event",),
    ),
    Rule(
        Kind.ACKNOWLEDGED,
        Over.PASSAGES,
        condition="seen = 0 and (mask & {REACHED} != 0 or mask & {READ} != 0) and mask & {UNPROMISED} = 0",
        covered_by="destination",
        since="entered_time - {grace}",
        until="acknowledged_time + {grace}",
        at="acknowledged_time",
        sentence="was acknowledged, and the manager that should have it has no trace of it",
        events=("entered_event", "acknowledged_event"),
    ),
    Rule(
        Kind.ACKNOWLEDGED,
        Over.PASSAGES,
        condition="arrivals > 0 and mask & {READ} != 0 and other_mask & {GONE} = 0 "
        "and mask & {UNPROMISED} = 0",
        covered_by="other",
        since="other_time",
        until="acknowledged_time + {grace}",
        at="acknowledged_time",
        sentence="was acknowledged as received, and nobody received it",
        events=("entered_event", "acknowledged_event"),
        other_events=("other_event",),
    ),
    Rule(
        Kind.DUPLICATED,
        Over.ARRIVALS,
        condition="arrivals > 1",
        covered_by="",
        since="entered_time",
        until="entered_time",
        at="entered_time",
        sentence="arrived more than once in the same queue",
        detail="concat(': ', arrivals, ' times')",
        events=("entered_event", "again_event"),
    ),
    Rule(
        Kind.DUPLICATED,
        Over.TRACES,
        condition="reads > 1",
        covered_by="manager",
        since="received_time",
        until="again_time",
        at="again_time",
        sentence="was received more than once, and nothing brought it back in between",
        detail="concat(': ', reads, ' times')",
        events=("received_event", "again_event"),
    ),
    Rule(
        Kind.REORDERED,
        Over.PLACES_IN_LINE,
        condition="turn < latest",
        covered_by="manager",
        since="since",
        until="until",
        at="at",
        sentence="came after a message that was sent later",
        events=("event",),
        other_events=("other_event",),
    ),
    Rule(
        Kind.LATE,
        Over.PASSAGES,
        condition="arrivals > 0 and (other_time - start_time > {late} or other_time > deadline + {grace})",
        covered_by="manager",
        since="entered_time",
        until="coalesce(left_time, entered_time)",
        at="other_time",
        sentence="took longer than allowed to the next manager, or got there after its deadline",
        detail=f"concat(': it took ', {span('(other_time - start_time)')})",
        events=("entered_event",),
        other_events=("other_event",),
    ),
    Rule(
        Kind.LATE,
        Over.TRACES,
        condition="received_event is not null and (received_time - start_time > {late} "
        "or coalesce(handed_time, received_time) > deadline)",
        covered_by="manager",
        since="entered_time",
        until="received_time",
        at="received_time",
        sentence="waited longer than allowed, or was received after its deadline",
        detail=f"concat(': it waited ', {span('(received_time - start_time)')})",
        events=("entered_event", "received_event"),
    ),
    Rule(
        Kind.IN_DOUBT,
        Over.TRACES,
        condition="doubt_event > coalesce(settled_event, 0) and doubt_time + {doubt} <= watermark "
        "and mask & {UNPROMISED} = 0",
        covered_by="manager",
        since="doubt_time",
        until="watermark",
        at="doubt_time",
        sentence="is in doubt: nobody told how its batch or its transaction ended",
        detail=f"concat(', for ', {span('(watermark - doubt_time)')})",
        events=("doubt_event",),
    ),
)
