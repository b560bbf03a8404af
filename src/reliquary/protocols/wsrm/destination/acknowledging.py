"""Writes acknowledgements, and decides when and how they are sent.

    AcksTo               a message came              AckRequested
    anonymous            on its response             on its response
    an address           alone, or on any message    alone, at once
                         there, within the interval
    MakeConnection       the client fetches it       the client fetches it

Half a window of messages without an acknowledgement makes it due at once, so that a source never waits
for the interval with nothing to send.  The content of an acknowledgement is read when it is written, so
the ranges and BufferRemaining belong together.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.wsrm.codec.values import Acknowledgement, Envelope, Version
from reliquary.protocols.wsrm.destination.flow_control import (
    forget_additions,
    get_buffer_remaining,
    room_for,
)
from reliquary.protocols.wsrm.destination.lookup import find, move
from reliquary.protocols.wsrm.destination.phases import Move, Phase
from reliquary.protocols.wsrm.destination.state import Sequence, TargetQueue
from reliquary.protocols.wsrm.destination.tables import Ranges
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.state import Count, State
from reliquary.protocols.wsrm.transport import send

_OPEN: Final = Phase.OPEN
_SENT: Final = Count.ACKNOWLEDGEMENTS_SENT
ACKNOWLEDGE: Final = "wsrm-acknowledge"
"""The acknowledgement interval, one timer for each sequence."""


# -- what an acknowledgement says


def acknowledgement(state: State, number: int) -> Acknowledgement:
    """Return the current acknowledgement of a sequence; `sent` follows when it leaves."""
    sequence = state.destination.sequences[number]
    received = sequence.received
    assert covers(received.ranges, sequence.confirmed), (
        f"{received.ranges} withdraws what {sequence.confirmed} of sequence {number} acknowledged"
    )
    sequence.confirmed = received.ranges
    final = received.phase is not _OPEN and sequence.row.dialect.version is Version.RM11
    value = get_buffer_remaining(state, sequence)  # FC-014, FC-016
    return Acknowledgement(sequence.row.identifier, received.ranges, final=final, buffer=value)


def is_wanted(state: State, exchange: Exchange, number: int) -> bool:
    """Return whether the acknowledgement of a sequence may be on a response.

    WS-RM 1.0 can write that nothing was received only as the range 0 to 0.  gSOAP treats that as an
    error, so it is sent only if its source requests it, or sent a message for which there was no room.
    """
    sequence, request = state.destination.sequences[number], exchange.envelope
    if sequence.row.dialect.version is Version.RM11 or sequence.received.ranges:
        return True
    return request.sequence is not None or sequence.row.identifier in request.ack_requests


def covers(ranges: Ranges, earlier: Ranges) -> bool:
    """Return whether every number of the earlier ranges is in the ranges: acknowledgements are cumulative."""
    place = 0
    for low, high in earlier:
        while place < len(ranges) and ranges[place][1] < high:
            place += 1
        if place == len(ranges) or ranges[place][0] > low:
            return False
    return True


# -- when it is due


def owe(
    state: State, exchange: Exchange | None, sequence: Sequence, now: Instant, *, at_once: bool = False
) -> None:
    """Schedule the acknowledgement of a sequence: with the response, soon, or at once."""
    number = sequence.number
    if sequence.acknowledges_on_response and exchange is not None and exchange.to:
        exchange.acknowledged.append(number)
        state.draft.wait()
        return
    state.destination.due.setdefault(sequence.row.acks_to.address, {})[number] = None
    if sequence.acknowledges_on_response or sequence.acknowledges_on_poll:
        return
    if at_once or sequence.unconfirmed * 2 >= sequence.settings.window:
        send_alone(state, sequence, now)
    elif not sequence.waits_for_interval:
        sequence.waits_for_interval = True
        state.draft.ask(SetTimer((ACKNOWLEDGE, number), state.settings.acknowledgement_interval))


def on_ack_requested(state: State, exchange: Exchange, identifier: str, now: Instant) -> None:
    """Answer AckRequested, also if nothing changed (H-10); a fault if the sequence is unknown."""
    sequence = find(state, exchange, identifier, now)
    move(exchange, sequence, Move.ASK)
    if exchange.envelope.sequence is None:
        forget_additions(sequence.target)
    if not _is_answered(state, exchange, sequence):
        owe(state, exchange, sequence, now, at_once=True)


def _is_answered(state: State, exchange: Exchange, sequence: Sequence) -> bool:
    """Return whether the response has the acknowledgement, or left it out because of this turn's message."""
    if sequence.number in exchange.acknowledged:
        return True
    is_due = sequence.number in state.destination.due.get(sequence.row.acks_to.address, ())
    return exchange.envelope.sequence is not None and not is_due and not sequence.unconfirmed


def on_interval(state: State, number: int, now: Instant) -> None:
    """Send an acknowledgement that has not left with another message when its interval is over."""
    sequence = state.destination.sequences.get(number)
    if sequence is None:
        return
    state.destination.now = now
    sequence.waits_for_interval = False
    if number in state.destination.due.get(sequence.row.acks_to.address, ()):
        forget_additions(sequence.target)
        send_alone(state, sequence, now)


# -- how it leaves


def due_to(state: State, address: str) -> list[int]:
    """Return the sequences with an acknowledgement that is due to an address."""
    return list(state.destination.due.get(address, ()))


def take_due(state: State, address: str) -> tuple[Acknowledgement, ...]:
    """Return the acknowledgements that are due to an address, for an envelope that leaves for it now."""
    numbers = due_to(state, address)
    taken = tuple([acknowledgement(state, number) for number in numbers])
    for number in numbers:
        sent(state, number)
    if taken:
        state.draft.wait()
    return taken


def sent(state: State, number: int) -> None:
    """Record that an acknowledgement leaves in this turn."""
    sequence = state.destination.sequences[number]
    sequence.unconfirmed = 0
    state.counts[_SENT] += 1
    no_longer_due(state, sequence)


def no_longer_due(state: State, sequence: Sequence) -> None:
    """Remove a sequence from those with an acknowledgement that is due."""
    address = sequence.row.acks_to.address
    due = state.destination.due.get(address)
    if due is not None and due.pop(sequence.number, 0) is None and not due:
        del state.destination.due[address]


def send_alone(state: State, sequence: Sequence, now: Instant) -> None:
    """Send an acknowledgement in a message of its own; one to a client that polls waits for it."""
    number, row = sequence.number, sequence.row
    if sequence.acknowledges_on_poll:
        state.destination.due.setdefault(row.acks_to.address, {})[number] = None
        return
    written = acknowledgement(state, number)
    sent(state, number)
    state.draft.wait()
    send(state, row.acks_to, Envelope(dialect=row.dialect, to=row.acks_to, acknowledgements=(written,)), now)


def notify_starved(state: State, target: TargetQueue) -> None:
    """Notify sources of free room if their last acknowledgement reported none (T33)."""
    for number in list(target.starved):
        sequence = state.destination.sequences[number]
        if room_for(state, sequence):  # the acknowledgement takes the sequence out of those that wait
            send_alone(state, sequence, state.destination.now)
