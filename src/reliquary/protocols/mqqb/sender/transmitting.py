"""Sends packets from the outbox of a session as far as the window allows, [MS-MQQB] 3.1.7.1.3 and 3.1.7.1.6.

The n-th user packet of a session has number n, so a packet is counted when it is made (QB-283).
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from reliquary.base.faults import PeerFault, UsageError
from reliquary.base.time import Instant
from reliquary.protocols.mqqb.codec.packets import with_session
from reliquary.protocols.mqqb.sender.packets import (
    order_ack_packet,
    plain_packet,
    refuse_privacy,
    stream_packet,
)
from reliquary.protocols.mqqb.sender.streams import free
from reliquary.protocols.mqqb.sessions.acknowledging import MASK, header, rides
from reliquary.protocols.mqqb.sessions.closing import wait_for_ack
from reliquary.protocols.mqqb.state import Count, Entry, Session, SessionQueue, State, Weight
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel.transfer import Outcome, TransferEnded
from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamAdvanced

MOST_UNSTORED: Final = 0x7FFF
"""Recoverable packets that may wait for their bit; half of the 16-bit numbers tell old and new apart."""
UNWRITABLE: Final = MessageClass.NACK_COULD_NOT_ENCRYPT
"""The reason for a message that cannot be encrypted.

It also serves for a message that does not fit into a packet, because no class says that.
"""


def pump(state: State, session: Session, now: Instant) -> None:
    """Send packets from the outbox while the window has room (QB-275)."""
    if not session.is_open:
        return
    # DEPARTS from 3.1.7.1 (QB-157, QB-275): packets that are under way in this session are compared with
    # the smaller window of both sides, because nothing would leave if waiting packets counted, and the peer
    # asks for its window (G-09, G-10).
    room, most, before = session.room, state.settings.most_bytes, session.sent
    outbox, outstanding, unstored = session.outbox, session.outstanding, session.unstored
    while (
        outbox
        and len(outstanding) < room
        and session.outstanding_bytes < most
        and len(unstored) < MOST_UNSTORED
    ):
        _transmit(state, session, outbox.popleft(), now)
    if session.sent != before:
        state.counts[Count.SENT] += session.sent - before
        session.active = True
        wait_for_ack(state, session)


def _transmit(state: State, session: Session, entry: Entry, now: Instant) -> None:
    """Make the packet of an entry, count it, and add it to the packets of this turn, 3.1.7.1.3.

    The message got its identifier when it was sent, and the manager has judged whether it expired (QB-276).
    """
    if not entry.live:
        return
    outgoing = state.sender.queues.get(entry.queue)
    data = (
        _order_ack(state, session, entry, now)
        if outgoing is None
        else _packet(state, session, outgoing, entry)
    )
    if not data:
        return
    session.sent += 1  # QB-117, QB-283
    if entry.weight is Weight.RECOVERABLE or entry.weight is Weight.STREAM:
        session.recoverable_sent += 1
        if entry.weight is Weight.RECOVERABLE:
            session.unstored[session.recoverable_sent & MASK] = entry
    stored = entry.weight is Weight.EXPRESS or (outgoing is not None and _is_stored(state, outgoing, entry))
    if session.unacked and rides(session, now):
        stored = stored and not session.bits
        data = with_session(data, header(state, session))  # QB-284: with the carrying packet
    entry.size, entry.message = len(data), None
    session.outstanding.append(entry)
    session.outstanding_bytes += entry.size
    state.write(session, data, stored=stored)
    if not stored:
        state.draft.wait()  # the message, its number, or what it acknowledges is on disk first (QB-116)


def _is_stored(state: State, outgoing: SessionQueue, entry: Entry) -> bool:
    """Return whether a message, its number and the previous number were on disk before this turn.

    Then its packet need not wait for the sync of this turn, which mostly removes other messages.
    """
    return entry.mark <= state.sender.stored_mark and outgoing.mark <= state.sender.stored_mark


def _packet(state: State, session: Session, outgoing: SessionQueue, entry: Entry) -> bytes:
    """Return the packet of a queue's message; empty if it must not be sent any more or cannot be written."""
    assert entry.message is not None, "an entry of a queue has a message"
    try:
        refuse_privacy(entry.message, entry.destination)  # it may wait from before MQQB was switched on
        if entry.weight is not Weight.STREAM:
            data = plain_packet(state, outgoing, entry, session.address)
        else:
            sent = state.sent.get(entry.queue)
            number = 0 if sent is None else sent.numbers.get(entry.lookup_id, 0)
            if sent is None or number <= sent.stream.acknowledged:
                outgoing.under_way.pop(entry.lookup_id, None)
                return b""
            data = stream_packet(state, outgoing, entry, sent, number)
            if entry.lookup_id in outgoing.retransmits:
                state.counts[Count.RETRANSMITTED] += 1
            outgoing.retransmits.add(entry.lookup_id)
        if len(data) > state.settings.largest_packet:
            raise UsageError(f"a packet has at most {state.settings.largest_packet} bytes, not {len(data)}")
    except (UsageError, PeerFault) as why:
        _give_up(state, outgoing, entry, str(why))
        return b""
    return data


def _give_up(state: State, outgoing: SessionQueue, entry: Entry, why: str) -> None:
    """End the transfer of a message that cannot be sent."""
    outgoing.under_way.pop(entry.lookup_id, None)
    ended = (entry.lookup_id,)
    state.draft.signal(TransferEnded(entry.queue, ended, Outcome.REFUSED, UNWRITABLE, why=why))
    sent = state.sent.get(entry.queue)
    if entry.weight is Weight.STREAM and sent is not None and entry.lookup_id in sent.numbers:
        free(state, entry.queue, ended, UNWRITABLE)


def _order_ack(state: State, session: Session, entry: Entry, now: Instant) -> bytes:
    """Return the order acknowledgement of an incoming stream, for all that was taken by now.

    A message that was refused while the acknowledgement waited for the window is not in it: its sender must
    know of the refusal first.  Empty if another stream has begun meanwhile.
    """
    number, last = session.order_acks.pop(entry.place)
    incoming = state.places[entry.place]
    stream = incoming.stream
    if not state.receiver.has_refused(incoming.key[0]):
        last = stream.last
    elif number != stream.number:
        return b""
    if stream.acknowledged < last:
        apply(state, StreamAdvanced(*incoming.key, replace(stream, acknowledged=last)))
    state.counts[Count.ORDER_ACKS_SENT] += 1
    return order_ack_packet(state, incoming, last, session.address, now)
