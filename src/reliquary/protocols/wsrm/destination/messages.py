"""Accepts, buffers, drops or refuses a message of a sequence in the turn in which it came.

    known sequence? --> number --> duplicate? --> closed? --> room? --> BatchArrived --> BatchJudged
         |                |            |            |           |                           |
    UnknownSequence   Sender,     acknowledged  SequenceClosed dropped      taken: MessageReceived
    SequenceTerminated Rollover   once more                                 no room: dropped
                      LastMessageNumberExceeded                             refused: a fault

Nothing is stored and nothing is acknowledged before the queue manager has taken the message.  A dropped
message is not acknowledged, so its source sends it again.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.wsrm.carrier import NAME
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import LAST_NUMBER, Envelope, Fault, Payload, SequenceHeader
from reliquary.protocols.wsrm.destination import acknowledging, delivery
from reliquary.protocols.wsrm.destination.apply import apply
from reliquary.protocols.wsrm.destination.facts import MessageBuffered, MessageReceived, RequestNoted
from reliquary.protocols.wsrm.destination.flow_control import (
    add_messages,
    forget_additions,
    message_received,
    queue_room,
    takes,
)
from reliquary.protocols.wsrm.destination.lookup import fault, find, move
from reliquary.protocols.wsrm.destination.phases import Move
from reliquary.protocols.wsrm.destination.requests import reply_name, waits_for_reply
from reliquary.protocols.wsrm.destination.state import Arriving, Sequence
from reliquary.protocols.wsrm.destination.tables import Request
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.mapping import identifier_of, is_reversible, message_of
from reliquary.protocols.wsrm.state import Count, State
from reliquary.queueing.model.message import MessageClass, ObjectId, size_of
from reliquary.queueing.model.travel.transfer import BatchJudged, DuplicatesDropped, Outcome

LAST_MESSAGE: Final = "/LastMessage"
"""The suffix of the action of an empty last message, WS-RM 1.0."""
_DELIVERED: Final = Outcome.DELIVERED
_MESSAGE: Final = Move.MESSAGE
_UNIQUIFIERS: Final = (1 << 32) - 1


def on_message(state: State, exchange: Exchange, now: Instant) -> None:
    """Process a message with a number in a sequence; WsrmFault if it is refused."""
    envelope = exchange.envelope
    header = envelope.sequence
    assert header is not None, "a message outside any sequence is not for the destination"
    sequence = find(state, exchange, header.identifier, now)
    forget_additions(sequence.target)
    number = header.number
    if not 1 <= number <= LAST_NUMBER:
        raise _out_of_range(exchange, sequence, number)
    if number in sequence.ranges:
        move(exchange, sequence, Move.DUPLICATE)
        _drop_duplicate(state, exchange, sequence, number, now)
        return
    move(exchange, sequence, _MESSAGE)
    _check_last(exchange, sequence, header)
    if not takes(state, sequence, number):
        _drop(state, exchange, sequence, now)  # T26
    elif header.last and _is_empty(envelope):
        _take_empty(state, exchange, sequence, number, now)
    else:
        _take(state, exchange, sequence, header, now)


# -- what is wrong with it


def _out_of_range(exchange: Exchange, sequence: Sequence, number: int) -> WsrmFault:
    if number > LAST_NUMBER:
        return fault(exchange, FaultCode.MESSAGE_NUMBER_ROLLOVER, sequence)
    return fault(exchange, FaultCode.SENDER, sequence, f"MessageNumber is at least 1, not {number}")


def _check_last(exchange: Exchange, sequence: Sequence, header: SequenceHeader) -> None:
    """Refuse a number above the last one, and a last number that is not the highest."""
    last = sequence.received.last
    if (last and header.number > last) or (header.last and (last or header.number < sequence.highest)):
        raise fault(exchange, FaultCode.LAST_NUMBER_EXCEEDED, sequence)


def _drop_duplicate(state: State, exchange: Exchange, sequence: Sequence, number: int, now: Instant) -> None:
    """Acknowledge a message once more (T19); a fault would make its source give the sequence up."""
    envelope = exchange.envelope
    state.counts[Count.DUPLICATES] += 1
    sequence.duplicates += 1
    identifier = identifier_of(envelope.message_id) if envelope.message_id else _fallback(sequence, number)
    batch = f"{sequence.number}:{number}"
    state.draft.signal(DuplicatesDropped(NAME, sequence.row.queue, (identifier,), exchange.peer, batch))
    exchange.reply_to = waits_for_reply(sequence.row, envelope)  # a lost reply is sent again
    acknowledging.owe(state, exchange, sequence, now)


def _drop(state: State, exchange: Exchange, sequence: Sequence, now: Instant) -> None:
    """Drop a message without room for it; the acknowledgement reports the free room."""
    state.counts[Count.NO_ROOM] += 1
    sequence.dropped += 1
    acknowledging.owe(state, exchange, sequence, now)
    if sequence.waits_for_earlier:
        delivery.resume_blocked(state, sequence.target)  # the queue manager may be ready by now


# -- it is taken


def _is_empty(envelope: Envelope) -> bool:
    """Return whether a last message has no content for an application, as in WCF (3.3, 4)."""
    body = envelope.body
    has_content = isinstance(body, Payload) and (body.content or body.attachments)
    return envelope.action.endswith(LAST_MESSAGE) and not has_content


def _take_empty(state: State, exchange: Exchange, sequence: Sequence, number: int, now: Instant) -> None:
    apply(state, MessageReceived(sequence.number, number, last=True))
    acknowledging.owe(state, exchange, sequence, now)
    if sequence.buffered:
        delivery.resume(state, sequence)


def _take(state: State, exchange: Exchange, sequence: Sequence, header: SequenceHeader, now: Instant) -> None:
    """Buffer a message, or deliver it with all buffered messages behind it."""
    envelope, number, row = exchange.envelope, header.number, sequence.row
    if not isinstance(envelope.body, Payload):
        why = "a message of WS-RM itself must not be in a sequence"
        raise fault(exchange, FaultCode.SENDER, sequence, why)
    response_queue = reply_name(row, envelope)
    fallback = _NO_FALLBACK if envelope.message_id else _fallback(sequence, number)
    message = message_of(envelope, fallback=fallback, response_queue=response_queue, now=now)
    message_id = envelope.message_id if response_queue and not is_reversible(envelope.message_id) else ""
    arriving = Arriving(
        sequence,
        (number,),
        (message,),
        (size_of(message),),
        sequence.target.reports,
        number,
        header.last,
        message_id,
    )
    if sequence.keeps_order and (sequence.buffered or sequence.is_whole or number != sequence.next):
        if not _is_released(sequence, arriving):
            _buffer(state, exchange, arriving, now)
            return
        _join_buffered(state, arriving)
        if len(arriving.numbers) > queue_room(sequence):
            _buffer(state, exchange, arriving, now)
            delivery.resume(state, sequence)
            return
    delivery.hand_over(state, exchange, arriving)


def _is_released(sequence: Sequence, arriving: Arriving) -> bool:
    """Return whether a message is delivered now.

    No earlier one is missing, or the sequence needs no order.
    """
    return arriving.number == sequence.next and (not sequence.is_whole or _completes(sequence, arriving))


def _completes(sequence: Sequence, arriving: Arriving) -> bool:
    """Return whether the sequence is complete with this message."""
    last = arriving.number if arriving.last else sequence.received.last
    return last > 0 and list(sequence.ranges.gaps(1, last)) == [(arriving.number, arriving.number)]


def _join_buffered(state: State, arriving: Arriving) -> None:
    """Add the buffered messages that follow a message without a gap, in their order."""
    sequence, number = arriving.sequence, arriving.number
    gap = next(sequence.ranges.gaps(number + 1, sequence.highest + 1), (number + 1, 0))[0]
    numbers = sorted([each for each in sequence.buffered if each < gap])
    if not numbers:
        return
    messages = dict(zip(numbers, delivery.buffered_messages(state, sequence, numbers), strict=True))
    sizes = {each: sequence.buffered[each] for each in numbers}
    messages[number], sizes[number] = arriving.messages[0], arriving.sizes[0]
    arriving.numbers = tuple(sorted(messages))
    arriving.messages = tuple([messages[each] for each in arriving.numbers])
    arriving.sizes = tuple([sizes[each] for each in arriving.numbers])


def _buffer(state: State, exchange: Exchange, arriving: Arriving, now: Instant) -> None:
    message = arriving.messages[arriving.numbers.index(arriving.number)]
    apply(state, MessageBuffered(arriving.sequence.number, arriving.number, message, arriving.last))
    _taken(state, exchange, arriving, now)


def _taken(state: State, exchange: Exchange, arriving: Arriving, now: Instant) -> None:
    """Acknowledge a message that is stored, keep its MessageID and let its response wait for the reply."""
    sequence, envelope = arriving.sequence, exchange.envelope
    message_received(sequence)
    if arriving.message_id:
        request = Request(identifier_of(arriving.message_id), arriving.message_id)
        apply(state, RequestNoted(sequence.number, arriving.number, request))
    exchange.reply_to = waits_for_reply(sequence.row, envelope)
    acknowledging.owe(state, exchange, sequence, now)


def _fallback(sequence: Sequence, number: int) -> ObjectId:
    return ObjectId(sequence.lineage, number & _UNIQUIFIERS)


_NO_FALLBACK: Final = ObjectId()


# -- what the queue manager says


def on_judged(state: State, exchange: Exchange, signal: BatchJudged, now: Instant) -> None:
    """Acknowledge a message that the queue manager has accepted; WsrmFault for a permanent refusal."""
    arriving = state.destination.arriving.pop(signal.ticket)
    sequence = arriving.sequence
    sequence.is_judged = False
    sequence.target.arriving -= len(arriving.numbers)
    if not arriving.number:
        delivery.on_buffered_judged(state, arriving, signal)
    elif signal.outcome is _DELIVERED:
        _on_delivered(state, exchange, arriving, now)
    elif not delivery.is_delayed(signal):
        raise _refusal(exchange, sequence, signal)
    elif delivery.fits_in_part(signal, sequence):
        _buffer(state, exchange, arriving, now)
        delivery.resume(state, sequence, signal.place)
    elif sequence.is_whole:
        _buffer(state, exchange, arriving, now)
        delivery.block(sequence)
    else:
        _drop(state, exchange, sequence, now)


def _on_delivered(state: State, exchange: Exchange, arriving: Arriving, now: Instant) -> None:
    sequence, number, numbers = arriving.sequence, arriving.number, arriving.numbers
    add_messages(sequence.target, arriving.reports, arriving.sizes)
    released = () if len(numbers) == 1 else tuple([each for each in numbers if each != number])
    apply(state, MessageReceived(sequence.number, number, arriving.last, released))
    _taken(state, exchange, arriving, now)


def _refusal(exchange: Exchange, sequence: Sequence, signal: BatchJudged) -> WsrmFault:
    """Return the fault for a message that the queue manager will not take as it is.

    The sequence continues: an administrator may create the queue or grant the right, and then the
    repeated message is accepted.  SequenceTerminated would end a sequence whose error can be corrected.
    """
    denied = signal.reason is MessageClass.NACK_ACCESS_DENIED
    code = FaultCode.SENDER if denied else FaultCode.UNREACHABLE
    reason = "access to the queue is denied" if denied else signal.why or signal.reason.name
    return WsrmFault(Fault(code, reason, sequence.row.identifier), exchange.envelope.dialect)
