"""Convert a Message to a UserMessage packet and a packet to a Message, [MS-MQDMPR] 3.1.7.1.30 to 3.1.7.1.32.

    Message --construct--> UserMessage --encode--> bytes
       ^                    |  sign, seal            |
       |                    v                        v
       '------read-------- UserMessage <--decode-- bytes
                              unseal, verify

The modules `signing` and `sealing` change the UserMessage between the Message and the bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import (
    DEFAULT_PRIORITY,
    FOREVER,
    MOST_HOPS,
    NO_GUID,
    NO_OBJECT,
    USUAL,
    Attributes,
    AuthenticationLevel,
    Delivery,
    DestinationKind,
    EncryptionAlgorithm,
    HashAlgorithm,
    Message,
    MessagePrivacy,
    ObjectId,
    SenderKind,
    SequenceId,
    rare_part,
)
from reliquary.queueing.packets import codes
from reliquary.queueing.packets.names import (
    Hosts,
    administration_address,
    destination_address,
    host_of,
    listed,
    name_of,
    names_of,
    response_address,
)
from reliquary.wire.packet import properties
from reliquary.wire.packet.addresses import AddressKind
from reliquary.wire.packet.base import BaseHeader
from reliquary.wire.packet.debug import DebugHeader
from reliquary.wire.packet.fields import guid_of
from reliquary.wire.packet.multi import MultiQueueHeader
from reliquary.wire.packet.properties import NO_CORRELATION, PropertiesHeader
from reliquary.wire.packet.security import ProviderInfo, SecurityHeader
from reliquary.wire.packet.transaction import IDENTIFIER_LIMIT, TransactionHeader
from reliquary.wire.packet.user import UserHeader
from reliquary.wire.packet.user_message import UserMessage, decode_user_message

STANDARD_PROVIDER: Final = 1
"""AuthenticationProviderType of a message that names no provider."""

NOT_CARRIED: Final[Mapping[str, str]] = {
    "allow_peek_when_locked": "it concerns only the queue that holds the message",
    "discard_refused": "it concerns only the manager of the sender",
    "application_deadletter_queue": "a remote read has a header for it, wire/packet/remote_read.py",
    "authentication": "written as none (DM-280); the receiver determines it, queueing/packets/signing.py",
    "transaction_status_queue": "the protocol that transfers the message sets it",
    "soap_envelope": "the protocol [MC-MQSRM] fills its own headers, wire/packet/soap.py",
    "soap_compound_message": "as soap_envelope",
    "soap_header": "as soap_envelope",
    "soap_body": "as soap_envelope",
    "carrier_header": "a packet has no field for the header of another carrier",
    "trace_context": "a packet has no field for it, and the extension belongs to the application",
    "stored_body": "a body of this size does not fit into a packet",
}
"""Attributes that a packet never carries, each with the reason."""

CARRIED_IN_PART: Final[Mapping[str, str]] = {
    "identifier": "its lineage is read as the source machine",
    "priority": "a transactional message has none (DM-278)",
    "delivery": "a transactional message must be recoverable",
    "acknowledgements": "as four bits: full-receive is neg-arrival, pos-receive and neg-receive",
    "hash_algorithm": "sha is read as sha1, because both have one number",
    "encryption_algorithm": "five algorithms have no number; rc4 is written if nothing is encrypted",
    "destination_manager": "the manager of a private destination, none if the destination is direct",
    "destination_kind": "the kind follows from the destination's name",
    "administration_kind": "the kind must fit the administration queue's name",
    "response_kind": "the kind must fit the response queue's name",
    "destination_queues": "machine, connector and multicast names and the domain of a list are left out",
    "administration_queues": "as destination_queues",
    "response_queues": "as destination_queues",
    "sender_kind": "none if there is no sender",
    "transaction": "20 bits; its attributes are carried only with a transaction or a sequence",
    "sequence": "ordinal and timestamp 0 are read as none",
    "sequence_number": "as transaction",
    "previous_sequence_number": "as transaction",
    "final_ack_required": "as transaction",
    "first_in_transaction": "as transaction",
    "last_in_transaction": "as transaction",
    "connector_manager": "as transaction",
}
"""Attributes that a packet carries only in part, each with the case in which its value changes."""


def serialize(message: Message, *, computer: str = "") -> bytes:
    """Serialize Message to Buffer; raise UsageError if an attribute has no form in a packet."""
    return construct(message, computer=computer).encode()


def deserialize(data: bytes) -> Message:
    """Deserialize Message From Buffer; raise PacketFault if the bytes are not a packet."""
    return read(decode_user_message(data))


# -- from a message to a packet


def construct(message: Message, *, computer: str = "") -> UserMessage:
    """Construct a UserMessage Packet and fill it from the message.

    `computer` is the name of this computer; it completes path names that name no computer (DM-269).
    """
    more = message.more or USUAL
    transaction = _transaction_header(message)
    # DEPARTS from 3.1.7.1.32 (DM-273, DM-281): the debug header and its flag come together, with
    # tracing or with a queue for it, because no peer can read a packet with only one of them.
    traced = more.tracing_requested or more.tracing_queue != NO_GUID
    return UserMessage(
        base=BaseHeader(
            0 if transaction is not None else message.priority,  # DM-278
            more.tracing_requested,
            more.time_to_reach_queue,
        ),
        user=_user_header(message, computer, transactional=transaction is not None),
        transaction=transaction,
        security=_security_header(message),  # DM-271
        properties=_properties_header(message),  # DM-272
        debug=DebugHeader(_guid_or_none(more.tracing_queue)) if traced else None,
        multi=_multi_queue_header(message),
    )


def _user_header(message: Message, computer: str, *, transactional: bool) -> UserHeader:
    more = message.more or USUAL
    source = message.source_machine if message.source_machine != NO_GUID else message.identifier.lineage
    hosts = Hosts(source, more.destination_manager, computer)
    destination = destination_address(more.destination_queue, hosts)
    admin = administration_address(
        more.administration_queue, hosts, codes.ADMINISTRATION[more.administration_kind]
    )
    response = response_address(
        more.response_queue, hosts, codes.RESPONSE[more.response_kind], more.administration_queue
    )
    return UserHeader(
        source=source,
        address=hosts.destination,
        time_to_be_received=message.time_to_be_received,
        sent_time=message.sent_time,
        message_id=message.identifier.uniquifier,
        recoverable=transactional or message.delivery is Delivery.RECOVERABLE,
        dead_letter=more.negative_journaling,
        journal=more.positive_journaling,
        destination=destination,
        admin=admin,
        response=response,
        connector_type=_guid_or_none(more.connector_type),
        hops=more.hops,
    )


def _transaction_header(message: Message) -> TransactionHeader | None:
    # DEPARTS from 3.1.7.1.30 (DM-270): a sequence alone also makes a transaction header, because a
    # message that lost its place in the stream would be taken for a new one.
    more = message.more or USUAL
    if more.transaction is None and more.sequence is None:
        return None
    sequence = more.sequence or SequenceId(0, 0)
    return TransactionHeader(
        0 if more.transaction is None else more.transaction.int & IDENTIFIER_LIMIT,
        sequence.ordinal,
        sequence.timestamp,
        more.sequence_number,
        more.previous_sequence_number,
        more.final_ack_required,
        more.first_in_transaction,
        more.last_in_transaction,
        _guid_or_none(more.connector_manager),
    )


def _security_header(message: Message) -> SecurityHeader | None:
    # DEPARTS from 3.1.7.1.30 (AN-36): also a message that is only encrypted, or only has a sender,
    # gets a security header, because its key and its sender would be lost.
    more = message.more or USUAL
    is_private = more.privacy is not MessagePrivacy.NONE
    is_signed = bool(more.signature or more.multiple_destination_signature)
    data = more.sender or more.symmetric_key or more.signature or more.sender_certificate
    named = more.authentication_provider_name or more.authentication_provider_type != STANDARD_PROVIDER
    if not (is_private or data or named or more.authentication is not AuthenticationLevel.NONE):
        return None
    return SecurityHeader(
        sender_kind=codes.SENDER[more.sender_kind if more.sender else SenderKind.NONE],
        encrypted=is_private,
        default_provider=is_signed and not named,  # DM-280
        sender=more.sender,
        encryption_key=more.symmetric_key,
        signature=more.signature,
        certificate=more.sender_certificate,
        # A security header must have some data: without other data, the provider is written.
        provider=ProviderInfo(more.authentication_provider_type, more.authentication_provider_name)
        if named or not data
        else None,
    )


def _properties_header(message: Message) -> PropertiesHeader:
    more = message.more or USUAL
    encryption = codes.ENCRYPTION.get(more.encryption_algorithm)
    if encryption is None:
        if more.privacy is not MessagePrivacy.NONE:
            word = more.encryption_algorithm.value
            raise UsageError(f"a packet has no number for {word}, so its body cannot be encrypted with it")
        encryption = properties.RC4
    return PropertiesHeader(
        acknowledgements=codes.acknowledgement_bits(more.acknowledgements),
        label=message.label,
        message_class=more.message_class,
        correlation=_correlation_bytes(more.correlation),
        body_type=message.body_type,
        application_tag=more.application_tag,
        privacy=codes.PRIVACY[more.privacy],  # DM-277
        hash_algorithm=codes.HASH[more.hash_algorithm],
        encryption_algorithm=encryption,
        extension=more.extension,
        body=message.body,
    )


def _multi_queue_header(message: Message) -> MultiQueueHeader | None:
    # DEPARTS from 3.1.7.1.30 (DM-274): lists of other queues or a signature also make the header,
    # because they stand nowhere else.
    more = message.more or USUAL
    if not (
        more.destination_queues
        or more.administration_queues
        or more.response_queues
        or more.multiple_destination_signature
    ):
        return None
    return MultiQueueHeader(
        listed(more.destination_queues),
        listed(more.administration_queues),
        listed(more.response_queues),
        more.multiple_destination_signature,
    )


def _guid_or_none(guid: UUID) -> UUID | None:
    return None if guid == NO_GUID else guid


def _correlation_bytes(correlation: ObjectId) -> bytes:
    if correlation is NO_OBJECT:
        return NO_CORRELATION
    if not 0 <= correlation.uniquifier <= FOREVER:
        raise UsageError(f"a correlation's number is 0 to {FOREVER}, not {correlation.uniquifier}")
    return correlation.lineage.bytes_le + correlation.uniquifier.to_bytes(4, "little")


# -- from a packet to a message


def read(packet: UserMessage) -> Message:
    """Return the Message of a packet; attributes of absent headers have their defaults (DM-275).

    An unknown number of an algorithm is read as the default algorithm; the code that needs the algorithm
    looks at the packet and can refuse it.  The authentication level is only the packet's claim:
    `signing.verify` determines the real one.
    """
    base, user, header = packet.base, packet.user, packet.properties
    hosts = Hosts(user.source, user.address)
    hosts.admin = host_of(user.admin, hosts)
    administration_queue = name_of(user.admin, hosts)
    response_queue = name_of(user.response, hosts)
    optional: dict[str, Any] = {}
    if packet.transaction is not None:
        _read_transaction(packet.transaction, optional)
    if packet.security is not None:
        _read_security(packet.security, optional)
    if packet.multi is not None:
        _read_multi_queue(packet.multi, optional)
    if packet.debug is not None:
        optional["tracing_queue"] = packet.debug.queue or NO_GUID
    shares_admin_queue = user.response.kind is AddressKind.SAME_AS_ADMIN
    attributes = Attributes(
        tracing_requested=base.tracing,
        time_to_reach_queue=base.time_to_reach_queue,
        destination_manager=user.address,
        hops=min(user.hops, MOST_HOPS),
        negative_journaling=user.dead_letter,
        positive_journaling=user.journal,
        destination_queue=name_of(user.destination, hosts),
        destination_kind=codes.DESTINATION_OF.get(user.destination.kind, DestinationKind.PRIVATE),
        administration_queue=administration_queue,
        administration_kind=codes.ADMINISTRATION_OF[user.admin.kind],
        response_queue=administration_queue if shares_admin_queue else response_queue,
        response_kind=codes.RESPONSE_OF[user.response.kind],
        connector_type=user.connector_type or NO_GUID,
        acknowledgements=codes.ACKNOWLEDGEMENTS_OF[header.acknowledgements],
        message_class=header.message_class,
        correlation=_correlation(header.correlation),
        application_tag=header.application_tag,
        privacy=codes.PRIVACY_OF.get(header.privacy, MessagePrivacy.NONE),
        hash_algorithm=codes.HASH_OF.get(header.hash_algorithm, HashAlgorithm.SHA1),
        encryption_algorithm=codes.ENCRYPTION_OF.get(header.encryption_algorithm, EncryptionAlgorithm.RC4),
        extension=header.extension,
        **optional,
    )
    identifier = ObjectId(user.source, user.message_id)
    return Message(
        identifier,
        header.body,
        header.label,
        # DM-278: with a transaction the field has no meaning
        base.priority if packet.transaction is None else DEFAULT_PRIORITY,
        Delivery.RECOVERABLE if user.recoverable else Delivery.EXPRESS,
        user.sent_time,
        user.time_to_be_received,
        header.body_type,
        rare_part(attributes, identifier),
    )


def _read_transaction(header: TransactionHeader, attributes: dict[str, Any]) -> None:
    attributes["transaction"] = UUID(int=header.identifier)
    if header.ordinal or header.timestamp:
        attributes["sequence"] = SequenceId(header.ordinal, header.timestamp)
    attributes["sequence_number"] = header.number
    # DEPARTS from 3.1.7.1.31 (AN-36): PreviousTxSequenceNumber is read, and so are Signature and
    # ConnectorType, because what is written and never read is lost on the way.
    attributes["previous_sequence_number"] = header.previous
    attributes["final_ack_required"] = header.final_ack
    attributes["first_in_transaction"] = header.first
    attributes["last_in_transaction"] = header.last
    attributes["connector_manager"] = header.connector or NO_GUID


def _read_security(header: SecurityHeader, attributes: dict[str, Any]) -> None:
    # DEPARTS from 3.1.7.1.31 (AN-36): the level is AS, and Sig10 where only AU is set, because AU has
    # one bit in [MS-MQMQ] and cannot hold the values 3 and 5 that are printed.
    level = header.signature_level or int(header.authenticated)  # DM-276
    attributes["authentication"] = codes.SIGNATURE_OF[level]
    attributes["sender_kind"] = codes.SENDER_OF[header.sender_kind]
    attributes["sender"] = header.sender
    attributes["symmetric_key"] = header.encryption_key
    attributes["signature"] = header.signature
    attributes["sender_certificate"] = header.certificate
    if header.provider is not None:
        attributes["authentication_provider_type"] = header.provider.kind
        attributes["authentication_provider_name"] = header.provider.name


def _read_multi_queue(header: MultiQueueHeader, attributes: dict[str, Any]) -> None:
    attributes["destination_queues"] = names_of(header.destinations)
    attributes["administration_queues"] = names_of(header.admins)
    attributes["response_queues"] = names_of(header.responses)
    attributes["multiple_destination_signature"] = header.signature


def _correlation(raw: bytes) -> ObjectId:
    if raw == NO_CORRELATION:
        return NO_OBJECT
    return ObjectId(guid_of(raw[:16]), int.from_bytes(raw[16:], "little"))
