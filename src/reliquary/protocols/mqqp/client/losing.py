"""Ends a link after its connection broke, the server refused or did not answer, or the queue was closed.

The server runs down its state for the link (QP-140 to QP-142), so messages that came and were not
acknowledged are available in their queue again, and all requests of the link are answered.
"""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.client import receipts, settling
from reliquary.protocols.mqqp.client.answers import reply, unknown, unreachable
from reliquary.protocols.mqqp.client.links import remove, withdraw
from reliquary.protocols.mqqp.client.phases import LinkPhase, TaskPhase
from reliquary.protocols.mqqp.client.state import Link, Task
from reliquary.protocols.mqqp.client.tasks import finish
from reliquary.protocols.mqqp.effects import EndLink
from reliquary.protocols.mqqp.events import LinkLost
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import Answer, CloseCursor, Opened, PurgeQueue
from reliquary.queueing.travel.failures import Failure


def on_link_lost(state: State, event: LinkLost, now: Instant) -> None:
    """End a link whose connection broke or could not be made."""
    link = state.client.links.get(event.link)
    if link is not None:
        _end(state, link, unreachable(link.server, event.failure, event.why), now)


def on_call_time(state: State, number: int, now: Instant) -> None:
    """Close the connection of a call without a response in time, so that the server runs it down (F-07)."""
    late = state.client.calls.get(number)
    if late is not None:
        link = state.client.links[late.link]
        why = f"it did not answer the call to {late.purpose.value} in time"
        hang_up(state, link, unreachable(link.server, Failure.TIMED_OUT, why), now)


def hang_up(state: State, link: Link, why: Answer, now: Instant) -> None:
    """Close the connection of a link, and answer all requests on it."""
    state.draft.ask(EndLink(link.number))
    _end(state, link, why, now)


def _end(state: State, link: Link, why: Answer, now: Instant) -> None:
    closing = link.phase is LinkPhase.CLOSING
    withdraw(state, link)
    remove(state, link)
    for task in list(link.tasks.values()):
        _lose(state, link, task, why, now)
    for ending in list(link.endings.values()):
        receipts.lost(state, link, ending, why.why)
    reply(state, link.to, Answer(HResult.OK) if closing else Opened(why.status, why.why))


def _lose(state: State, link: Link, task: Task, why: Answer, now: Instant) -> None:
    if task.phase is TaskPhase.SETTLING:
        settling.lost(state, link, task, now)
    elif isinstance(task.request, CloseCursor):
        finish(state, link, task, Answer(HResult.OK))  # no cursor exists longer than its link
    elif isinstance(task.request, PurgeQueue) and task.phase is TaskPhase.STARTED:
        finish(state, link, task, unknown(link.server, "purged the queue", why.why))
    else:
        finish(state, link, task, why)
