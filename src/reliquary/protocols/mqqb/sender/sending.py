"""Numbers messages and puts them into the outbox of a session, [MS-MQQB] 3.1.7.1 and 3.1.7.16.

SendUserMessage ... SendsDue    all messages of a turn are numbered together, in one row

what is sent                         what frees it
an express message                   the count in a SessionHeader
a recoverable message                its bit in a SessionHeader
a transactional message              an order acknowledgement, and a final one if it asks for that

Modules of this folder:

    queues         outgoing queues are connected to sessions, paused and resumed
    sending        messages are numbered and put into the outbox of a session
    packets        a message becomes a packet, with its place in the stream
    transmitting   packets leave the outbox as far as the window allows
    settling       what a SessionHeader of the peer says about them
    acks           what order and final acknowledgements say about messages of streams
    streams        the stream of a queue begins and ends
    resending      order acknowledgements are waited for; what has none is sent again
    closing        streams of an older era, after a restore, are brought to their end
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import Signal
from reliquary.protocols.mqqb.codec.acks import wants_final
from reliquary.protocols.mqqb.sender import closing
from reliquary.protocols.mqqb.sender.packets import message_id, refused_sender
from reliquary.protocols.mqqb.sender.resending import start_wait
from reliquary.protocols.mqqb.sender.streams import begin, forget, free, mark_ahead
from reliquary.protocols.mqqb.sender.transmitting import pump
from reliquary.protocols.mqqb.sessions.links import put, put_all
from reliquary.protocols.mqqb.state import Entry, Session, SessionQueue, State, Weight
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.travel.transfer import (
    DestinationReached,
    MessageWithdrawn,
    Outcome,
    SendUserMessage,
    TransferAccepted,
    TransferEnded,
)
from reliquary.streams.apply import apply
from reliquary.streams.closing import in_this_era
from reliquary.streams.facts import MessagesNumbered, ReceiverKnown
from reliquary.streams.numbering import LAST_NUMBER, next_stream
from reliquary.streams.outgoing import Sent
from reliquary.streams.progress import progressed

MARKED_AHEAD: Final = 2
"""The windows of packets at the head of an outbox that are on disk, or will be after the next sync."""


class SendsDue(Signal, frozen=True):
    """The manager has handed out all messages of this turn; MQQB sends this signal to itself."""


def on_send(state: State, signal: SendUserMessage, now: Instant) -> None:
    """Keep a message until the manager has handed out all messages of this turn (QB-274)."""
    del now
    if not state.sender.handed_out:
        state.draft.signal(SendsDue())
    state.sender.handed_out.append(signal)


def on_sends_due(state: State, signal: SendsDue, now: Instant) -> None:
    """Put all messages of this turn into outboxes, in the order of their queues, and send as many as fit."""
    del signal
    handed_out, state.sender.handed_out = state.sender.handed_out, []
    queues: dict[int, list[SendUserMessage]] = {}
    for send in handed_out:
        queues.setdefault(send.queue, []).append(send)
    for queue, sends in queues.items():
        outgoing = state.sender.queues.get(queue)
        session = None if outgoing is None else state.sessions.get(outgoing.session)
        if outgoing is None or session is None:
            # the session was closed in this turn, after the manager handed them out
            lookup_ids = tuple(send.lookup_id for send in sends)
            later = TransferEnded(queue, lookup_ids, Outcome.TRY_LATER, rest=state.settings.retry)
            state.draft.signal(later)
            continue
        in_stream = []
        for send in sends:
            more = send.message.more
            if more is None or more.transaction is None or more.sequence is not None:
                entry = _entry(state, send, _weight(send.message))
                entry.refused = refused_sender(send.message, send.destination)
                put(session, outgoing, entry)
            else:
                in_stream.append(send)
        if in_stream:
            _send_stream(state, outgoing, session, in_stream, now)
        session.unmarked += len(sends)
        pump(state, session, now)
        mark_ahead(state, session, MARKED_AHEAD * session.room)


def _weight(message: Message) -> Weight:
    """Return how a message outside of our streams is counted."""
    # A forwarded message of another manager's stream keeps its TransactionHeader (QB-124), and a
    # session acknowledgement frees it here: only its first sender and its destination count its numbers
    # (QB-123, QB-125).
    return Weight.EXPRESS if message.is_express and message.sequence is None else Weight.RECOVERABLE


def _entry(state: State, send: SendUserMessage, weight: Weight) -> Entry:
    mark = state.sender.last_mark + 1  # the next mark is made at the end of this turn, or later
    return Entry(weight, send.queue, send.lookup_id, send.message, send.destination, mark)


def _send_stream(
    state: State, outgoing: SessionQueue, session: Session, sends: list[SendUserMessage], now: Instant
) -> None:
    """Send messages that have a number, in the order of numbers; give the others the next numbers."""
    sent = state.sent.get(outgoing.queue)
    if sent is not None:
        numbers = sent.numbers
        known = [send for send in sends if send.lookup_id in numbers]
        sends = [send for send in sends if send.lookup_id not in numbers]
        for send in sorted(known, key=lambda each: numbers[each.lookup_id]):
            _send_again(state, outgoing, session, sent, send)
    sends = in_this_era(state, outgoing.queue, outgoing.destination, sends)
    if sends and closing.is_free(state, outgoing):
        _send_first(state, outgoing, session, sends, now)
    sent = state.sent.get(outgoing.queue)
    if sent is None:
        return
    if sent.stream.receiver != session.peer:
        apply(state, ReceiverKnown(outgoing.queue, session.peer))  # G-65: the manager that may acknowledge it
    if sent.awaiting:
        start_wait(state, outgoing, now)
        state.draft.signal(progressed(outgoing.queue, sent, outgoing.progress, outgoing.wait))


def _send_again(
    state: State, outgoing: SessionQueue, session: Session, sent: Sent, send: SendUserMessage
) -> None:
    """Send a message that has a number; a confirmed one waits only for its final acknowledgement."""
    if sent.numbers[send.lookup_id] > sent.stream.acknowledged:
        put(session, outgoing, _entry(state, send, Weight.STREAM))
        return
    state.draft.signal(TransferAccepted(outgoing.queue, (send.lookup_id,)))
    state.draft.signal(DestinationReached(outgoing.queue, (send.lookup_id,)))


def _send_first(
    state: State, outgoing: SessionQueue, session: Session, sends: list[SendUserMessage], now: Instant
) -> None:
    """Assign numbers to messages; the numbers are on disk before the packets leave (QB-281, G-33)."""
    sent = state.sent.get(outgoing.queue)
    first = 1 if sent is None else sent.stream.last + 1  # QB-109
    fitting = sends[: LAST_NUMBER + 1 - first]
    if len(fitting) < len(sends):
        outgoing.has_unsent = True
    if not fitting:
        return
    if sent is None:
        # DEPARTS from 3.1.1.3.1 (QB-107): the ordinal comes from one durable counter of the manager,
        # because an order acknowledgement names no queue, and two streams must not have one number (G-32).
        begin(state, outgoing, next_stream(state.ordinals, state.identity.lineage, now))
    sender = state.sent[outgoing.queue].stream.sender
    entries = [_entry(state, send, Weight.STREAM) for send in fitting]
    finals = tuple(
        [
            (entry.lookup_id, message_id(entry, entry.message, sender))
            for entry in entries
            if entry.message is not None and wants_final(entry.message)
        ]
    )
    lookup_ids = tuple([send.lookup_id for send in fitting])
    apply(state, MessagesNumbered(outgoing.queue, first, lookup_ids, finals))
    put_all(session, outgoing, entries)


def on_withdrawn(state: State, signal: MessageWithdrawn, now: Instant) -> None:
    """Forget messages that expired or were purged (QB-279); later numbers name another previous number."""
    del now
    outgoing, sent = state.sender.queues.get(signal.queue), state.sent.get(signal.queue)
    if outgoing is not None:
        forget(outgoing, signal.lookup_ids)
        state.receiver.refusals.forget(outgoing.manager)  # final acknowledgements may be among them
        state.receiver.unsettled.discard(outgoing.manager)
    if sent is not None:
        gone = tuple(each for each in signal.lookup_ids if each in sent.numbers)
        if gone:
            free(state, signal.queue, gone, signal.reason)
