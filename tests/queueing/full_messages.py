"""Messages with all that a packet carries: one that has everything, and any that Hypothesis finds."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from reliquary.queueing.model.message import (
    NO_GUID,
    Acknowledgement,
    AdministrationKind,
    AuthenticationLevel,
    Delivery,
    DestinationKind,
    EncryptionAlgorithm,
    HashAlgorithm,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
    ResponseKind,
    SenderKind,
    SequenceId,
    StoredBody,
)
from tests.wire.packet.strategies import guid, long, short, text

SOURCE = UUID("557358d1-9150-9595-4997-b6e611ea26c6")
DESTINATION = UUID("00112233-4455-6677-8899-aabbccddeeff")
OTHER = UUID("0f0e0d0c-0b0a-0908-0706-050403020100")


def private(computer: UUID, number: int) -> str:
    return f"PRIVATE={str(computer).upper()}\\{number:X}"


def public(queue: UUID) -> str:
    return f"PUBLIC={str(queue).upper()}"


FULL = Message.of(
    identifier=ObjectId(SOURCE, 2286),
    body=b"the body",
    body_type=8,
    label="a label",
    priority=5,
    delivery=Delivery.RECOVERABLE,
    message_class=MessageClass.NACK_RECEIVE_REJECTED,
    sent_time=1_700_000_000,
    hops=3,
    trace_context="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 a=1",
    time_to_reach_queue=60,
    time_to_be_received=3600,
    correlation=ObjectId(OTHER, 7),
    application_tag=42,
    extension=b"an extension",
    acknowledgements=(Acknowledgement.POS_ARRIVAL, Acknowledgement.NEG_RECEIVE),
    positive_journaling=True,
    negative_journaling=True,
    discard_refused=True,
    application_deadletter_queue="host\\dead",
    allow_peek_when_locked=True,
    tracing_requested=True,
    tracing_queue=OTHER,
    response_queue=private(OTHER, 0x1F),
    response_queues=("DIRECT=OS:host\\replies", public(OTHER)),
    destination_queue=private(DESTINATION, 7),
    destination_queues=(private(DESTINATION, 7), "DIRECT=TCP:10.0.0.1\\private$\\orders"),
    administration_queue=private(SOURCE, 3),
    administration_queues=(private(SOURCE, 3), f"DL={str(OTHER).upper()}"),
    multiple_destination_signature=b"signature of several",
    privacy=MessagePrivacy.ADVANCED,
    authentication=AuthenticationLevel.SIG20,
    hash_algorithm=HashAlgorithm.SHA_512,
    encryption_algorithm=EncryptionAlgorithm.AES256,
    source_machine=SOURCE,
    destination_manager=DESTINATION,
    destination_kind=DestinationKind.PRIVATE,
    administration_kind=AdministrationKind.PRIVATE_ON_SOURCE,
    response_kind=ResponseKind.PRIVATE_ON_OTHER,
    sender=b"\1\5 a SID",
    sender_kind=SenderKind.SID,
    sender_certificate=b"a certificate",
    connector_type=OTHER,
    connector_manager=OTHER,
    transaction_status_queue="DIRECT=OS:host\\status",
    symmetric_key=b"a key",
    signature=b"a signature",
    authentication_provider_type=24,
    authentication_provider_name="a provider",
    sequence=SequenceId(3, 1_600_000_000),
    sequence_number=9,
    previous_sequence_number=8,
    transaction=UUID(int=0x12345),
    final_ack_required=True,
    first_in_transaction=True,
    last_in_transaction=True,
    soap_envelope="<Envelope/>",
    soap_compound_message="POST",
    soap_header="<Header/>",
    soap_body="<Body/>",
    carrier_header="app-x:1\r\n",
    stored_body=StoredBody(1, 2, 1),
)
"""Every attribute has a value that is not its default, but for the kinds, which follow from names."""

_name = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
_direct = st.builds("DIRECT=OS:{}\\private$\\{}".format, _name, _name)
_public = guid.map(public)
_bytes = st.binary(max_size=12)
_known = st.uuids()
_listed = st.lists(
    st.one_of(
        _direct, _public, st.builds(private, guid, long), guid.map(lambda each: f"DL={str(each).upper()}")
    ),
    max_size=3,
).map(tuple)
_acknowledgements = st.lists(st.sampled_from(list(Acknowledgement)[:4]), unique=True, max_size=4).map(
    lambda wanted: tuple(each for each in Acknowledgement if each in wanted)
)


@st.composite
def _addressed(draw: st.DrawFn) -> dict[str, Any]:
    """Source, destination, administration and response queue, whose kinds fit together."""
    source = draw(_known)
    kind = draw(st.sampled_from(DestinationKind))
    manager = NO_GUID if kind is DestinationKind.DIRECT else draw(_known)
    destination = {
        DestinationKind.PRIVATE: st.builds(private, st.just(manager), long),
        DestinationKind.PUBLIC: _public,
        DestinationKind.DIRECT: _direct,
    }[kind]
    hosts: dict[Any, UUID] = {
        AdministrationKind.PRIVATE_ON_SOURCE: source,
        AdministrationKind.PRIVATE_ON_OTHER: draw(_known),
        ResponseKind.PRIVATE_ON_SOURCE: source,
        ResponseKind.PRIVATE_ON_OTHER: draw(_known),
    }
    if manager != NO_GUID:
        hosts[AdministrationKind.PRIVATE_ON_DESTINATION] = manager
        hosts[ResponseKind.PRIVATE_ON_DESTINATION] = manager
    plain: dict[Any, st.SearchStrategy[str]] = {
        AdministrationKind.NONE: st.just(""),
        AdministrationKind.PUBLIC: _public,
        AdministrationKind.DIRECT: _direct,
        ResponseKind.NONE: st.just(""),
        ResponseKind.PUBLIC: _public,
        ResponseKind.DIRECT: _direct,
    }
    administration_kind = draw(
        st.sampled_from([each for each in AdministrationKind if each in hosts or each in plain])
    )
    administration = _named(draw, administration_kind, plain, hosts)
    if administration:
        plain[ResponseKind.SAME_AS_ADMINISTRATION] = st.just(administration)
    if administration_kind in hosts:
        hosts[ResponseKind.PRIVATE_ON_ADMINISTRATION] = hosts[administration_kind]
    response_kind = draw(st.sampled_from([each for each in ResponseKind if each in hosts or each in plain]))
    return {
        "identifier": ObjectId(source, draw(long)),
        "source_machine": source,
        "destination_manager": manager,
        "destination_kind": kind,
        "destination_queue": draw(destination),
        "administration_kind": administration_kind,
        "administration_queue": administration,
        "response_kind": response_kind,
        "response_queue": _named(draw, response_kind, plain, hosts),
    }


def _named(
    draw: st.DrawFn, kind: Any, plain: dict[Any, st.SearchStrategy[str]], hosts: dict[Any, UUID]
) -> str:
    return draw(plain[kind]) if kind in plain else private(hosts[kind], draw(long))


@st.composite
def _transactional(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.booleans()):
        return {"priority": draw(st.integers(0, 7)), "delivery": draw(st.sampled_from(Delivery))}
    return {
        "delivery": Delivery.RECOVERABLE,
        "transaction": UUID(int=draw(st.integers(0, 0xFFFFF))),
        "sequence": draw(st.none() | st.builds(SequenceId, st.integers(1, 0xFFFFFFFF), long)),
        "sequence_number": draw(long),
        "previous_sequence_number": draw(long),
        "final_ack_required": draw(st.booleans()),
        "first_in_transaction": draw(st.booleans()),
        "last_in_transaction": draw(st.booleans()),
        "connector_manager": draw(guid),
    }


@st.composite
def _secured(draw: st.DrawFn) -> dict[str, Any]:
    """Return the message with a sender and its kind, or without any security at all."""
    if draw(st.booleans()):
        return {}
    kind = draw(st.sampled_from(SenderKind))
    sizes = {SenderKind.NONE: (0, 0), SenderKind.SID: (1, 28), SenderKind.QUEUE_MANAGER: (16, 16)}[kind]
    return {
        "sender_kind": kind,
        "sender": draw(st.binary(min_size=sizes[0], max_size=sizes[1])),
        "privacy": draw(st.sampled_from(MessagePrivacy)),
        "symmetric_key": draw(_bytes),
        "signature": draw(_bytes),
        "sender_certificate": draw(st.binary(min_size=1, max_size=12)),
        "authentication_provider_type": draw(st.sampled_from([1, 24])),
        "authentication_provider_name": draw(text),
    }


@st.composite
def carried_messages(draw: st.DrawFn) -> Message:
    """Return any message that a packet carries without loss."""
    return Message.of(
        body=draw(st.binary(max_size=64)),
        body_type=draw(long),
        label=draw(text),
        message_class=draw(short),
        sent_time=draw(long),
        time_to_reach_queue=draw(long),
        time_to_be_received=draw(long),
        correlation=draw(st.builds(ObjectId, guid, long)),
        application_tag=draw(long),
        extension=draw(_bytes),
        acknowledgements=draw(_acknowledgements),
        positive_journaling=draw(st.booleans()),
        negative_journaling=draw(st.booleans()),
        tracing_requested=draw(st.booleans()),
        tracing_queue=draw(guid),
        hash_algorithm=draw(st.sampled_from([each for each in HashAlgorithm if each.value != "sha"])),
        encryption_algorithm=draw(
            st.sampled_from(
                [
                    EncryptionAlgorithm.RC2,
                    EncryptionAlgorithm.RC4,
                    EncryptionAlgorithm.AES128,
                    EncryptionAlgorithm.AES192,
                    EncryptionAlgorithm.AES256,
                ]
            )
        ),
        connector_type=draw(guid),
        destination_queues=draw(_listed),
        administration_queues=draw(_listed),
        response_queues=draw(_listed),
        multiple_destination_signature=draw(_bytes),
        **draw(_addressed()),
        **draw(_transactional()),
        **draw(_secured()),
    )
