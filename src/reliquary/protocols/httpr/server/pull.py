"""Batches that are fetched, D.4 of the digest: PULL, and the second half of EXCHANGE.

    HoldWanted --> MessagesHeld --> full? ------------------------------> closed: the answer
        ^              |            not yet: wait until the deadline ------^
        '-- MessagesWaiting <--'                                           |
                                     nothing came: "no messages" ----------'

Messages are held, and the batch is in doubt, from the first of them on (P1); the answer, with its terminator,
leaves after the sync of what was held last.  A batch that was never sent is given back with the request.
Limits are upper bounds (HR-094 to HR-097): a full batch does not wait for them.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.httpr.addresses import agent_of
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.client.channels import leave_to_fetcher
from reliquary.protocols.httpr.codec.values import Outcome
from reliquary.protocols.httpr.facts import BatchPrepared, FetchingSeen
from reliquary.protocols.httpr.routing import is_fetched_by_agent, sources_of
from reliquary.protocols.httpr.server import report, responses
from reliquary.protocols.httpr.server.channel import Asked, Collecting, Pair, Served
from reliquary.protocols.httpr.server.refusals import NOT_HELD
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.transactions import Settlement
from reliquary.queueing.travel.transfer import (
    HoldRefusal,
    HoldWanted,
    MessagesHeld,
    MessagesWaiting,
    QueuesWatched,
)

BATCH_WAIT: Final = "httpr-batch"
"""The timer of a PULL that waits for messages, by its channel."""
FINAL: Final = (HoldRefusal.NOT_ALLOWED, HoldRefusal.TOO_LARGE)
"""Waiting does not help."""


def collect(state: State, served: Served, asked: Asked, pair: Pair | None, now: Instant) -> None:
    """Begin a batch for the first in the line; `pair` is what its answer says of the client's batches."""
    own = not is_fetched_by_agent(state.settings, served.service)
    if not own and not state.channels[served.channel].pulled:
        apply(state, FetchingSeen(served.channel))
        leave_to_fetcher(state, state.channels[served.channel].requester)
    served.collecting = Collecting(asked, pair, own)
    _reach(state, served, served.collecting, now)


def told_of_pushes(state: State, served: Served, asked: Asked) -> Pair | None:
    """What the answer to a PULL says of the client's last batch (H-27).

    In a pipelined session it does not say ROLLBACK: the client would count a PUSH as rolled back that is
    behind this request, and is yet to be taken.  It was told at once, and is by REPORT.
    """
    pair = responses.standing(state.channels[served.channel])
    return None if asked.pipelined and pair[0] is not Outcome.COMMIT else pair


def _reach(state: State, served: Served, collecting: Collecting, now: Instant) -> None:
    """Ask the manager for as many messages as the batch still takes."""
    channel, agreed = state.channels[served.channel], collecting.asked.agreed
    queues: tuple[str | int, ...] = (collecting.queue,)
    if not collecting.messages:
        queues = sources_of(state, served.service, channel.requester, served.last_queue)
    if not queues:
        _go_on(state, served, collecting, now)
        return
    collecting.reaching = queues
    state.draft.tell(
        HoldWanted(
            HOLDER,
            (served.channel, collecting.batch or channel.last_source_id + 1),
            queues,
            agreed.maximum_batch_size - len(collecting.messages),
            state.settings.batch_bytes - collecting.size,
            collecting.asked.event.by,
            agreed.maximum_message_size,
        )
    )


def held(state: State, served: Served, signal: MessagesHeld, now: Instant) -> None:
    """The manager has given messages, or has none."""
    collecting = served.collecting
    assert collecting is not None, f"nobody asked for {signal.key}"
    asked_for, again = collecting.reaching, collecting.again
    collecting.reaching, collecting.again = (), False
    served.last_queue = signal.queue
    if signal.messages:
        _take(state, served, collecting, signal, now)
        _go_on(state, served, collecting, now)
    elif collecting.messages:
        close(state, served, now)  # what there is more does not fit, or somebody else has it
    elif signal.refusal in FINAL or (collecting.own and signal.refusal is HoldRefusal.NO_QUEUE):
        assert signal.refusal is not None
        _refuse(state, served, collecting, signal.refusal, now)
    else:
        _note_empty(state, collecting, asked_for, signal)
        if again:
            _reach(state, served, collecting, now)
        else:
            _go_on(state, served, collecting, now)


def _take(state: State, served: Served, collecting: Collecting, signal: MessagesHeld, now: Instant) -> None:
    """P1: the first messages make the batch, more of them make it larger."""
    if not collecting.messages:
        collecting.batch, collecting.queue, collecting.first = signal.key[1], signal.queue, now
        apply(state, BatchPrepared(served.channel, collecting.batch))
        state.begun[signal.key] = now
    collecting.messages += signal.messages
    collecting.size += sum([message.body_size for message in signal.messages])
    collecting.latest = now


def _note_empty(
    state: State, collecting: Collecting, asked_for: tuple[str | int, ...], signal: MessagesHeld
) -> None:
    """A queue of ours is watched from now on; of outgoing ones we hear when they have messages again."""
    if collecting.own:
        collecting.queue = signal.queue
        return
    for each in asked_for if signal.refusal is not HoldRefusal.NOT_NOW else ():
        assert isinstance(each, int), "outgoing queues are known by their numbers"
        state.waiting.pop(each, None)


def _refuse(
    state: State, served: Served, collecting: Collecting, refusal: HoldRefusal, now: Instant
) -> None:  # fmt: skip
    _stop(state, served)
    number, why = NOT_HELD[refusal], f"{served.service}: {refusal.value}"
    responses.refuse(state, served, collecting.asked, now, number, why)


def _go_on(state: State, served: Served, collecting: Collecting, now: Instant) -> None:
    """Close the batch when it is full or its time is over; else wait."""
    agreed, deadline = collecting.asked.agreed, collecting.deadline
    full = (
        len(collecting.messages) >= agreed.maximum_batch_size or collecting.size >= state.settings.batch_bytes
    )
    if full or now >= deadline or _is_in_the_way(state, served, collecting):
        close(state, served, now)
        return
    state.fetching[served.channel] = None
    _watch(state)
    state.draft.ask(SetTimer((BATCH_WAIT, served.channel), Duration(deadline - now)))


def make_way(state: State, served: Served, now: Instant) -> None:
    """A request has come behind the one that waits."""
    if served.collecting is not None and _is_in_the_way(state, served, served.collecting):
        close(state, served, now)


def _is_in_the_way(state: State, served: Served, collecting: Collecting) -> bool:
    """Whether a request behind it says what became of a batch in doubt: that is not to wait for messages."""
    in_doubt = state.channels[served.channel].in_doubt
    if collecting.messages or not in_doubt:
        return False
    told = [asked.header.completed for asked in islice(served.line, 1, None)]
    return any(completed is not None and completed >= in_doubt[0] for completed in told)


def close(state: State, served: Served, now: Instant) -> None:
    """Answer with what there is: a batch, or "no messages", which is no error (F-10)."""
    collecting = served.collecting
    if collecting is None:  # a timer that ran out while the answer was written
        return
    _stop(state, served)
    responses.respond(
        state,
        served,
        collecting.asked,
        now,
        pair=collecting.pair,
        transaction_id=collecting.batch or None,
        batch=tuple(collecting.messages),
    )


def abandon(state: State, served: Served) -> None:
    """Nobody waits for this batch any more: it was not sent, and its messages are there again."""
    collecting = served.collecting
    if collecting is None:
        return
    _stop(state, served)
    if collecting.batch:
        report.conclude(state, served.channel, Settlement(returned=(collecting.batch,)))


def waiting(state: State, signal: MessagesWaiting, now: Instant) -> None:
    """Messages wait that some PULL may be for."""
    for number in list(state.fetching):
        served = state.served[number]
        collecting = served.collecting
        if collecting is None or not _concerns(state, served, collecting, signal):
            continue
        if collecting.reaching:
            collecting.again = True
        else:
            _reach(state, served, collecting, now)


def _concerns(state: State, served: Served, collecting: Collecting, signal: MessagesWaiting) -> bool:
    if collecting.queue:
        return collecting.queue == signal.queue
    requester = state.channels[served.channel].requester
    return not collecting.own and agent_of(signal.destination) == agent_of(requester)


def _stop(state: State, served: Served) -> None:
    served.collecting = None
    if served.channel in state.fetching:
        del state.fetching[served.channel]
        state.draft.ask(CancelTimer((BATCH_WAIT, served.channel)))
        _watch(state)


def _watch(state: State) -> None:
    """Tell the manager which of its own queues PULLs wait at, where those are others than before."""
    waiting = [state.served[number].collecting for number in state.fetching]
    wanted = frozenset([each.queue for each in waiting if each is not None and each.own and each.queue])
    if wanted != state.watched:
        state.watched = wanted
        state.draft.tell(QueuesWatched(wanted))
