"""What an administrator should look at now: a list that is made anew from the state each time.

Each alarm names the object, says what is wrong in one sentence, and what can be done about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple
from urllib.parse import urlencode

from reliquary.engine.history import HistoryStatus
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.state import State
from reliquary.views.consumers import all_consumers
from reliquary.views.manager import ManagerView, manager_view
from reliquary.views.outgoing_queues import OutgoingInfo, outgoing_queues
from reliquary.views.queues import queue

NEARLY_FULL: Final = 0.9
"""The part of a quota from which on it is worth an alarm."""
DEAD_LETTERS: Final = (r"system$;deadletter", r"system$;deadxact")
PAUSED: Final = frozenset({"on-hold", "locked"})
FAILURES: Final = 3
"""Attempts in a row that fail before a destination counts as not reached."""


class Weight(Enum):
    """The urgency of an alarm."""

    BAD = "bad"
    """Messages are refused or stand still."""
    LOOK = "look"
    """Nothing is lost, and a person should decide."""


class Alarm(NamedTuple):
    """One thing that needs a person."""

    weight: Weight
    about: str
    """The object, such as a queue."""
    what: str
    """A sentence that says what is wrong."""
    advice: str
    """A sentence that says what can be done."""
    link: str
    """The page of the object."""


def alarms(state: State, history: HistoryStatus | None) -> list[Alarm]:
    """Return all alarms of a manager, the urgent ones first."""
    view = manager_view(state)
    found = [
        *_of_manager(view),
        *_of_history(history),
        *_of_outgoing(outgoing_queues(state)),
        *_of_queues(state),
        *_of_consumers(state),
    ]
    return sorted(found, key=lambda alarm: alarm.weight is not Weight.BAD)


def _counted(count: int, what: str) -> str:
    """Return a count with its noun and verb.

    >>> _counted(1, "dead letter"), _counted(1200, "message")
    ('1 dead letter waits', '1,200 messages wait')
    """
    return f"1 {what} waits" if count == 1 else f"{count:,} {what}s wait"


def _of_manager(view: ManagerView) -> Iterator[Alarm]:
    if view.throttled:
        yield Alarm(
            Weight.BAD,
            "manager",
            "The manager accepts no messages.",
            "Free disk space or wait until the store has caught up; the log says which.",
            "/console",
        )
    if not view.online:
        yield Alarm(
            Weight.LOOK,
            "manager",
            "The manager is offline: messages neither come from other managers nor go to them.",
            "Bring it online with `reliquary manager online`.",
            "/console",
        )
    quota = view.quota_kilobytes * 1024
    if view.quota_kilobytes != FOREVER and view.bytes > NEARLY_FULL * quota:
        yield Alarm(
            Weight.BAD,
            "manager",
            f"Messages take {view.bytes:,} of {quota:,} bytes.",
            "Receive or purge messages, or raise the setting `quota`.",
            "/console/queues",
        )
    if view.transactions_prepared:
        yield Alarm(
            Weight.LOOK,
            "transactions",
            f"{_counted(view.transactions_prepared, 'prepared transaction')} for a decision.",
            "If their coordinator will not come back, commit or abort them here.",
            "/console/records/transactions",
        )
    for copy, count in view.copies_lost.items():
        yield Alarm(
            Weight.LOOK,
            "manager",
            f"{count} copies of the kind '{copy}' could not be kept.",
            "Raise the quota of the queue that should have them, or create that queue.",
            "/console/queues",
        )


def _of_history(history: HistoryStatus | None) -> Iterator[Alarm]:
    if history is None:
        return
    if history.stopped:
        yield Alarm(
            Weight.LOOK,
            "history",
            f"The history has stopped: {history.missing} events are missing.",
            "Make room for its files, or let fewer be kept.",
            "/console/history",
        )
    if history.error:
        yield Alarm(
            Weight.LOOK,
            "history",
            f"The history cannot be exported: {history.error}",
            "Look at the folder of the history; the export is tried again by itself.",
            "/console/history",
        )


def _of_outgoing(queues: Iterator[OutgoingInfo]) -> Iterator[Alarm]:
    for each in queues:
        link = "/console/record/outgoing?" + urlencode({"key": each.destination})
        if each.failures >= FAILURES:
            yield Alarm(
                Weight.BAD,
                each.destination,
                f"{each.failures} attempts in a row failed, {_counted(each.messages, 'message')}.",
                "Look at the last attempts; `resume` tries at once.",
                link,
            )
        elif each.messages and each.state in PAUSED:
            yield Alarm(
                Weight.LOOK,
                each.destination,
                f"The queue is paused, {_counted(each.messages, 'message')}.",
                "Resume it when the messages may leave.",
                link,
            )


def _of_queues(state: State) -> Iterator[Alarm]:
    for name in DEAD_LETTERS:
        found = queue(state, name)
        if found is not None and found.messages:
            yield Alarm(
                Weight.LOOK,
                name,
                f"{_counted(found.messages, 'dead letter')}.",
                "Look at why each one is there, return it to its queue or delete it.",
                "/console/queue?" + urlencode({"name": name}),
            )
    for each in state.queues.values():
        record = each.record
        if record.pathname.casefold().endswith(";poison") and len(each.order):
            info = queue(state, record.pathname)
            name = info.name if info is not None else record.pathname
            yield Alarm(
                Weight.LOOK,
                name,
                f"{_counted(len(each.order), 'message')}: handed out too often.",
                "Mend what consumes them, then return them to their queue.",
                "/console/queue?" + urlencode({"name": name}),
            )


def _of_consumers(state: State) -> Iterator[Alarm]:
    for each in all_consumers(state):
        if each.loss is not None:
            yield Alarm(
                Weight.LOOK,
                f"{each.name} of {each.queue}",
                f"The consumer lost {each.loss.messages:,} message{'s' * (each.loss.messages > 1)} "
                f"({each.loss.bytes:,} bytes): its limit was passed at {each.loss.moment}.",
                "Its query stops with DataLost: start it with failOnDataLoss=false or a new checkpoint, and "
                "raise the limit with `reliquary consumer set`.",
                "/console/consumers",
            )
