"""Answers PULL and the second half of EXCHANGE, 5.3 and 5.4, with batches.

    ReservationWanted --> MessagesReserved --> full? ------------------------------> closed: the answer
        ^              |            not yet: wait until the deadline ------^
        '-- MessagesWaiting <--'                                           |
                                     no messages: "no messages" -----------'

Messages are reserved, and the batch is in doubt, from the first of them on (P1).  The answer leaves after the
sync of the last reservation.  A batch that was never sent is returned together with its request.
Limits are upper bounds (HR-094 to HR-097): a full batch does not wait for them.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.httpr.addresses import agent_of
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.batches import end_batches
from reliquary.protocols.httpr.codec.values import Outcome
from reliquary.protocols.httpr.facts import BatchPrepared, FetchingSeen
from reliquary.protocols.httpr.memory import may_be_there, put_aside
from reliquary.protocols.httpr.outgoing import leave_to_fetcher
from reliquary.protocols.httpr.routing import is_fetched_by_agent, sources_of
from reliquary.protocols.httpr.server import responses
from reliquary.protocols.httpr.server.channel import Pair, PendingRequest, PullInProgress, ServerChannel
from reliquary.protocols.httpr.server.refusals import NOT_HELD
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.protocols.httpr.transactions import Settlement
from reliquary.queueing.model.travel.transfer import (
    MessagesReserved,
    MessagesWaiting,
    QueuesWatched,
    ReservationRefusal,
    ReservationWanted,
)

BATCH_WAIT: Final = "httpr-batch"
"""The timer of a PULL that waits for messages, by its channel."""
FINAL: Final = (ReservationRefusal.NOT_ALLOWED, ReservationRefusal.TOO_LARGE)
"""Refusals after which waiting does not help."""


# -- the request


def serve(state: State, channel: ServerChannel, request: PendingRequest, now: Instant) -> None:
    """Fill a batch for a PULL, unless the client is in doubt about an earlier one."""
    pair = _pair(state, channel, request)
    if request.unsettled:
        responses.respond(state, channel, request, now, pair=pair, ending=True)
    else:
        start(state, channel, request, pair, now)


def _pair(state: State, channel: ServerChannel, request: PendingRequest) -> Pair | None:
    """Return the outcome of the client's last batch for the answer to a PULL (H-27).

    In a pipelined session it is never ROLLBACK: the client would count a PUSH as rolled back that is
    behind this request and is taken later.  The answer to that batch and REPORT give that outcome.
    """
    pair = responses.last_outcome(state.channels[channel.number])
    return None if request.pipelined and pair[0] is not Outcome.COMMIT else pair


def start(
    state: State, channel: ServerChannel, request: PendingRequest, pair: Pair | None, now: Instant
) -> None:
    """Begin the batch of the first request; `pair` is the outcome of the client's batches for its answer."""
    own = not is_fetched_by_agent(state.settings, channel.service)
    if not own and not state.channels[channel.number].pulled:
        apply(state, FetchingSeen(channel.number))
        leave_to_fetcher(state, state.channels[channel.number].requester)
    channel.pull = PullInProgress(request, pair, own)
    _reserve_more(state, channel, channel.pull, now)


# -- filling the batch


def _reserve_more(state: State, channel: ServerChannel, pull: PullInProgress, now: Instant) -> None:
    """Request as many messages from the queue manager as the batch still takes."""
    row, agreed = state.channels[channel.number], pull.request.agreed
    queues: tuple[str | int, ...] = (pull.queue,)
    if not pull.messages:
        queues = sources_of(state, channel.service, row.requester, channel.last_queue)
    if not queues:
        _close_or_wait(state, channel, pull, now)
        return
    pull.asked_queues = queues
    state.draft.signal(
        ReservationWanted(
            HOLDER,
            (channel.number, pull.batch or row.next_id),
            queues,
            agreed.maximum_batch_size - len(pull.messages),
            state.settings.batch_bytes - pull.size,
            pull.request.event.by,
            agreed.maximum_message_size,
        )
    )


def on_reserved(state: State, channel: ServerChannel, signal: MessagesReserved, now: Instant) -> None:
    """Add the messages that the manager reserved to the batch; close it, refuse it, or wait for more."""
    pull = channel.pull
    assert pull is not None, f"no PULL asked for {signal.key}"
    asked_queues, ask_again = pull.asked_queues, pull.ask_again
    pull.asked_queues, pull.ask_again = (), False
    channel.last_queue = signal.queue
    if signal.of_older_era and may_be_there(state, signal):
        put_aside(state, signal)
        _reserve_more(state, channel, pull, now)
    elif signal.messages:
        _add(state, channel, pull, signal, now)
        _close_or_wait(state, channel, pull, now)
    elif pull.messages:
        close(state, channel, now)  # further messages do not fit, or another reader has them
    elif signal.refusal in FINAL or (pull.from_own_queue and signal.refusal is ReservationRefusal.NO_QUEUE):
        assert signal.refusal is not None
        _refuse(state, channel, pull, signal.refusal, now)
    else:
        _note_empty(state, pull, asked_queues, signal)
        if ask_again:
            _reserve_more(state, channel, pull, now)
        else:
            _close_or_wait(state, channel, pull, now)


def _add(
    state: State, channel: ServerChannel, pull: PullInProgress, signal: MessagesReserved, now: Instant
) -> None:
    """Add messages to the batch, which is in doubt with its first messages (P1)."""
    if not pull.messages:
        pull.batch, pull.queue, pull.first_at = signal.key[1], signal.queue, now
        apply(state, BatchPrepared(channel.number, pull.batch))
        state.begun[signal.key] = now
    pull.messages += signal.messages
    pull.size += sum([message.body_size for message in signal.messages])
    pull.latest_at = now


def _note_empty(
    state: State, pull: PullInProgress, asked_queues: tuple[str | int, ...], signal: MessagesReserved
) -> None:
    """Watch an empty local queue; outgoing queues signal by themselves when they have messages again."""
    if pull.from_own_queue:
        pull.queue = signal.queue
        return
    for each in asked_queues if signal.refusal is not ReservationRefusal.NOT_NOW else ():
        assert isinstance(each, int), "outgoing queues are known by their numbers"
        state.waiting.pop(each, None)


def _refuse(
    state: State, channel: ServerChannel, pull: PullInProgress, refusal: ReservationRefusal, now: Instant
) -> None:
    _stop(state, channel)
    number, why = NOT_HELD[refusal], f"{channel.service}: {refusal.value}"
    responses.refuse(state, channel, pull.request, now, number, why)


# -- waiting, and the end of the batch


def _close_or_wait(state: State, channel: ServerChannel, pull: PullInProgress, now: Instant) -> None:
    """Close the batch if it is full or its deadline has passed; else wait for messages."""
    agreed, deadline = pull.request.agreed, pull.deadline
    full = len(pull.messages) >= agreed.maximum_batch_size or pull.size >= state.settings.batch_bytes
    if full or now >= deadline or _delays_an_outcome(state, channel, pull):
        close(state, channel, now)
        return
    state.server.waiting_pulls[channel.number] = None
    _watch(state)
    state.draft.ask(SetTimer((BATCH_WAIT, channel.number), Duration(deadline - now)))


def make_way(state: State, channel: ServerChannel, now: Instant) -> None:
    """Close a waiting PULL if a request that came behind it must not wait."""
    if channel.pull is not None and _delays_an_outcome(state, channel, channel.pull):
        close(state, channel, now)


def _delays_an_outcome(state: State, channel: ServerChannel, pull: PullInProgress) -> bool:
    """Return whether a request behind an empty PULL carries the outcome of a batch in doubt."""
    in_doubt = state.channels[channel.number].in_doubt
    if pull.messages or not in_doubt:
        return False
    later = [request.header.completed for request in islice(channel.requests, 1, None)]
    return any(completed is not None and completed >= in_doubt[0] for completed in later)


def close(state: State, channel: ServerChannel, now: Instant) -> None:
    """Answer with the batch as it is; "no messages" is no error (F-10)."""
    pull = channel.pull
    if pull is None:  # the timer fired while the answer was written
        return
    _stop(state, channel)
    responses.respond(
        state,
        channel,
        pull.request,
        now,
        pair=pull.pair,
        transaction_id=pull.batch or None,
        batch=tuple(pull.messages),
    )


def abandon(state: State, channel: ServerChannel) -> None:
    """Return the messages of a batch that is not sent, because its client no longer waits."""
    pull = channel.pull
    if pull is None:
        return
    _stop(state, channel)
    if pull.batch:
        end_batches(state, channel.number, Settlement(returned=(pull.batch,)))


def on_waiting(state: State, signal: MessagesWaiting, now: Instant) -> None:
    """Reserve messages that came for the PULLs that wait for them."""
    for number in list(state.server.waiting_pulls):
        channel = state.server.channels[number]
        pull = channel.pull
        if pull is None or not _concerns(state, channel, pull, signal):
            continue
        if pull.asked_queues:
            pull.ask_again = True
        else:
            _reserve_more(state, channel, pull, now)


def _concerns(state: State, channel: ServerChannel, pull: PullInProgress, signal: MessagesWaiting) -> bool:
    if pull.queue:
        return pull.queue == signal.queue
    requester = state.channels[channel.number].requester
    return not pull.from_own_queue and agent_of(signal.destination) == agent_of(requester)


def _stop(state: State, channel: ServerChannel) -> None:
    channel.pull = None
    if channel.number in state.server.waiting_pulls:
        del state.server.waiting_pulls[channel.number]
        state.draft.ask(CancelTimer((BATCH_WAIT, channel.number)))
        _watch(state)


def _watch(state: State) -> None:
    """Report to the queue manager for which of its queues PULLs wait, if they have changed."""
    server = state.server
    pulls = [server.channels[number].pull for number in server.waiting_pulls]
    wanted = frozenset(
        [each.queue for each in pulls if each is not None and each.from_own_queue and each.queue]
    )
    if wanted != server.watched:
        server.watched = wanted
        state.draft.signal(QueuesWatched(HOLDER, wanted))
