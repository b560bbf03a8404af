"""Accepts or refuses each received message in the turn in which it arrived, [MC-MQSRM] 3.1.5.1.6.

    receipts can be sent? --> signature --> stream --> duplicate --> MessageArrived
            |                    |            |            |               |
           400                  400          200          200        ArrivalJudged: 200, 400 or 500

Nothing is changed before the manager's verdict.  The stream's number and the identifier of a message
are stored as facts of the turn that stores the message; for a refused message they are not stored.  So
a refused message that arrives again is judged as if it arrived for the first time.
"""

# DEPARTS from 3.1.5.1.6 (SR-163): the stream advances, and receipts are written, only once the message
# is in its queue, because a message that is refused after that would be acknowledged and lost.

from __future__ import annotations

from typing import Final
from uuid import UUID

from msgspec.structs import replace

from reliquary.base.time import Instant, in_whole_seconds
from reliquary.base.turn import Reply
from reliquary.protocols.srmp.carrier import MULTICAST
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.messages import format_name, message_of
from reliquary.protocols.srmp.codec.values import Arrived, Envelope
from reliquary.protocols.srmp.events import PostAnswer
from reliquary.protocols.srmp.receiver import receipts, resuming
from reliquary.protocols.srmp.receiver.routing import MessageTarget, check_url
from reliquary.protocols.srmp.signing import verify
from reliquary.protocols.srmp.state import Arriving, Count, State
from reliquary.protocols.srmp.tables import NAME
from reliquary.queueing.model.message import NO_GUID, USUAL, Delivery, Message, MessageClass, ObjectId
from reliquary.queueing.model.travel.transfer import ArrivalJudged, DuplicatesDropped, MessageArrived, Outcome
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.queueing.travel.crossing import as_sent_onward
from reliquary.streams.acceptance import TAKEN, Verdict, advanced, judge, without_skipped
from reliquary.streams.apply import apply
from reliquary.streams.facts import IdentifierRemembered, StreamAdvanced
from reliquary.streams.tables import Remembered

_DELIVERED: Final = Outcome.DELIVERED
_EXPRESS: Final = Delivery.EXPRESS
_LATE: Final = Verdict.LATE
ANONYMOUS_ID: Final = ObjectId(NO_GUID, 1)
"""The identifier of a message without `Msmq`; many messages have it."""
ANONYMOUS: Final = f"uuid:1@{NO_GUID}"
"""An `id` that many messages share, whatever `SourceQmGuid` is: the published stream has no other."""


def take_message(state: State, to: int, arrived: Arrived, way: MessageTarget, now: Instant) -> None:
    """Check a user message; hand it to the manager unless its stream or identifier shows a duplicate."""
    envelope, place = arrived.envelope, arrived.envelope.stream
    _check_receipts(envelope)
    message = message_of(arrived, now=in_whole_seconds(now))
    if envelope.signature:
        # DEPARTS from 3.1.5.1.6.1 (SR-201): every signature is verified, because nothing else in a
        # message shows that it is signed; if one is required, the manager checks that.
        message = verify(arrived, message, state.settings.trust, now)
    if place is not None:
        if way.multicast:
            raise SrmpFault("stream", "a stream does not go by multicast", spec="2.2.5.3")
        key = (place.sender, way.name)
        incoming = state.incoming.get(key)
        kept = None if incoming is None else incoming.stream
        verdict = judge(kept, place.number, place.current, place.previous)
        if state.ordinals.restored or (verdict not in TAKEN and kept is not None):
            verdict = resuming.reconsidered(state, key, place, verdict, now)
        if verdict is _LATE:
            late = Arriving(to, envelope, way.name, way.known_as, ours=True, late=True)
            hand_over(state, late, way, message, doubtful=True)
            return
        if verdict not in TAKEN:
            _reject(state, key, verdict, now)
            if verdict is Verdict.REPEATED:
                _tell_duplicate(state, envelope, way)
            answer(state, to, 200)  # SR-211
            return
        if not place.receipts_to:  # only the first message has it
            goes_on = kept is not None and kept.number == place.number
            known = kept.receipts_to if kept and goes_on else resuming.receipts_to(state, key, place)
            message = replace(message, more=replace(message.more or USUAL, transaction_status_queue=known))
    if _is_duplicate(state, envelope, way, now):
        if (
            way.crosses and arrived.hops
        ):  # to report it as delivered could lose it, because it may be the only copy
            why = "it was passed on before, and comes again: check whether redirections lead in a circle"
            raise SrmpFault("to", why, spec="3.1.5.1.3")
        _advance(state, envelope, way.name, now)
        answer(state, to, 200)  # SR-234
        return
    if way.crosses:
        message = _passed_on(message)
    ours = not way.multicast
    express = message.delivery is _EXPRESS
    arriving = Arriving(to, envelope, way.name, way.known_as, express, ours=ours, crosses=way.crosses)
    hand_over(state, arriving, way, message)


def take_receipt(state: State, to: int, arrived: Arrived, way: MessageTarget, now: Instant) -> None:
    """Hand a delivery or commitment receipt to the manager, for the queue of an application."""
    if way.crosses:
        raise SrmpFault("to", "a receipt goes to no other protocol", spec="3.1.5.1.3")
    if _is_duplicate(state, arrived.envelope, way, now):
        answer(state, to, 200)
        return
    message = message_of(arrived, now=in_whole_seconds(now))
    arriving = Arriving(to, arrived.envelope, way.name, way.known_as, message.is_express)
    hand_over(state, arriving, way, message)


# -- checks before the manager sees the message


def _check_receipts(envelope: Envelope) -> None:
    """Refuse a message that asks for receipts to a URL to which they cannot be sent."""
    if envelope.delivery_to:
        check_url("sendTo", envelope.delivery_to)
    if envelope.commitment is not None:
        check_url("sendTo", envelope.commitment.send_to)
    if envelope.stream is not None and envelope.stream.receipts_to:
        check_url("sendReceiptsTo", envelope.stream.receipts_to)
    if envelope.stream is not None and envelope.stream.unconfirmed_to:
        check_url("sendReceiptsTo", envelope.stream.unconfirmed_to)


def _reject(state: State, key: tuple[UUID, str], verdict: Verdict, now: Instant) -> None:
    state.counts[Count.DUPLICATES if verdict is Verdict.REPEATED else Count.OUT_OF_TURN] += 1
    incoming = state.incoming.get(key)
    if incoming is None:
        return
    incoming.rejected += 1  # SR-217
    if verdict is Verdict.REPEATED:
        receipts.repeat(state, incoming, now)


def _is_duplicate(state: State, envelope: Envelope, way: MessageTarget, now: Instant) -> bool:
    """Return whether a message with this identifier was accepted within `history_age` (SR-124)."""
    if envelope.id.strip() == ANONYMOUS:  # SR-233
        return False
    arrived = state.history.arrival(envelope.identifier, way.known_as)
    found = arrived is not None and now - arrived <= state.settings.history_age
    if found:
        state.counts[Count.DUPLICATES] += 1
        _tell_duplicate(state, envelope, way)
    return found


def _tell_duplicate(state: State, envelope: Envelope, way: MessageTarget) -> None:
    by = MULTICAST if way.multicast else NAME
    state.draft.signal(
        DuplicatesDropped(by, way.destination, (envelope.identifier,), peer=state.receiver.peer)
    )


def _passed_on(message: Message) -> Message:
    """Return a message in the form in which another protocol forwards it; its receipts are sent from here.

    The messages of one stream stay in their order: they share a transaction.
    """
    place = message.sequence
    transaction = None if place is None else UUID(int=place.ordinal << 64 | place.timestamp or 1)
    message = as_sent_onward(message, transaction)
    return message.changed(acknowledgements=(), administration_queue="", administration_queues=())


# -- the verdict of the manager


def hand_over(
    state: State, arriving: Arriving, way: MessageTarget, message: Message, *, doubtful: bool = False
) -> None:
    """Offer the message to the manager, whose verdict reaches `on_judged` in this turn."""
    receiver = state.receiver
    receiver.last_ticket += 1
    receiver.arriving[receiver.last_ticket] = arriving
    ticket = (receiver.last_ticket, 0)
    # DEPARTS from 2.2.5.1.1 (SR-046): a message is not refused for its age, as 3.1.5.1.4 says, unless
    # the administrator wants that, because clocks differ and its sender has checked.
    expires = state.settings.check_expiry_on_receive
    arrived = MessageArrived(
        NAME,
        ticket,
        way.destination,
        message,
        expires=expires,
        peer=receiver.peer,
        by_multicast=way.multicast,
        doubtful=doubtful,
    )
    state.draft.signal(arrived)


def on_judged(state: State, signal: ArrivalJudged, now: Instant) -> None:
    """Answer the POST of a message that the manager accepted or refused; remember an accepted one."""
    arriving = state.receiver.arriving.pop(signal.ticket[0], None)
    if arriving is None:
        receipts.on_judged(state, signal)
        return
    if signal.outcome is not _DELIVERED:
        status = _STATUSES.get(signal.reason, 400) if signal.outcome is Outcome.REFUSED else 500
        why = _WHY.get(signal.reason, f"to: refused, {signal.reason.name}")
        answer(state, arriving.to, status, why, signal.reason)
        return
    if arriving.known_as:
        _remember(state, arriving, now)
    if arriving.late:
        _make_up(state, arriving, now)
    elif arriving.ours:
        _advance(state, arriving.envelope, arriving.destination, now)
        if signal.reason is not NOT_KNOWN:  # otherwise it was put aside, and is not in its queue
            receipts.deliver(state, arriving.envelope, now)
    if arriving.crosses:
        _conclude(state, arriving, now)
    answer(state, arriving.to, 200)


# DEPARTS from 3.1.5.1.12 (SR-238): a queue that is full answers 500, not 200, because its sender would
# take the message for stored; with 500 it comes again.
_STATUSES: Final = {MessageClass.NACK_QUEUE_EXCEED_QUOTA: 500}
"""HTTP statuses of refusals; all others are 400 (SR-192)."""

_WHY: Final = {
    MessageClass.NORMAL: "this manager takes no messages at present",
    MessageClass.NACK_BAD_DEST_QUEUE: "to: the queue does not exist, or does not take this kind of message",
    MessageClass.NACK_ACCESS_DENIED: "to: this queue takes nothing from everyone",
    MessageClass.NACK_QUEUE_EXCEED_QUOTA: "to: the queue is full",
    MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE: "stream: the queue is not transactional",
    MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE: "stream: missing, and the queue is transactional",
    MessageClass.NACK_BAD_SIGNATURE: "Signature: the queue takes only messages that are signed",
    MessageClass.NACK_BAD_ENCRYPTION: "to: the queue takes only messages that are encrypted",
    MessageClass.NACK_REACH_QUEUE_TIMEOUT: "TTrq: the message came too late",
    MessageClass.NACK_HOP_COUNT_EXCEEDED: "to: too many managers passed the message on, perhaps in a circle",
}


def _remember(state: State, arriving: Arriving, now: Instant) -> None:
    identifier = arriving.envelope.identifier
    if (
        identifier.uniquifier != ANONYMOUS_ID.uniquifier or identifier != ANONYMOUS_ID
    ) and arriving.envelope.id.strip() != ANONYMOUS:  # SR-233
        place = 0 if arriving.express else state.history.next
        entry = Remembered(identifier.lineage, identifier.uniquifier, now, place, arriving.known_as)
        apply(state, IdentifierRemembered(entry, arriving.express))


def _advance(state: State, envelope: Envelope, destination: str, now: Instant) -> None:
    """Advance the stream of a message that was stored in its queue (SR-209, SR-213, SR-217)."""
    place = envelope.stream
    if place is None:
        return
    key = (place.sender, destination)
    incoming = state.incoming.get(key)
    kept = None if incoming is None else incoming.stream
    last = kept.last if kept is not None and kept.number == place.number else 0
    resumed = place.previous > last
    kept_address = bool(place.receipts_to or (last and kept is not None and kept.receipts_to))
    stream = advanced(
        kept,
        place.number,
        place.current,
        place.previous,
        now,
        receipts_to=place.receipts_to if kept_address else resuming.receipts_to(state, key, place),
        identifier=place.identifier,
        format_name=format_name(envelope.to),
    )
    apply(state, StreamAdvanced(place.sender, destination, stream))
    incoming = incoming or state.incoming[key]
    incoming.rejected = 0
    if state.gaps:
        state.gaps.pop(key, None)
    if resumed:
        resuming.tell_resumed(state, key, envelope, stream)
    receipts.expect(state, incoming, now)


def _make_up(state: State, arriving: Arriving, now: Instant) -> None:
    """Record that a skipped number arrived late, and send the receipt of its stream again."""
    place = arriving.envelope.stream
    assert place is not None, "what is late has a place in a stream"
    incoming = state.incoming[place.sender, arriving.destination]
    stream = without_skipped(incoming.stream, place.current)
    apply(state, StreamAdvanced(place.sender, arriving.destination, stream))
    receipts.repeat(state, incoming, now)


def _conclude(state: State, arriving: Arriving, now: Instant) -> None:
    """Send the final receipts of a message that this manager forwards by another protocol."""
    # DEPARTS from 3.1.7.3 (SR-297): a message that another protocol forwards counts as received,
    # because no receipt comes back over that protocol, and its sender would wait for one without end.
    place = arriving.envelope.stream
    kept = None if place is None else state.incoming[place.sender, arriving.destination].stream
    receipts_to = "" if kept is None else kept.receipts_to
    receipts.conclude(state, arriving.envelope, MessageClass.ACK_RECEIVE, receipts_to, now)


def answer(
    state: State, to: int, status: int, why: str = "", reason: MessageClass = MessageClass.NORMAL
) -> None:
    """Answer a POST; 0 stands for a message that came by multicast, which has no answer."""
    if to:
        state.draft.ask(Reply(to, PostAnswer(status, why, reason)))
