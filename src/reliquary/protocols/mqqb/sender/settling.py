"""Settles packets that are under way by a SessionHeader of the peer, [MS-MQQB] 3.1.5.5.

    ack                      that many packets came: express messages are done, those of streams are accepted
    recoverable ack and set  these recoverable messages are stored: they are done

Only packets of this session are settled, by its own numbers modulo 2**16 (G-15, G-17).
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.mqqb.sender.streams import make_room, mark_ahead
from reliquary.protocols.mqqb.sender.transmitting import pump
from reliquary.protocols.mqqb.sessions.acknowledging import MASK
from reliquary.protocols.mqqb.state import Entry, Session, State, Weight
from reliquary.queueing.model.travel.transfer import Outcome, TransferEnded
from reliquary.streams.outgoing import Sent
from reliquary.wire.packet.session import SessionHeader

HALF: Final = 0x8000
"""A number that is this far ahead of another one counts as before it, modulo 2**16."""


def on_header(state: State, session: Session, found: SessionHeader, now: Instant) -> str:
    """Settle what the peer acknowledges, 3.1.5.5.

    Return the reason to close the session, or an empty text.
    """
    # DEPARTS from 3.1.5.5.1 (QB-201, QB-203, QB-205): only packets of this session are settled, by its own
    # numbers, and only unsent ones are sent next, because numbers of an older session, or 0, would free
    # messages that never left (G-15, G-16, G-17).
    count = (found.ack - session.acked) & MASK
    if count > len(session.outstanding):
        return f"it acknowledges {count} packets, and {len(session.outstanding)} are under way"
    done: dict[int, list[int]] = {}
    streams: dict[int, Sent] = {}
    for _ in range(count):
        entry = session.outstanding.popleft()
        session.outstanding_bytes -= entry.size
        _came(state, entry, done, streams)
    for queue, sent in streams.items():
        make_room(state, state.sender.queues[queue], sent)
    session.acked += count  # QB-202
    if found.recoverable_set or found.recoverable_ack:
        _stored(state, session, found, done)
    for queue, lookup_ids in done.items():  # QB-126, QB-127, QB-200, QB-204, QB-206
        state.draft.signal(TransferEnded(queue, tuple(lookup_ids), Outcome.DELIVERED))
    session.peer_window = max(found.window, 1)
    pump(state, session, now)
    mark_ahead(state, session, session.room)  # the manager may have nothing more to hand out
    if found.sent != session.received & MASK or found.recoverable_sent != session.recoverable_received & MASK:
        return (
            f"it has sent {found.sent} packets, {found.recoverable_sent} of them recoverable, and"
            f" {session.received & MASK} came, {session.recoverable_received & MASK} of them recoverable"
        )  # QB-209
    return ""


def _came(state: State, entry: Entry, done: dict[int, list[int]], streams: dict[int, Sent]) -> None:
    """Record that the peer has a packet; `done` and `streams` get the message or its stream."""
    if not entry.live:
        return
    if entry.weight is Weight.EXPRESS:
        _end(state, entry, done)
    elif entry.weight is Weight.STREAM:  # QB-133, QB-211: only the order ack frees it
        outgoing = state.sender.queues[entry.queue]
        outgoing.under_way.pop(entry.lookup_id, None)
        sent = state.sent.get(entry.queue)
        number = 0 if sent is None else sent.numbers.get(entry.lookup_id, 0)
        if sent is not None and number > sent.stream.acknowledged:
            outgoing.taken.add(entry.lookup_id)
            outgoing.withheld[entry.lookup_id] = None
            streams[entry.queue] = sent


def _stored(state: State, session: Session, found: SessionHeader, done: dict[int, list[int]]) -> None:
    """Record which recoverable messages the peer has stored.

    All before the first bit, and those with a bit.
    """
    first = found.recoverable_ack
    for number in list(session.unstored):
        place = (number - first) & MASK
        is_before = place >= HALF
        if is_before or (place < found.recoverable_set.bit_length() and found.recoverable_set >> place & 1):
            entry = session.unstored.pop(number)
            if entry.live:
                _end(state, entry, done)
        elif place >= found.recoverable_set.bit_length():
            break


def _end(state: State, entry: Entry, done: dict[int, list[int]]) -> None:
    """Record that the transfer of a message has ended."""
    entry.live = False
    outgoing = state.sender.queues.get(entry.queue)
    if outgoing is not None:
        outgoing.under_way.pop(entry.lookup_id, None)
        done.setdefault(entry.queue, []).append(entry.lookup_id)
        if not outgoing.under_way:  # more is handed out than a window has, so this was the last one
            state.receiver.unsettled.discard(outgoing.manager)
    state.receiver.refusals.remove(entry.refused)
