"""Accepts or refuses a message, [MS-MQQB] 3.1.5.8, in the turn in which its packet came.

    stream or identifier known? --> refused by the carrier? --> MessageArrived --> ArrivalJudged

Its number and identifier become facts of the turn that stores the message, or are not recorded (G-22).
"""

# DEPARTS from 3.1.5.8 (QB-237): order and duplicates are judged first, and nothing is changed before
# the manager's verdict, because a repeated message to a deleted queue would get two contrary answers (G-26).

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import Warn
from reliquary.protocols.mqqb.codec.acks import wants_final
from reliquary.protocols.mqqb.receiver import ordering
from reliquary.protocols.mqqb.receiver.admission import is_admitted
from reliquary.protocols.mqqb.state import SILENT_CLASSES, Arriving, Count, Session, State
from reliquary.protocols.mqqb.tables import MQQB_ACCEPTANCE, NAME
from reliquary.queueing.model.message import (
    FOREVER,
    AuthenticationLevel,
    Message,
    MessageClass,
    MessagePrivacy,
)
from reliquary.queueing.model.names.formats import DirectName, FormatName, parse_format
from reliquary.queueing.model.travel.transfer import (
    ArrivalJudged,
    DuplicatesDropped,
    MessageArrived,
    Outcome,
    StreamResumed,
)
from reliquary.queueing.packets.messages import read
from reliquary.queueing.packets.signing import verify
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.acceptance import TAKEN, Verdict, advanced, judge, without_skipped
from reliquary.streams.apply import apply
from reliquary.streams.facts import IdentifierRemembered, StreamAdvanced
from reliquary.streams.gaps import reconsider
from reliquary.streams.incoming import StreamKey
from reliquary.streams.tables import IncomingStream, Remembered
from reliquary.wire.packet.addresses import AddressKind
from reliquary.wire.packet.transaction import TransactionHeader
from reliquary.wire.packet.user_message import UserMessage

NOWHERE: Final = ""
FAR_AHEAD: Final = 300
"""The seconds by which the clock of a sender may be ahead without a warning."""
AHEAD: Final = "the clock of a peer is ahead"
RESUMED: Final = "a stream goes on without some of its numbers"
_NO_CLASSES: Final[frozenset[MessageClass]] = frozenset()


def take_message(state: State, session: Session, packet: UserMessage, now: Instant) -> bool:
    """Check a user message and hand it to the manager (QB-263, QB-314); return False if it is dropped."""
    message = read(packet)
    key = (packet.user.source, message.destination_queue.casefold())
    arriving = Arriving(session.number, packet, message, key, packet.transaction, packet)
    if packet.transaction is not None:
        ordering.note_peer(state, packet.user.source, session.peer)
        arriving.stream = stream_number(packet.transaction)
        if not _is_in_turn(state, session, arriving, packet.transaction, now):
            return False
    elif _is_duplicate(state, session, arriving, now):
        return False
    _hand_over(state, session, arriving, now)
    return True


def stream_number(header: TransactionHeader) -> int:
    """Return TxSequenceID as a number of 64 bits."""
    return header.timestamp << 32 | header.ordinal


# -- what is known of it already


def _is_in_turn(
    state: State, session: Session, arriving: Arriving, header: TransactionHeader, now: Instant
) -> bool:
    """Return whether a message of a stream is next in its order (QB-259); if not, it is dropped."""
    key, number = arriving.key, arriving.stream
    if not is_admitted(state, session, key):
        return False
    incoming = state.incoming.get(key)
    kept = None if incoming is None else incoming.stream
    verdict = judge(kept, number, header.number, header.previous, MQQB_ACCEPTANCE)
    if state.ordinals.restored or (verdict not in TAKEN and kept is not None):
        verdict = reconsider(state, key, number, header.number, header.previous, verdict, now)
    if verdict is Verdict.LATE:
        arriving.late = True
        return True
    if verdict in TAKEN:
        return True
    repeated = verdict is Verdict.REPEATED
    state.counts[Count.DUPLICATES if repeated else Count.OUT_OF_TURN] += 1
    if incoming is not None:
        incoming.rejected += 1  # QB-260
        if verdict is not Verdict.OUTDATED:  # otherwise the acknowledgement would name the newer stream
            ordering.repeat(state, incoming, now)
    if repeated:
        _tell_duplicate(state, session, arriving)
    return False


def _is_duplicate(state: State, session: Session, arriving: Arriving, now: Instant) -> bool:
    """Return whether a message with this identifier was accepted within `history_age` (QB-238)."""
    # DEPARTS from 3.1.5.8.1 (QB-238): source, number and destination together identify a message, because
    # numbers of two managers are equal, and copies for several queues share one (G-21).
    arrived = state.history.arrival(arriving.message.identifier, arriving.key[1])
    # DEPARTS from 3.1.5.8.1 (QB-238): a duplicate is counted and acknowledged by its session, because
    # its sender would send it without end, and the counts of both sides would differ (G-19).
    found = arrived is not None and now - arrived <= state.settings.history_age  # QB-146, QB-301
    if found:
        state.counts[Count.DUPLICATES] += 1
        remember(state, arriving, now)  # its time begins again: it may come once more
        _tell_duplicate(state, session, arriving)
    return found


def _tell_duplicate(state: State, session: Session, arriving: Arriving) -> None:
    destination = local_name(state, arriving.packet, arriving.message)
    identifiers = (arriving.message.identifier,)
    state.draft.signal(DuplicatesDropped(NAME, destination, identifiers, peer=session.address))


# -- what the manager says


def check_clock(state: State, session: Session, message: Message, now: Instant) -> None:
    """Warn once in a session of a message that was sent far in the future, if it may expire (G-70)."""
    limited = message.time_to_reach_queue != FOREVER or message.time_to_be_received != FOREVER
    ahead = message.sent_time - now // SECOND
    if limited and ahead > FAR_AHEAD and not session.is_ahead:
        session.is_ahead = True
        why = (
            f"its message was sent {ahead} seconds in the future, so it expires too late: compare the clocks"
        )
        state.draft.ask(Warn(session.address, AHEAD, why))


def _hand_over(state: State, session: Session, arriving: Arriving, now: Instant) -> None:
    """Offer the message to the manager; `on_judged` follows in this turn."""
    packet, message = arriving.packet, arriving.message
    check_clock(state, session, message, now)
    destination = local_name(state, packet, message)
    refusal = MessageClass.NORMAL if destination else MessageClass.NACK_BAD_DEST_QUEUE
    if refusal is MessageClass.NORMAL:
        message, refusal = _verified(packet, message)
    if packet.transaction is not None:
        message = message.changed(transaction_status_queue=ordering.mark_of(session.address))
    arriving.message = message
    receiver = state.receiver
    receiver.last_ticket += 1
    receiver.arriving[receiver.last_ticket] = arriving
    state.draft.signal(
        MessageArrived(
            NAME,
            (receiver.last_ticket, 0),
            destination or message.destination_queue,
            message,
            peer=session.address,
            doubtful=arriving.late,
            refusal=refusal,
            silent=_NO_CLASSES if state.settings.insecure_nacks else SILENT_CLASSES,
            keep_if_full=True,  # G-52
            only_here=True,  # a queue of another manager would have to be reached by routing
            refusal_is_sent=packet.transaction is not None,
        )
    )


def local_name(state: State, packet: UserMessage, message: Message) -> str:
    """Return the name of the destination at this manager; empty if it names no queue that takes messages."""
    # DEPARTS from 3.1.5.8.5 (QB-258): the host in a direct name is ignored, because an unknown alias of
    # this host would forward the message in circles (G-24, G-25).
    identity, to = state.identity, packet.user.destination
    # SECOND STAGE (QB-123, QB-124, QB-125, QB-247, QB-267): no message is forwarded, and no hop is counted;
    # a message for another manager is refused.
    if not identity.covers(packet.user.address):
        return NOWHERE
    if to.kind is AddressKind.DIRECT:
        return _path_of(message.destination_queue)
    if to.kind is AddressKind.PRIVATE_ON_DESTINATION:
        return f"PRIVATE={identity.identifier}\\{to.number:08x}"
    return message.destination_queue if to.kind is AddressKind.PUBLIC else NOWHERE


def _path_of(text: str) -> str:
    r"""Return the path of a direct name at this manager, such as `.\private$\orders`, or an empty text."""
    name = _parsed(text)
    if not isinstance(name, DirectName) or name.scheme.is_url or ";" in name.path or not name.path:
        return NOWHERE  # subqueues, journals and system queues cannot be sent to
    return f".\\{name.path}"


def _parsed(text: str) -> FormatName | None:
    """Return the parsed name; None if it is no format name, or its path is no path of a queue."""
    try:
        return parse_format(text)
    except UsageError:
        return None


def needs_verification(message: Message) -> bool:
    """Return whether a message is encrypted or signed, or claims to be authenticated."""
    return bool(
        message.privacy is not MessagePrivacy.NONE
        or message.authentication is not AuthenticationLevel.NONE
        or message.signature
        or message.multiple_destination_signature
    )


def _verified(packet: UserMessage, message: Message) -> tuple[Message, MessageClass]:
    """Verify the signature of a packet (QB-248, QB-249); an encrypted body cannot be read here."""
    # DEPARTS from 3.1.5.8.3 (QB-250, QB-256, QB-257): the sender's SID is not used, signed or not, and a
    # signature is verified with the certificate in its packet, because nothing here ties a certificate to a
    # user; the access list sees an anonymous sender (G-64).
    if not needs_verification(message):
        return message, MessageClass.NORMAL
    # SECOND STAGE (QB-148, QB-251, QB-253, QB-304): no certificate or key is looked up in a directory and
    # cached.
    # SECOND STAGE (QB-252, QB-254, QB-255): no key of this manager is published, so every encrypted body is
    # refused.
    if message.privacy is not MessagePrivacy.NONE:
        return message, MessageClass.NACK_BAD_ENCRYPTION
    is_signed = message.signature or message.multiple_destination_signature
    level = verify(packet) if is_signed else AuthenticationLevel.NONE
    if isinstance(level, MessageClass):
        return message, level
    return message.changed(authentication=level), MessageClass.NORMAL


def judged(state: State, signal: ArrivalJudged, now: Instant) -> Session | None:
    """Remember a message that the manager has judged; return its session, or None if that is gone.

    If the manager could not take it, nothing is recorded, and `shortage` closes the session (QB-239, QB-265).
    """
    arriving = state.receiver.arriving.pop(signal.ticket[0], None)
    if arriving is None:
        return None
    session = state.sessions.get(arriving.session)
    if signal.outcome is Outcome.TRY_LATER:
        if session is not None:
            # DEPARTS from 3.1.5.8.2 (QB-239): the session is closed and nothing is remembered, because
            # a message that is only ignored would count as received, and be lost (G-23).
            session.shortage = "the manager takes no messages at present"
        return session
    if arriving.is_transactional:  # first, because an order acknowledgement waits for what is refused
        refused = signal.outcome is Outcome.REFUSED  # QB-244, QB-245, QB-249, QB-264
        doubtful = signal.reason is NOT_KNOWN and wants_final(arriving.message)
        if refused or doubtful:
            ordering.conclude(state, arriving.message, signal.reason)
    if arriving.late:
        _make_up(state, arriving, now)
    elif arriving.is_transactional:
        advance(state, arriving, session, now)
    elif signal.outcome is Outcome.DELIVERED or _is_dead_letter(signal, arriving.message):
        remember(state, arriving, now)
    return session


def _is_dead_letter(signal: ArrivalJudged, message: Message) -> bool:
    """Return whether the manager keeps a refused message as a dead letter (QB-264, G-52).

    Then it is remembered: otherwise it would be stored twice if it came again and its queue had room.
    """
    return signal.reason is MessageClass.NACK_QUEUE_EXCEED_QUOTA and message.negative_journaling


def remember(state: State, arriving: Arriving, now: Instant) -> None:
    """Record the identifier of a message, in the write that stores it (QB-097, QB-242)."""
    # DEPARTS from 3.1.5.8.2 (QB-242): the identifier is remembered with the message and not before, because
    # a message that could not be stored would be taken for a duplicate when it comes again (G-22).
    identifier, express = arriving.message.identifier, arriving.message.is_express
    place = 0 if express else state.history.next
    entry = Remembered(identifier.lineage, identifier.uniquifier, now, place, arriving.key[1])
    apply(state, IdentifierRemembered(entry, express))


def advance(
    state: State, arriving: Arriving, session: Session | None, now: Instant, previous: int | None = None
) -> None:
    """Record in its stream that a message was accepted or refused in turn (QB-110, QB-261, QB-262, QB-266).

    `previous` is the number before the first message of a run whose last one this is.
    """
    header = arriving.header
    assert header is not None, "a message of a stream has a transaction header"
    before = header.previous if previous is None else previous
    key = arriving.key
    incoming = state.incoming.get(key)
    kept = None if incoming is None else incoming.stream
    # DEPARTS from 3.1.5.8.6 (QB-262): the stream advances only by a message in its turn, because one out of
    # order would skip those before it (G-28).
    last = kept.last if kept is not None and kept.number == arriving.stream else 0
    stream = advanced(
        kept,
        arriving.stream,
        header.number,
        before,
        now,
        format_name=arriving.message.destination_queue,
    )
    address = session.address if session is not None else "" if kept is None else kept.receipts_to
    stream = replace(stream, receipts_to=address)  # G-49: the address from which the last message came
    apply(state, StreamAdvanced(*key, stream))
    incoming = state.incoming[key]
    incoming.rejected = 0
    if state.gaps:
        state.gaps.pop(key, None)
    if before > last:
        _tell_resumed(state, key, arriving, stream)
    ordering.expect(state, incoming, now)


def _make_up(state: State, arriving: Arriving, now: Instant) -> None:
    """Record that a skipped number came late; its sender gets the acknowledgement again."""
    header = arriving.header
    assert header is not None, "a message of a stream has a transaction header"
    incoming = state.incoming[arriving.key]
    apply(state, StreamAdvanced(*arriving.key, without_skipped(incoming.stream, header.number)))
    ordering.repeat(state, incoming, now)


def _tell_resumed(state: State, key: StreamKey, arriving: Arriving, stream: IncomingStream) -> None:
    """Report a stream that went on without some of its numbers: a warning, a count and an event."""
    first, last = stream.skipped[-1]
    state.counts[Count.GAPS_CLOSED] += 1
    why = (
        f"{stream.number} goes on with {stream.last}; {first} to {last} came before the restore, or are lost"
    )
    state.draft.ask(Warn(key[1], RESUMED, why))
    skipped = f"{stream.number}: {first}-{last}"
    state.draft.signal(StreamResumed(NAME, key[1], arriving.message.identifier, skipped, peer=str(key[0])))
