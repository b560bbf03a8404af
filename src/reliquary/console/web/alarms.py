"""Finds the alarms of a manager, in a list that is made from the current state each time.

Each alarm names the object, describes the problem in one sentence, and gives advice (`alarm_kinds`).
The alert rule of a kind may wait before it reports; the list has the present state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlencode

from reliquary.base.time import SECOND, as_datetime
from reliquary.console.samples import LATE_TICK, SLOW_SYNC, Sample, Sampler
from reliquary.console.web.alarm_kinds import AlarmKind, Weight
from reliquary.engine.history import HistoryStatus
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.nouns import ChannelInfo
from reliquary.protocols.httpr.tables import Role
from reliquary.protocols.httpr.views import channels
from reliquary.queueing.model.administration import Machines
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.state import State
from reliquary.views.consumers import all_consumers
from reliquary.views.manager import ManagerView, manager_view
from reliquary.views.outgoing_queues import OutgoingInfo, outgoing_queues
from reliquary.views.queues import queue

NEARLY_FULL: Final = 0.9
"""The part of a quota from which on it is an alarm."""
DEAD_LETTERS: Final = (r"system$;deadletter", r"system$;deadxact")
PAUSED: Final = frozenset({"on-hold", "locked"})
FAILURES: Final = 3
"""Attempts in a row that fail before a destination counts as not reached."""
IN_DOUBT: Final = 10 * 60 * SECOND
"""The microseconds after which a batch in doubt is an alarm: each batch is in doubt for a moment."""
SPAN: Final = 5 * 60 * SECOND
"""The microseconds of samples that are examined together, twice."""
SHARE: Final = 0.01
"""The part of syncs and timers that may be slow."""


class Alarm(NamedTuple):
    """A problem that needs an administrator."""

    kind: AlarmKind
    about: str
    """The object, such as a queue."""
    what: str
    """A sentence that describes the problem."""
    link: str
    """The page of the object."""

    @property
    def weight(self) -> Weight:
        """The urgency of the alarm."""
        return self.kind.weight

    @property
    def advice(self) -> str:
        """A sentence with the advice for an administrator."""
        return self.kind.advice


def alarms(
    machines: Machines, history: HistoryStatus | None, sampler: Sampler, acts_trouble: str = ""
) -> list[Alarm]:
    """Return all alarms of a manager, the urgent ones first."""
    state, samples = machines.state, sampler.samples
    found = [
        *_of_acts(acts_trouble),
        *of_manager(manager_view(state)),
        *_of_history(history),
        *of_outgoing(outgoing_queues(state)),
        *_of_refusals(sampler.refused.recent()),
        *of_channels(channels(state, machines.machine(Httpr).state), samples),
        *_of_queues(state),
        *_of_consumers(state),
        *of_samples(samples),
    ]
    return sorted(found, key=lambda alarm: alarm.weight is not Weight.BAD)


def _counted(count: int, what: str) -> str:
    """Return a count with its noun and verb.

    >>> _counted(1, "dead letter"), _counted(1200, "message")
    ('1 dead letter waits', '1,200 messages wait')
    """
    return f"1 {what} waits" if count == 1 else f"{count:,} {what}s wait"


def _of_acts(trouble: str) -> Iterator[Alarm]:
    if trouble:
        yield Alarm(AlarmKind.ACTS_NOT_LOGGED, "acts", f"{trouble[0].upper()}{trouble[1:]}.", "/console/acts")


def of_manager(view: ManagerView) -> Iterator[Alarm]:
    """Yield the alarms of the manager as a whole."""
    if view.throttled:
        yield Alarm(AlarmKind.ACCEPTS_NOTHING, "manager", "The manager accepts no messages.", "/console")
    if not view.online:
        what = "The manager is offline: messages neither come from other managers nor go to them."
        yield Alarm(AlarmKind.OFFLINE, "manager", what, "/console")
    quota = view.quota_kilobytes * 1024
    if view.quota_kilobytes != FOREVER and view.bytes > NEARLY_FULL * quota:
        what = f"Messages take {view.bytes:,} of {quota:,} bytes."
        yield Alarm(AlarmKind.NEARLY_FULL, "manager", what, "/console/queues")
    if view.transactions_prepared:
        what = f"{_counted(view.transactions_prepared, 'prepared transaction')} for a decision."
        yield Alarm(AlarmKind.TRANSACTION_IN_DOUBT, "transactions", what, "/console/records/transactions")
    for copy, count in view.copies_lost.items():
        what = f"{count} copies of the kind '{copy}' could not be kept."
        yield Alarm(AlarmKind.COPIES_LOST, "manager", what, "/console/queues")


def _of_history(history: HistoryStatus | None) -> Iterator[Alarm]:
    if history is None:
        return
    if history.stopped:
        what = f"The history has stopped: {history.missing} events are missing."
        yield Alarm(AlarmKind.HISTORY_STOPPED, "history", what, "/console/history")
    if history.error:
        what = f"The history cannot be exported: {history.error}"
        yield Alarm(AlarmKind.HISTORY_NOT_EXPORTED, "history", what, "/console/history")


def of_outgoing(queues: Iterable[OutgoingInfo]) -> Iterator[Alarm]:
    """Yield the destinations that cannot be reached, or that an administrator has paused."""
    for each in queues:
        link = _link_of(each.destination)
        if each.failures >= FAILURES:
            what = f"{each.failures} attempts in a row failed, {_counted(each.messages, 'message')}."
            yield Alarm(AlarmKind.PEER_UNREACHABLE, each.destination, what, link)
        elif each.messages and each.state in PAUSED:
            what = f"The queue is paused, {_counted(each.messages, 'message')}."
            yield Alarm(AlarmKind.OUTGOING_PAUSED, each.destination, what, link)


def _of_refusals(refused: Mapping[str, int]) -> Iterator[Alarm]:
    for destination, count in refused.items():
        messages = "1 message" if count == 1 else f"{count:,} messages"
        what = f"The peer refused {messages} for good in the last quarter of an hour."
        yield Alarm(AlarmKind.PEER_REFUSES, destination, what, _link_of(destination))


def _link_of(destination: str) -> str:
    return "/console/record/outgoing?" + urlencode({"key": destination})


def of_channels(found: Iterable[ChannelInfo], samples: Sequence[Sample]) -> Iterator[Alarm]:
    """Yield the channels of HTTPR whose batches have been in doubt for long.

    A batch that was begun before a restart counts from the first of the samples.
    """
    if not samples:
        return
    first, latest = as_datetime(samples[0].moment), as_datetime(samples[-1].moment - IN_DOUBT)
    for each in found:
        messages = [batch.messages for batch in each.in_doubt if (batch.since or first) <= latest]
        if messages:
            peer = each.responder if each.role == Role.CLIENT.value else each.requester
            yield Alarm(
                AlarmKind.BATCH_IN_DOUBT,
                f"channel {each.number} with {peer}",
                f"The outcome of {len(messages):,} of its batches is not known; "
                f"{sum(messages):,} messages wait.",
                f"/console/record/channels?key={each.number}",
            )


def _of_queues(state: State) -> Iterator[Alarm]:
    for name in DEAD_LETTERS:
        found = queue(state, name)
        if found is not None and found.messages:
            what = f"{_counted(found.messages, 'dead letter')}."
            yield Alarm(AlarmKind.DEAD_LETTERS, name, what, "/console/queue?" + urlencode({"name": name}))
    for each in state.queues.values():
        record = each.record
        if record.pathname.casefold().endswith(";poison") and len(each.order):
            info = queue(state, record.pathname)
            name = info.name if info is not None else record.pathname
            what = f"{_counted(len(each.order), 'message')}: handed out too often."
            yield Alarm(AlarmKind.POISON_MESSAGES, name, what, "/console/queue?" + urlencode({"name": name}))


def _of_consumers(state: State) -> Iterator[Alarm]:
    for each in all_consumers(state):
        if each.loss is not None:
            yield Alarm(
                AlarmKind.CONSUMER_LOST_MESSAGES,
                f"{each.name} of {each.queue}",
                f"The consumer lost {each.loss.messages:,} message{'s' * (each.loss.messages > 1)} "
                f"({each.loss.bytes:,} bytes): its limit was passed at {each.loss.moment}.",
                "/console/consumers",
            )


# -- speed


def of_samples(samples: Sequence[Sample]) -> Iterator[Alarm]:
    """Yield what was slow in the last five minutes and in the five before; one slow moment is no alarm."""
    if not samples:
        return
    now = samples[-1].moment
    middle, start = _at(samples, now - SPAN), _at(samples, now - 2 * SPAN)
    if middle is None or start is None:
        return
    spans = ((start, middle), (middle, samples[-1]))
    slow = min(_share(to.slow_syncs - since.slow_syncs, to.syncs - since.syncs) for since, to in spans)
    late = min(_share(to.late_ticks - since.late_ticks, to.ticks - since.ticks) for since, to in spans)
    if slow > SHARE:
        what = f"At least {slow:.0%} of the syncs of the last ten minutes took longer than {SLOW_SYNC} s."
        yield Alarm(AlarmKind.SYNCS_ARE_SLOW, "store", what, "/console")
    if late > SHARE:
        what = (
            f"At least {late:.0%} of the timers of the last ten minutes were late by more than {LATE_TICK} s."
        )
        yield Alarm(AlarmKind.LOOP_IS_BUSY, "event loop", what, "/console")


def _at(samples: Sequence[Sample], moment: int) -> Sample | None:
    """Return the last sample that is at least as old as a moment; None if all are younger."""
    return next((each for each in reversed(samples) if each.moment <= moment), None)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
