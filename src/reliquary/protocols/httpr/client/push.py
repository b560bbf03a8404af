"""Sends messages with PUSH and with the first half of EXCHANGE, 5.2 and 5.4.

    ReservationWanted --> MessagesReserved --> BatchPrepared, SendRequest
              '--> too large for the peer: reserved alone, and moved to the dead letters

The reservation and `BatchPrepared` are one write, and the request leaves after its sync: the batch is
in doubt before the peer can have seen its end (P1, HR-051).
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.phases import Move, Phase
from reliquary.protocols.httpr.client.requests import send_request
from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.facts import BatchPrepared
from reliquary.protocols.httpr.memory import may_be_there, put_aside
from reliquary.protocols.httpr.outgoing import is_fetcher
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel.transfer import (
    MessagesReserved,
    Outcome,
    ReservationRefusal,
    ReservationsEnded,
    ReservationWanted,
)

TOO_LARGE: Final = MessageClass.NACK_QUEUE_EXCEED_QUOTA
"""No class says that a message is larger than its receiver takes; this class is the nearest one."""
_SENDING_PHASES: Final = frozenset({Phase.READY, Phase.WAITING})


def sending_command(channel: ClientChannel) -> Command | None:
    """Return the command that carries messages to this peer; None if the peer takes no messages."""
    flows = channel.session.agreed.flows
    if channel.peer.exchange and Command.EXCHANGE in flows:
        return Command.EXCHANGE
    return Command.PUSH if Command.PUSH in flows else None


def may_send(state: State, channel: ClientChannel) -> bool:
    """Return whether messages wait that the client agent sends.

    A peer that fetches its messages gets none.
    """
    row = state.channels[channel.number]
    return bool(channel.outgoing.ready) and state.client.online and not is_fetcher(state, row.responder)


def prepare(state: State, channel: ClientChannel) -> bool:
    """Request the messages of the next batch from the queue manager; return False if no batch may be sent."""
    if not may_send(state, channel) or sending_command(channel) is None:
        return False
    if len(state.channels[channel.number].in_doubt) >= channel.depth:  # HR-044
        return False
    refusals, agreed = channel.refusals, channel.session.agreed
    search = refusals.search
    queue = search.queue if search is not None else next(iter(channel.outgoing.ready))
    most = search.batch_limit if search is not None else refusals.batch_limit or agreed.maximum_batch_size
    channel.outgoing.preparing = queue
    _reserve(state, channel, min(most, agreed.maximum_batch_size), agreed.maximum_message_size)
    return True


def _reserve(state: State, channel: ClientChannel, most: int, largest: int) -> None:
    key = channel.number, state.channels[channel.number].next_id
    most_bytes = state.settings.batch_bytes
    wanted = ReservationWanted(
        HOLDER, key, (channel.outgoing.preparing,), max(most, 1), most_bytes, largest=largest
    )
    state.draft.signal(wanted)


def on_reserved(state: State, channel: ClientChannel, signal: MessagesReserved, now: Instant) -> None:
    """Send the messages that the queue manager reserved for the batch, if there are any."""
    queue, limit = channel.outgoing.preparing, channel.session.agreed.maximum_message_size
    if signal.refusal is ReservationRefusal.TOO_LARGE:
        _reserve(state, channel, 1, 0)
        return
    channel.outgoing.preparing = 0
    if not signal.messages:
        _note_empty_queue(state, channel, queue, signal.refusal)
    elif channel.phase not in _SENDING_PHASES:  # the session ended in this turn
        state.draft.signal(ReservationsEnded(HOLDER, (signal.key,), Outcome.TRY_LATER))
    elif signal.of_older_era and may_be_there(state, signal):
        put_aside(state, signal)
    elif signal.messages[0].body_size > limit:  # HR-098: the peer never takes it, and it blocks the queue
        why = f"{channel.url} takes messages of at most {limit} bytes"
        state.draft.signal(ReservationsEnded(HOLDER, (signal.key,), Outcome.REFUSED, TOO_LARGE, why))
    else:
        _send_batch(state, channel, queue, signal, now)


def _note_empty_queue(
    state: State, channel: ClientChannel, queue: int, refusal: ReservationRefusal | None
) -> None:
    channel.refusals.search = None
    channel.outgoing.ready.pop(queue, None)  # the manager signals when there are messages again
    if refusal is ReservationRefusal.NO_QUEUE:
        channel.outgoing.queues.pop(queue, None)
        state.waiting.pop(queue, None)
        state.client.by_queue.pop(queue, None)


def _send_batch(
    state: State, channel: ClientChannel, queue: int, signal: MessagesReserved, now: Instant
) -> None:  # fmt: skip
    """Send a batch, which is in doubt from this write on (P1)."""
    command, batch = sending_command(channel), signal.key[1]
    assert command is not None, "no message was to be reserved for a peer that takes nothing"
    channel.outgoing.ready.pop(queue, None)
    channel.outgoing.ready[queue] = None  # the other queues come first now
    apply(state, BatchPrepared(channel.number, batch))
    state.begun[signal.key] = now
    channel.move(Move.FLOW)
    send_request(state, channel, command, now, batch=batch, messages=signal.messages, queue=queue)
