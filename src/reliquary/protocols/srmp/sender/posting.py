"""Numbers messages and posts them, [MC-MQSRM] 3.1.7.2 and 3.1.7.8.

SendUserMessage ... PostsDue    all that the manager hands out in a turn is numbered and posted together
PostEnded                       `answers` selects the reaction: taken, refused, or send all again

what is posted                       what "taken" means for it
a message outside any stream         it is delivered
one that came for another host       it is delivered; its envelope is unchanged
a message of a stream                the receiver has it or ignores it: only a receipt shows (`receipts`)
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from reliquary.base.faults import PeerFault, UsageError
from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import Signal, Warn
from reliquary.protocols.srmp.codec.compound import BOUNDARIES, apdu, compound
from reliquary.protocols.srmp.codec.encode import encode
from reliquary.protocols.srmp.codec.lexical import stream_id_text
from reliquary.protocols.srmp.codec.values import StreamPosition
from reliquary.protocols.srmp.effects import Post, SendApdu
from reliquary.protocols.srmp.events import Addressed, PostEnded
from reliquary.protocols.srmp.sender import closing
from reliquary.protocols.srmp.sender.addresses import own_origin, receipts_url
from reliquary.protocols.srmp.sender.answers import Reaction, reaction_to, reason_for
from reliquary.protocols.srmp.sender.phases import Phase
from reliquary.protocols.srmp.sender.resending import go_again, start_wait
from reliquary.protocols.srmp.sender.sessions import fail, open_wanted
from reliquary.protocols.srmp.sender.streams import begin, final_key, forget, free, make_room
from reliquary.protocols.srmp.signing import is_to_be_signed, parts_source, sign
from reliquary.protocols.srmp.state import OwnAddress, Session, State
from reliquary.queueing.model.message import USUAL, Delivery, Message, MessageClass
from reliquary.queueing.model.names.schemes import HTTP, HTTPS
from reliquary.queueing.model.travel.link import ConnectionStatus
from reliquary.queueing.model.travel.transfer import (
    AddressesKnown,
    DestinationReached,
    MessageWithdrawn,
    Outcome,
    SendUserMessage,
    TransferAccepted,
    TransferEnded,
)
from reliquary.queueing.travel.failures import FAILED_WITH
from reliquary.streams.apply import apply
from reliquary.streams.closing import in_this_era
from reliquary.streams.facts import MessagesNumbered, StreamStarted
from reliquary.streams.numbering import LAST_NUMBER, next_stream
from reliquary.streams.outgoing import Sent
from reliquary.streams.progress import progressed
from reliquary.streams.tables import OutgoingStream

# DEPARTS from 3.1.1.1.5 (SR-122, SR-156): the ordinal in `id` is the manager's own, which jumps at a restart,
# because it is on disk with the message and a second count could contradict it.

_DRAINING: Final = Phase.DRAINING
_EXPRESS: Final = Delivery.EXPRESS
_NORMAL: Final = MessageClass.NORMAL
_REFUSED: Final = Reaction.REFUSED
_RETRY: Final = Reaction.RETRY
UNWRITABLE: Final = MessageClass.NACK_COULD_NOT_ENCRYPT
"""The reason for a message that cannot be written as an envelope; it is the nearest of the classes."""


class PostsDue(Signal, frozen=True):
    """The manager has handed out all messages of this turn; SRMP sends this signal to itself."""


def on_addressed(state: State, event: Addressed, now: Instant) -> None:
    """Let messages name the address of their receipts from now on, because the server listens."""
    state.address = OwnAddress(
        event.receipts_host, event.secure_receipts_host, event.receipts_scheme, event.authorities
    )
    state.draft.signal(AddressesKnown((HTTP.word, HTTPS.word), event.authorities))
    open_wanted(state, now)


# -- messages that are posted


def on_send(state: State, signal: SendUserMessage, now: Instant) -> None:
    """Keep a message until the manager has handed out all messages of this turn (SR-309)."""
    del now
    if not state.sender.outbox:
        state.draft.signal(PostsDue())
    state.sender.outbox.append(signal)


def on_posts_due(state: State, signal: PostsDue, now: Instant) -> None:
    """Post all messages of this turn (SR-255); the manager hands out no expired ones (SR-257)."""
    del signal
    outbox, state.sender.outbox = state.sender.outbox, []
    queues: dict[int, list[SendUserMessage]] = {}
    for send in outbox:
        queues.setdefault(send.queue, []).append(send)
    for queue, sends in queues.items():
        session = state.sender.sessions[queue]
        if session.phase is Phase.DRAINING:
            session.has_unposted = True
            continue
        if _waits_for_a_key(state, session, sends, now):
            continue
        in_stream = []
        for send in sends:
            more = send.message.more or USUAL
            if more.transaction is None or more.soap_envelope:
                _post(state, session, send, 0, _effect(state, session, send, None))
            else:
                in_stream.append(send)
        if in_stream:
            _send_stream(state, session, in_stream, now)


def _waits_for_a_key(state: State, session: Session, sends: list[SendUserMessage], now: Instant) -> bool:
    """Return whether a message must be signed and cannot be now; then the session closes for a pause."""
    if not any(is_to_be_signed(send.message) for send in sends):
        return False
    why = state.settings.trust.doubt_of_signer(now)
    if why:
        state.draft.ask(Warn(session.destination, "messages cannot be signed", why))
        fail(state, session, ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE)
    return bool(why)


def _send_stream(state: State, session: Session, sends: list[SendUserMessage], now: Instant) -> None:
    """Post the messages that have a number, in the order of numbers.

    Assign the next numbers to the others.
    """
    sent = state.sent.get(session.queue)
    if sent is not None:
        numbers = sent.numbers
        known = [send for send in sends if send.lookup_id in numbers]
        sends = [send for send in sends if send.lookup_id not in numbers]
        known.sort(key=lambda each: numbers[each.lookup_id])
        lost = tuple(each.lookup_id for each in known if not _send_again(state, session, sent, each))
        if lost:
            free(state, session.queue, lost, UNWRITABLE)
    sends = in_this_era(state, session.queue, session.destination, sends)
    if sends and closing.is_free(state, session):
        _send_first(state, session, state.sent.get(session.queue), sends, now)
    sent = state.sent.get(session.queue)
    if sent is not None and sent.awaiting:
        start_wait(state, session, now)
        state.draft.signal(progressed(session.queue, sent, session.progress, session.wait))


def _send_again(state: State, session: Session, sent: Sent, send: SendUserMessage) -> bool:
    """Post a message that has a number; the gap before it may be wider than last time (SR-264).

    Returns False if it cannot be written as an envelope any more.
    """
    # DEPARTS from 3.1.7.2.2 (SR-260): identifier and number are assigned only once, because a receiver
    # could not recognize a message under another one.
    queue, lookup_id = session.queue, send.lookup_id
    number = sent.numbers[lookup_id]
    if number <= sent.stream.acknowledged:  # only its final receipt is still to come
        state.draft.signal(TransferAccepted(queue, (lookup_id,)))
        state.draft.signal(DestinationReached(queue, (lookup_id,)))
        return True
    place = _position(state, session, sent.stream, number, sent.previous(number))
    if session.wait.timeouts and number > 1 and place.previous <= sent.stream.acknowledged:
        place = replace(place, unconfirmed_to=_receipts_url(state, session))
    effect = _effect(state, session, send, place)
    _post(state, session, send, number, effect)
    return effect is not None


def _send_first(
    state: State, session: Session, sent: Sent | None, sends: list[SendUserMessage], now: Instant
) -> None:
    """Assign numbers to messages and post them; the numbers are on disk before (SR-054, SR-263)."""
    if sent is not None:
        stream = sent.stream
        number = first = stream.last + 1
        previous = sent.previous(first)
    else:
        stream = next_stream(state.ordinals, state.sender.manager, now)
        number, first, previous = 1, 1, 0
    lookup_ids, finals = [], []
    for send in sends:
        if number > LAST_NUMBER:
            session.has_unposted = True
            break
        effect = _effect(state, session, send, _position(state, session, stream, number, previous))
        if effect is not None:
            _post(state, session, send, number, effect)
            lookup_ids.append(send.lookup_id)
            if (send.message.more or USUAL).negative_journaling:  # SR-265
                finals.append((send.lookup_id, final_key(send.message.identifier, stream.sender)))
            previous, number = number, number + 1
    if lookup_ids:
        if sent is None:
            begin(state, session.queue, stream)
        apply(state, MessagesNumbered(session.queue, first, tuple(lookup_ids), tuple(finals)))


def _position(
    state: State, session: Session, stream: OutgoingStream, number: int, previous: int
) -> StreamPosition:
    """Return the element `stream` of a message (SR-279, SR-280).

    Number 1 also has the address for receipts.
    """
    return StreamPosition(
        identifier=stream_id_text(stream.sender, stream.number),
        sender=stream.sender,
        number=stream.number,
        current=number,
        previous=previous,
        receipts_to=_receipts_url(state, session) if number == 1 else "",
    )


def _receipts_url(state: State, session: Session) -> str:
    url = session.address.url
    return receipts_url(url, state.settings, _here(state, url))


def _here(state: State, url: str) -> str:
    return own_origin(
        url,
        host=state.address.receipts_host,
        secure_host=state.address.secure_receipts_host,
        scheme=state.address.receipts_scheme,
    )


def _effect(
    state: State, session: Session, send: SendUserMessage, place: StreamPosition | None
) -> Post | SendApdu | None:
    """Return the effect that sends the message; if it cannot be written, end its transfer and return None."""
    message, address = send.message, session.address
    more = message.more or USUAL
    try:
        envelope = more.soap_envelope or _envelope(state, message, place, address.url)
    except (UsageError, PeerFault) as wrong:
        ended = TransferEnded(session.queue, (send.lookup_id,), Outcome.REFUSED, UNWRITABLE, why=str(wrong))
        state.draft.signal(ended)
        return None
    has_payload = more.soap_envelope or more.message_class == _NORMAL  # a receipt has none
    parts = compound(
        envelope,
        message.body if has_payload else b"",
        more.extension if has_payload else b"",
        parts_source(message),
        session.queue % BOUNDARIES,
        windows=state.settings.windows_framing,
    )
    if address.multicast:
        data = apdu(address.multicast, parts)
        return SendApdu(session.queue, session.epoch, send.lookup_id, address.multicast, data)
    return Post(
        session.queue,
        session.epoch,
        send.lookup_id,
        address.server,
        address.authority,
        address.target,
        parts.content_type,
        parts.body,
        more.hops,
        more.trace_context,
    )


def _envelope(state: State, message: Message, place: StreamPosition | None, url: str) -> str:
    signature = ""
    if is_to_be_signed(message):
        message, signature = sign(message, message.source_machine, state.settings.trust)
    capital = state.settings.capital_stream
    return encode(message, place, signature=signature, capital_stream=capital, here=_here(state, url))


def _post(
    state: State, session: Session, send: SendUserMessage, number: int, effect: Post | SendApdu | None
) -> None:
    if effect is not None:
        session.posted[send.lookup_id] = number
        state.draft.ask(effect)
        message = send.message
        if message.delivery is not _EXPRESS or (message.more or USUAL).soap_header:
            # the message, or the message that a receipt confirms, is on disk first, for writes of any
            # turn
            state.draft.wait()  # SR-054, SR-056, SR-140


# -- messages that have their answer


def on_post_ended(state: State, event: PostEnded, now: Instant) -> None:
    """Process the answer of a POST, or its failure; an answer of an earlier epoch is too late."""
    session = state.sender.sessions.get(event.session)
    if session is None:
        return
    if session.epoch != event.epoch or event.lookup_id not in session.posted:
        _hear_late_start(state, session, event)
        return
    reaction = reaction_to(event.status, state.settings.permanent_statuses)
    if reaction is _REFUSED and _may_come_later(state, session, event, now):
        fail(state, session, ConnectionStatus.CONNECTION_REFUSED)
        return
    if reaction is _RETRY:
        fail(state, session, FAILED_WITH[event.failure])
        return
    number = session.posted.pop(event.lookup_id)
    session.used, session.failing = now, False
    if reaction is _REFUSED:
        _on_refused(state, session, event)
    else:
        _on_taken(state, session, event.lookup_id, number)
    if session.phase is _DRAINING:
        go_again(state, session)


def _hear_late_start(state: State, session: Session, event: PostEnded) -> None:
    """Record that the receiver has number 1 of the stream, although the session of that POST is closed.

    Its message may be purged before it is sent again.  Then the messages behind it must not get numbers
    of a new stream, because the receiver may have them by their old numbers.
    """
    sent = state.sent.get(session.queue)
    if sent is None or session.unheard_start != (event.epoch, event.lookup_id, sent.stream.number):
        return
    session.unheard_start = None
    taken = reaction_to(event.status, state.settings.permanent_statuses) is Reaction.TAKEN
    if taken and not sent.stream.started and session.address.is_direct:
        apply(state, StreamStarted(session.queue))


def _on_taken(state: State, session: Session, lookup_id: int, number: int) -> None:
    """Keep the message of a stream until its receipt comes.

    If too many wait, the manager hands out no others.
    """
    if not number:
        state.sender.missing.pop(session.queue, None)
        state.draft.signal(TransferEnded(session.queue, (lookup_id,), Outcome.DELIVERED))  # SR-291
        return
    sent = state.sent.get(session.queue)
    if sent is None or sent.numbers.get(lookup_id) != number:
        return  # its stream has ended, and it is sent again in another one
    # a receiver ignores a later message of the stream without looking for its queue
    if number <= sent.stream.acknowledged or number == sent.first_awaiting():
        state.sender.missing.pop(session.queue, None)
    if number == 1 and not sent.stream.started and session.address.is_direct:  # otherwise a forwarder has it
        apply(state, StreamStarted(session.queue))
    session.taken.add(lookup_id)
    session.withheld[lookup_id] = None
    make_room(state, session, sent)


# DEPARTS from 3.1.7.2.5 (SR-292): 400 does not give a message up at once where the queue may be missing,
# because a queue that is created a minute later would cost the whole backlog.
def _may_come_later(state: State, session: Session, event: PostEnded, now: Instant) -> bool:
    """Return whether a refusal may mean that the queue does not exist yet, so that a retry is useful.

    A refusal without a reason may mean that too.
    """
    if event.reason not in (None, MessageClass.NACK_BAD_DEST_QUEUE) or session.address.multicast:
        return False
    since = state.sender.missing.setdefault(session.queue, now)
    if now - since >= state.settings.missing_queue_time:
        return False
    why = event.why or "it does not say why"
    waits = f"it refuses messages, which go again for {state.settings.missing_queue_time // SECOND} seconds"
    state.draft.ask(Warn(session.destination, waits, why))
    return True


def _on_refused(state: State, session: Session, event: PostEnded) -> None:
    """Give a message up (SR-292); those posted after it name it as the previous one, and are sent again."""
    lookup_id, reason = event.lookup_id, event.reason or reason_for(event.status)
    why = f"its server answered {event.status} {event.why}".rstrip()
    state.draft.signal(TransferEnded(session.queue, (lookup_id,), Outcome.REFUSED, reason, why=why))
    sent = state.sent.get(session.queue)
    number = 0 if sent is None else sent.numbers.get(lookup_id, 0)  # it may have a new number by now
    if sent is not None and number:
        free(state, session.queue, (lookup_id,), reason)
        if state.sent.get(session.queue) is sent and number < sent.stream.last:
            go_again(state, session)


def on_withdrawn(state: State, signal: MessageWithdrawn, now: Instant) -> None:
    """Forget messages that expired or were purged (SR-258, SR-259)."""
    del now
    session, sent = state.sender.sessions.get(signal.queue), state.sent.get(signal.queue)
    if session is not None:
        forget(session, signal.lookup_ids)
    if sent is not None:
        gone = tuple(each for each in signal.lookup_ids if each in sent.numbers)
        if gone:
            free(state, signal.queue, gone, signal.reason)
    if session is not None and session.phase is Phase.DRAINING:
        go_again(state, session)
