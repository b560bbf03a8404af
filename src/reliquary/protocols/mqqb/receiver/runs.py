"""Hands messages that arrive together for one queue to the manager as a run.

    inbox: a a a a b ... --> run of a a a a --> RunArrived --> RunJudged
                                                   |              |-- taken: counted and remembered as one
                                                   |              '-- not taken: each by itself, `messages`
                                                   '-- at most until a SessionAck is due

A run has only messages without SessionHeader, in order, not duplicated, unsigned and unencrypted.  The
first other packet ends the run.  The SID that Windows adds to each message is an attribute of it and
decides nothing (G-64), so it is in a run as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.protocols.mqqb.codec.acks import is_for_order_queue
from reliquary.protocols.mqqb.codec.packets import Packet, decode_packet
from reliquary.protocols.mqqb.receiver import messages, ordering
from reliquary.protocols.mqqb.receiver.admission import why_not_new
from reliquary.protocols.mqqb.sessions.acknowledging import MOST_BITS
from reliquary.protocols.mqqb.state import Arriving, ReadBefore, Run, Session, State
from reliquary.protocols.mqqb.tables import MQQB_ACCEPTANCE, NAME
from reliquary.queueing.model.message import Attributes, Message, ObjectId
from reliquary.queueing.model.travel.transfer import RunArrived
from reliquary.queueing.packets.messages import read
from reliquary.streams.acceptance import TAKEN, judge
from reliquary.streams.incoming import StreamKey
from reliquary.wire.packet.addresses import AddressKind
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.patterns import pattern_of
from reliquary.wire.packet.transaction import TransactionHeader
from reliquary.wire.packet.user_message import UserMessage

LEAST: Final = 2
"""The least number of messages in a run."""


@dataclass(slots=True)
class _Collected:
    """The messages of a run so far."""

    arriving: list[Arriving] = field(default_factory=list)
    identifiers: set[ObjectId] = field(default_factory=set)
    last: int = 0
    """The number of the last message in its stream."""
    read_before: ReadBefore | None = None
    """A packet with the header layout of the first one of the run."""


def begin_run(state: State, session: Session, now: Instant) -> bool:
    """Hand a run at the head of the inbox to the manager; return False if there is none."""
    most = _room(session)
    if session.singly or len(session.inbox) < LEAST or most < LEAST:
        return False
    found = _Collected()
    while session.inbox and len(found.arriving) < most:
        arriving = _by_pattern(session, found) or _in_full(session, found)
        if arriving is None or not _is_in_turn(state, session, found, arriving, now):
            break
        found.arriving.append(arriving)
        session.inbox.popleft()
    if len(found.arriving) < LEAST:
        session.inbox.extendleft(each.unread for each in reversed(found.arriving))
        session.singly = len(found.arriving)
        return False
    messages.check_clock(state, session, found.arriving[0].message, now)
    _hand_over(state, session, found.arriving)
    return True


def _room(session: Session) -> int:
    """Return how many messages may come before a SessionAck is due, so that it leaves in time."""
    half = max(session.room // 2, 1)
    new = session.recoverable_received - session.last_acked
    return min(half - session.unacked, MOST_BITS - new)


def _by_pattern(session: Session, found: _Collected) -> Arriving | None:
    """Return the message at the head of the inbox if an earlier packet of the session has its pattern."""
    before, data = session.read_before, session.inbox[0]
    if before is None or not isinstance(data, bytes):
        return None
    is_known = found.read_before is before or not found.arriving
    if not is_known and not _is_alike(found.arriving[0].packet, before.packet):
        return None
    varying = before.pattern.read(data)
    if varying is None:
        return None
    header, first = varying.transaction, before.message
    more = first.more if header is None else _placed(before, header)
    if header is not None and more is None:
        return None
    found.read_before = before  # not before this point: the run may begin with a packet of another pattern
    message = Message(
        ObjectId(before.key[0], varying.message_id),
        varying.body,
        first.label,
        first.priority,
        first.delivery,
        varying.sent_time,
        first.time_to_be_received,
        first.body_type,
        more,
    )
    return Arriving(session.number, before.packet, message, before.key, header, data)


def _placed(before: ReadBefore, header: TransactionHeader) -> Attributes | None:
    """Return the rare attributes of a message in this position of the stream; None for another stream."""
    known, more = before.packet.transaction, before.message.more
    assert known is not None, "packets of one pattern are all in streams, or none is"
    assert more is not None, "a message of a stream has rare attributes"
    if header.ordinal != known.ordinal or header.timestamp != known.timestamp:
        return None
    if (
        header.identifier == known.identifier
        and header.first is known.first
        and header.last is known.last
        and header.final_ack is known.final_ack
    ):
        return replace(more, sequence_number=header.number, previous_sequence_number=header.previous)
    return replace(
        more,
        sequence_number=header.number,
        previous_sequence_number=header.previous,
        transaction=UUID(int=header.identifier),
        first_in_transaction=header.first,
        last_in_transaction=header.last,
        final_ack_required=header.final_ack,
    )


def _in_full(session: Session, found: _Collected) -> Arriving | None:
    """Decode the packet at the head of the inbox; return its message if that may belong to the run."""
    data = session.inbox[0]
    packet = _decoded(data)
    if packet is None:
        return None
    session.inbox[0] = packet  # it is decoded once, whether the run takes it or not
    if (
        not isinstance(packet, UserMessage)
        or packet.session is not None
        or (packet.security is not None and not packet.security.is_sid_only)
        or is_for_order_queue(packet)
        or packet.user.destination.kind is AddressKind.PUBLIC  # it may be a queue of another manager
    ):
        return None
    first = found.arriving[0] if found.arriving else None
    if first is not None and not _is_alike(first.packet, packet):
        return None
    message = read(packet)
    if messages.needs_verification(message):
        return None
    if packet.transaction is not None:
        message = message.changed(transaction_status_queue=ordering.mark_of(session.address))
    key = (packet.user.source, message.destination_queue.casefold()) if first is None else first.key
    if first is not None and isinstance(data, bytes):
        _keep_pattern(session, packet, data, message, key)
    return Arriving(session.number, packet, message, key, packet.transaction, packet)


def _keep_pattern(
    session: Session, packet: UserMessage, data: bytes, message: Message, key: StreamKey
) -> None:
    """Keep the pattern of a packet without its body, because a body may have megabytes."""
    pattern = pattern_of(packet, data)
    if pattern is not None:
        head = replace(packet, properties=replace(packet.properties, body=b""))
        session.read_before = ReadBefore(pattern, head, replace(message, body=b""), key)


def _decoded(data: bytes | Packet) -> Packet | None:
    """Return the decoded packet; None for a malformed one, which `arrivals` reports."""
    if not isinstance(data, bytes):
        return data
    try:
        return decode_packet(data)
    except PacketFault:
        return None


def _is_in_turn(state: State, session: Session, found: _Collected, arriving: Arriving, now: Instant) -> bool:
    """Return whether a message is neither a duplicate nor out of its order."""
    if arriving.header is not None:
        return _is_next(state, session, found, arriving, arriving.header)
    return _is_new(state, found, arriving, now)


def _is_alike(first: UserMessage, packet: UserMessage) -> bool:
    """Return whether a message has the source, the destination and the stream of the first one."""
    one, other = first.user, packet.user
    if one.source != other.source or one.destination != other.destination or one.address != other.address:
        return False
    if one.recoverable is not other.recoverable:
        return False
    if first.transaction is None or packet.transaction is None:
        return first.transaction is packet.transaction
    return messages.stream_number(first.transaction) == messages.stream_number(packet.transaction)


def _is_new(state: State, found: _Collected, arriving: Arriving, now: Instant) -> bool:
    """Return whether no message with this identifier came before, in the run or in the history."""
    identifier = arriving.message.identifier
    if identifier in found.identifiers:
        return False
    arrived = state.history.arrival(identifier, arriving.key[1])
    if arrived is not None and now - arrived <= state.settings.history_age:
        return False
    found.identifiers.add(identifier)
    return True


def _is_next(
    state: State, session: Session, found: _Collected, arriving: Arriving, header: TransactionHeader
) -> bool:
    """Return whether a message follows the last one of its stream, or of the run, in order (QB-259)."""
    arriving.stream = messages.stream_number(header)
    if found.arriving:
        is_next = header.previous == found.last < header.number
    else:
        incoming = state.incoming.get(arriving.key)
        kept = None if incoming is None else incoming.stream
        verdict = judge(kept, arriving.stream, header.number, header.previous, MQQB_ACCEPTANCE)
        is_admitted = not why_not_new(state, session, arriving.key)
        is_next = verdict in TAKEN and is_admitted and not state.ordinals.restored
    found.last = header.number
    return is_next


def _hand_over(state: State, session: Session, run: list[Arriving]) -> None:
    """Offer the run to the manager; `arrivals.on_run_judged` follows in this turn."""
    first = run[0]
    if first.is_transactional:
        ordering.note_peer(state, first.packet.user.source, session.peer)
    receiver = state.receiver
    receiver.last_ticket += 1
    receiver.runs[receiver.last_ticket] = Run(session.number, run)
    session.judging = True  # no SessionHeader leaves before the packets are processed
    found: tuple[Message, ...] = tuple([each.message for each in run])
    destination = messages.local_name(state, first.packet, first.message)
    state.draft.signal(RunArrived(NAME, receiver.last_ticket, destination, found, session.address))


def remember(state: State, run: list[Arriving], session: Session | None, now: Instant) -> None:
    """Remember the messages of a run that the manager has taken, in the write that stores them."""
    if not run[0].is_transactional:
        for each in run:
            messages.remember(state, each, now)
        return
    last, first = run[-1], run[0].header
    assert first is not None, "a message of a stream has a transaction header"
    messages.advance(state, last, session, now, previous=first.previous)
