"""Makes the packet of a message, [MS-MQQB] 3.1.7.1, with its position in the stream of its queue.

A message of a stream always has the sender of the stream as its source, also one that another protocol
brought: its receiver keeps one sequence for each source and destination (G-30).
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.protocols.mqqb.codec import acks
from reliquary.protocols.mqqb.state import Entry, SessionQueue, State, Written
from reliquary.queueing.model.message import NO_GUID, USUAL, Message, MessageClass, MessagePrivacy
from reliquary.queueing.packets.messages import construct
from reliquary.streams.incoming import Incoming
from reliquary.streams.outgoing import Sent
from reliquary.streams.tables import OutgoingStream
from reliquary.wire.packet.ordering import SIZE, FinalBody
from reliquary.wire.packet.patterns import Pattern, Varying, pattern_of
from reliquary.wire.packet.transaction import IDENTIFIER_LIMIT, TransactionHeader

LOW: Final = 0xFFFFFFFF
_NO_PLACE: Final = {"transaction": None, "first_in_transaction": False, "last_in_transaction": False}
"""The attributes with the position of a message in its transaction; a stream writes them into its header."""
MOST_TRANSACTIONS: Final = 4096
"""The number of transactions whose numbers are kept.

A message that is sent again keeps its number that long.
"""


def plain_packet(state: State, outgoing: SessionQueue, entry: Entry, peer: str) -> bytes:
    """Return the packet of a message outside streams; a forwarded message keeps its TransactionHeader.

    `peer` is the address that the packet goes to.
    """
    written, message = outgoing.written, entry.message
    assert message is not None, "an entry of a queue has a message"
    if (
        written is not None
        and message.more == written.message.more
        and message.identifier.lineage == written.source
        and _is_like(message, written.message)
    ):
        return written.pattern.write(Varying(message.sent_time, message.identifier.uniquifier, message.body))
    addressed = _addressed(entry, message)
    if is_final_ack(addressed, entry.destination):
        return _final_ack(state, addressed, entry.destination, peer)
    packet = construct(addressed, computer=state.identity.computer_name)
    data = packet.encode()
    pattern = pattern_of(packet, data) if packet.transaction is None else None
    if pattern is not None:
        outgoing.written = Written(pattern, replace(message, body=b""), message.identifier.lineage)
    return data


def stream_packet(state: State, outgoing: SessionQueue, entry: Entry, sent: Sent, number: int) -> bytes:
    """Return the packet of a message with this number in its stream (QB-020, QB-119, QB-281)."""
    # DEPARTS from 3.1.7.1.3 (QB-155, QB-156, QB-282): a number is given once, and `previous` is found anew
    # each time, because a second number would double the message, and an old `previous` may name one that
    # expired (G-33, G-34).
    message, stream, written = entry.message, sent.stream, outgoing.written_in_stream
    assert message is not None, "an entry of a queue has a message"
    own, previous = message_id(entry, message, stream.sender), sent.previous(number)
    if written is not None and _is_like(message, written.message):
        placed = written.placed
        if placed is None or written.stream != stream.number or message.more != written.last:
            placed = _place(state, message, stream, written)
        if placed is not None:
            return placed.write_next(message.sent_time, own, message.body, number, previous)
    header = replace(_header(state, message, stream), number=number, previous=previous)
    packet = construct(_addressed(entry, message), computer=state.identity.computer_name)
    user = replace(packet.user, source=stream.sender, message_id=own, recoverable=True)
    packet = replace(packet, base=replace(packet.base, priority=0), user=user, transaction=header)
    data = packet.encode()
    pattern = pattern_of(packet, data)
    if pattern is not None:
        rare = replace(message.more or USUAL, **_NO_PLACE)
        outgoing.written_in_stream = Written(pattern, replace(message, body=b"", more=rare), stream.sender)
    return data


def _header(state: State, message: Message, stream: OutgoingStream) -> TransactionHeader:
    """Return the position of a message in a stream, without its numbers."""
    return TransactionHeader(
        _transaction_number(state, message),
        stream.number & LOW,
        stream.number >> 32,
        0,
        0,
        message.final_ack_required,
        message.first_in_transaction,
        message.last_in_transaction,
        None if message.connector_manager == NO_GUID else message.connector_manager,
    )


def _place(state: State, message: Message, stream: OutgoingStream, written: Written) -> Pattern | None:
    """Return the pattern for the position of a message in its stream, and keep it; None if there is none.

    Messages in the middle of one transaction have equal rare attributes, so one pattern serves them all.
    """
    more = message.more or USUAL
    if written.source != stream.sender or replace(more, **_NO_PLACE) != written.message.more:
        return None
    written.stream, written.last = stream.number, more
    written.placed = written.pattern.at(_header(state, message, stream))
    return written.placed


def refuse_privacy(message: Message, destination: object) -> None:
    """Raise UsageError if the body of a message must be encrypted: no key is known here (QB-287, QB-291)."""
    if message.privacy is not MessagePrivacy.NONE:
        raise UsageError(
            f"no body is encrypted on its way to {destination}, because a direct name gives no key of its"
            " manager"
        )


def _is_like(message: Message, other: Message) -> bool:
    """Return whether two messages have equal attributes, except for those that a pattern varies."""
    return (
        message.label == other.label
        and message.priority == other.priority
        and message.delivery is other.delivery
        and message.time_to_be_received == other.time_to_be_received
        and message.body_type == other.body_type
    )


def _addressed(entry: Entry, message: Message) -> Message:
    """Return the message of an entry with the name of its destination."""
    if message.destination_queue != entry.destination:
        message = message.changed(destination_queue=entry.destination)
    return message


def message_id(entry: Entry, message: Message, sender: UUID) -> int:
    """Return the MessageID of a message in a stream.

    Its own, or its LookupIdentifier for a foreign message.
    """
    own = message.identifier.lineage.int == sender.int  # `==` of two UUIDs is a function of Python
    return (message.identifier.uniquifier if own else entry.lookup_id) & LOW


def _transaction_number(state: State, message: Message) -> int:
    """Return the number of a transaction in packets: a counter, because 20 bits of a GUID repeat (G-69)."""
    sender = state.sender
    transaction = message.transaction
    if transaction is None:
        return 0
    number = sender.transactions.get(transaction)
    if number is None:
        sender.last_transaction = sender.last_transaction % IDENTIFIER_LIMIT + 1
        number = sender.transactions[transaction] = sender.last_transaction
        if len(sender.transactions) > MOST_TRANSACTIONS:
            del sender.transactions[next(iter(sender.transactions))]
    return number


# -- acknowledgements of this manager


def is_final_ack(message: Message, destination: str) -> bool:
    """Return whether a message in an outgoing queue is a final acknowledgement of this manager."""
    return (
        message.message_class >= acks.LEAST_FINAL_CLASS
        and message.label == acks.LABEL
        and destination.startswith("PRIVATE=")
        and len(message.body) == SIZE
    )


def refused_sender(message: Message, destination: str) -> UUID:
    """Return the sender of the message that this final acknowledgement reports as refused, or NO_GUID."""
    if not is_final_ack(message, destination) or message.message_class >= MessageClass.NACK_QUEUE_DELETED:
        return NO_GUID
    return manager_of(destination) if message.message_class >= MessageClass.NACK_BAD_DEST_QUEUE else NO_GUID


def manager_of(destination: str) -> UUID:
    """Return the manager in a PRIVATE name."""
    return UUID(destination.removeprefix("PRIVATE=").partition("\\")[0])


def _final_ack(state: State, message: Message, destination: str, peer: str) -> bytes:
    """Return the packet of a final acknowledgement (QB-070, QB-321).

    Its carrier header shows whether the name is direct.  The address in the name is where its sender is now,
    because it may have moved since its message came (G-49).
    """
    body = FinalBody.decode(message.body)
    address = peer if message.carrier_header else ""
    outgoing = acks.AckAddresses(state.identity.lineage, manager_of(destination), address)
    return acks.final_ack(
        outgoing,
        body,
        message.message_class,
        sent_time=message.sent_time,
        message_id=message.identifier.uniquifier & LOW,
    ).encode()


def order_ack_packet(state: State, incoming: Incoming, last: int, peer: str, now: Instant) -> bytes:
    """Return the order acknowledgement for all up to the number `last` (QB-129, QB-320, G-39).

    `peer` is the address that it goes to (QB-063).
    """
    stream = incoming.stream
    is_direct = stream.format_name.upper().startswith("DIRECT=")  # QB-241
    outgoing = acks.AckAddresses(state.identity.lineage, incoming.key[0], peer if is_direct else "")
    # DEPARTS from 3.1.7.17 (QB-319, QB-320): an order acknowledgement is express and names the incoming
    # stream, because it is made anew whenever it is needed, and our own stream means nothing to the peer
    # (G-39, G-42).
    receiver, seconds = state.receiver, in_whole_seconds(now)
    receiver.last_order_ack = (receiver.last_order_ack or seconds) + 1 & LOW
    packet = acks.order_ack(
        outgoing, stream.number, last, sent_time=seconds, message_id=receiver.last_order_ack
    )
    return packet.encode()
