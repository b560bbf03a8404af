"""Tests message and MessagePosition: every attribute of [MS-MQDMPR] 3.1.1.11 and 3.1.1.12, and their
limits.
"""

from __future__ import annotations

from enum import Enum
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.base.time import LAST_SECOND, SECOND, Instant
from reliquary.queueing.model.message import ATTRIBUTES as NAMES
from reliquary.queueing.model.message import (
    BODY_LIMIT,
    EXTENSION_LIMIT,
    FOREVER,
    LABEL_LIMIT,
    NO_GUID,
    NO_OBJECT,
    PACKET_HEADERS,
    USUAL,
    Acknowledgement,
    AdministrationKind,
    Attributes,
    AuthenticationLevel,
    Delivery,
    DestinationKind,
    EncryptionAlgorithm,
    HashAlgorithm,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
    Position,
    ResponseKind,
    SenderKind,
    SequenceId,
    StoredBody,
    check,
    size_of,
)
from reliquary.queueing.model.tables import MESSAGES, message_key
from tests.queueing.full_messages import FULL

NONE_PRINTED = object()
"""The specification states no default."""

EMPTY = (0, "", b"", NO_GUID, DestinationKind.PRIVATE)

ATTRIBUTES: dict[str, tuple[str, Any]] = {
    "Identifier": ("identifier", NO_OBJECT),
    "AllowPeekWhenLocked": ("allow_peek_when_locked", False),
    "ApplicationDeadletterQueue": ("application_deadletter_queue", ""),
    "Class": ("message_class", MessageClass.NORMAL),
    "PrivacyLevel": ("privacy", MessagePrivacy.NONE),
    "AuthenticationLevel": ("authentication", AuthenticationLevel.NONE),
    "DeliveryGuarantee": ("delivery", Delivery.EXPRESS),
    "TracingRequested": ("tracing_requested", False),
    "TracingQueueIdentifier": ("tracing_queue", NO_GUID),
    "Priority": ("priority", 3),
    "PositiveJournalingRequested": ("positive_journaling", False),
    "NegativeJournalingRequested": ("negative_journaling", False),
    "ResponseQueueFormatName": ("response_queue", ""),
    "ResponseMultiQueueFormatName": ("response_queues", ()),
    "DestinationQueueFormatName": ("destination_queue", NONE_PRINTED),
    "DestinationMultiQueueFormatName": ("destination_queues", ()),
    "AdministrationQueueFormatName": ("administration_queue", ""),
    "AdministrationMultiQueueFormatName": ("administration_queues", ()),
    "MultipleDestinationSignature": ("multiple_destination_signature", b""),
    "ApplicationTag": ("application_tag", 0),
    "SourceMachineIdentifier": ("source_machine", NONE_PRINTED),
    "Body": ("body", b""),
    "BodyType": ("body_type", 0),
    "CorrelationIdentifier": ("correlation", ObjectId(NO_GUID, 0)),
    "AcknowledgementsRequested": ("acknowledgements", ()),
    "Label": ("label", ""),
    "SentTime": ("sent_time", NONE_PRINTED),
    "TimeToReachQueue": ("time_to_reach_queue", 0x54600),
    "TimeToBeReceived": ("time_to_be_received", 0xFFFFFFFF),
    "HashAlgorithm": ("hash_algorithm", HashAlgorithm.SHA1),
    "EncryptionAlgorithm": ("encryption_algorithm", EncryptionAlgorithm.RC4),
    "DestinationQueueManagerIdentifier": ("destination_manager", NONE_PRINTED),
    "DestinationQueueType": ("destination_kind", NONE_PRINTED),
    "AdministrationQueueType": ("administration_kind", AdministrationKind.NONE),
    "ResponseQueueType": ("response_kind", ResponseKind.NONE),
    "SenderIdentifier": ("sender", NONE_PRINTED),
    "SenderCertificate": ("sender_certificate", b""),
    "SenderIdentifierType": ("sender_kind", SenderKind.SID),
    "Extension": ("extension", b""),
    "ConnectorTypeIdentifier": ("connector_type", NO_GUID),
    "ConnectorQueueManagerIdentifier": ("connector_manager", NONE_PRINTED),
    "TransactionStatusQueueFormatName": ("transaction_status_queue", NONE_PRINTED),
    "SymmetricKey": ("symmetric_key", NONE_PRINTED),
    "Signature": ("signature", NONE_PRINTED),
    "AuthenticationProviderType": ("authentication_provider_type", 1),
    "AuthenticationProviderName": ("authentication_provider_name", NONE_PRINTED),
    "TransactionalMessageSequenceIdentifier": ("sequence", None),
    "TransactionSequenceNumber": ("sequence_number", NONE_PRINTED),
    "TransactionPreviousSequenceNumber": ("previous_sequence_number", NONE_PRINTED),
    "TransactionIdentifier": ("transaction", None),
    "FinalAckRequired": ("final_ack_required", NONE_PRINTED),
    "FirstInTransaction": ("first_in_transaction", False),
    "LastInTransaction": ("last_in_transaction", False),
    "SoapEnvelope": ("soap_envelope", NONE_PRINTED),
    "SoapCompoundMessage": ("soap_compound_message", NONE_PRINTED),
    "SoapBody": ("soap_body", NONE_PRINTED),
    "SoapHeader": ("soap_header", NONE_PRINTED),
}
"""Attribute of the specification -> our name and the default that is printed."""

OF_THE_POSITION = {
    "LookupIdentifier": "lookup_id",
    "ArrivalTime": "arrived",
    "MessageReference": "message",
}
"""What belongs to one place in one queue; State is which of an order's collections it is in."""

WORDS: dict[type[Enum], str] = {
    Delivery: "EXPRESS RECOVERABLE",
    MessagePrivacy: "NONE BASE ENHANCED ADVANCED",
    AuthenticationLevel: "NONE SIG10 SIG20 SIG30 XML_SIG",
    Acknowledgement: (
        "POS_ARRIVAL POS_RECEIVE NEG_ARRIVAL NEG_RECEIVE"
        " NACK_REACH_QUEUE FULL_REACH_QUEUE NACK_RECEIVE FULL_RECEIVE"
    ),
    HashAlgorithm: "MD2 MD4 MD5 SHA1 SHA SHA_256 SHA_512",
    EncryptionAlgorithm: "RSA DSS RSA_KEYS DES RC2 AES256 AES128 AES192 RC4 SEAL",
    DestinationKind: "PRIVATE PUBLIC DIRECT",
    AdministrationKind: "NONE PRIVATE_ON_SOURCE PRIVATE_ON_DESTINATION PUBLIC PRIVATE_ON_OTHER DIRECT",
    ResponseKind: (
        "NONE SAME_AS_ADMINISTRATION PRIVATE_ON_DESTINATION PRIVATE_ON_SOURCE"
        " PRIVATE_ON_ADMINISTRATION PUBLIC PRIVATE_ON_OTHER DIRECT"
    ),
    SenderKind: "NONE SID QUEUE_MANAGER",
}

CLASSES = {
    "NORMAL": 0x0000,
    "REPORT": 0x0001,
    "ACK_REACH_QUEUE": 0x0002,
    "ORDER_ACK": 0x00FF,
    "ACK_RECEIVE": 0x4000,
    "NACK_BAD_DEST_QUEUE": 0x8000,
    "NACK_PURGED": 0x8001,
    "NACK_REACH_QUEUE_TIMEOUT": 0x8002,
    "NACK_QUEUE_EXCEED_QUOTA": 0x8003,
    "NACK_ACCESS_DENIED": 0x8004,
    "NACK_HOP_COUNT_EXCEEDED": 0x8005,
    "NACK_BAD_SIGNATURE": 0x8006,
    "NACK_BAD_ENCRYPTION": 0x8007,
    "NACK_COULD_NOT_ENCRYPT": 0x8008,
    "NACK_NOT_TRANSACTIONAL_QUEUE": 0x8009,
    "NACK_NOT_TRANSACTIONAL_MESSAGE": 0x800A,
    "NACK_UNSUPPORTED_CRYPTO_PROVIDER": 0x800B,
    "NACK_SOURCE_COMPUTER_GUID_CHANGED": 0x800C,
    "NACK_QUEUE_DELETED": 0xC000,
    "NACK_QUEUE_PURGED": 0xC001,
    "NACK_RECEIVE_TIMEOUT": 0xC002,
    "NACK_RECEIVE_TIMEOUT_AT_SENDER": 0xC003,
    "NACK_RECEIVE_REJECTED": 0xC004,
}


# -- attributes


@pytest.mark.spec("DM-048", "DM-057", "DM-058", "DM-059", "DM-060")
@pytest.mark.parametrize(("name", "default"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_every_attribute_is_there_with_the_default_that_is_printed(name: str, default: object) -> None:
    value = getattr(Message(), name)
    if default is NONE_PRINTED:
        assert value in EMPTY
    else:
        assert value == default
        assert type(value) is type(default)


def test_a_message_has_no_attribute_that_the_specification_does_not_know() -> None:
    ours = {"delay", "discard_refused", "carrier_header", "stored_body", "hops", "trace_context"}
    assert set(NAMES) == {name for name, _ in ATTRIBUTES.values()} | ours


@pytest.mark.parametrize("name", OF_THE_POSITION.values(), ids=OF_THE_POSITION)
def test_what_belongs_to_a_place_is_on_the_position(name: str) -> None:
    assert name in Position.__struct_fields__
    assert name not in NAMES


@pytest.mark.spec("DM-059", "DM-061")
@pytest.mark.parametrize(("kind", "words"), WORDS.items(), ids=[kind.__name__ for kind in WORDS])
def test_an_enumeration_has_the_listed_values_and_no_others(kind: type[Enum], words: str) -> None:
    assert list(kind.__members__) == words.split()
    assert len({member.value for member in kind}) == len(kind)


@pytest.mark.spec("DM-043")
def test_the_classes_have_the_values_of_the_packet() -> None:
    assert {name: member.value for name, member in MessageClass.__members__.items()} == CLASSES


@pytest.mark.spec("DM-043")
def test_a_class_may_be_the_applications_own() -> None:
    own = Message.of(message_class=0x01AB)
    check(own)
    key = message_key(1)
    assert MESSAGES.decode(key, MESSAGES.encode(key, own)).message_class == 0x01AB


@pytest.mark.parametrize("reason", MessageClass)
def test_a_failure_is_a_class_that_begins_with_nack(reason: MessageClass) -> None:
    assert reason.is_failure == reason.name.startswith("NACK")


def test_an_object_id_is_written_as_guid_and_number() -> None:
    assert str(ObjectId(UUID(int=1), 2)) == "00000000-0000-0000-0000-000000000001\\2"


def test_a_message_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        Message().label = "other"  # type: ignore[misc]


# -- on disk

BY_TYPE: dict[type, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.integers(0, 2**63),
    str: st.text(),
    bytes: st.binary(),
    UUID: st.uuids(),
    ObjectId: st.builds(ObjectId, st.uuids(), st.integers(0, FOREVER)),
    SequenceId: st.builds(SequenceId, st.integers(0, FOREVER), st.integers(0, FOREVER)),
    StoredBody: st.builds(StoredBody, *[st.integers(1, FOREVER)] * 3),
}


def any_of(kind: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for values of a field's type."""
    if kind in BY_TYPE:
        return BY_TYPE[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    parts = [part for part in kind.__args__ if part is not Ellipsis]
    if getattr(kind, "__origin__", None) is tuple:
        return st.lists(any_of(parts[0]), max_size=3).map(tuple)
    return st.one_of([st.none() if part is type(None) else any_of(part) for part in parts])


FIELDS = {
    field.name: field.type
    for record in (Message, Attributes)
    for field in msgspec.structs.fields(record)
    if field.name != "more"
}
"""All attributes of a message, with their types."""

messages = st.builds(Message.of, **{name: any_of(kind) for name, kind in FIELDS.items()})


@pytest.mark.spec("DM-047", "DM-054")
@given(messages)
def test_every_attribute_is_unchanged_after_the_disk(message: Message) -> None:
    key = message_key(7)
    assert MESSAGES.decode(key, MESSAGES.encode(key, message)) == message


# -- rare attributes


@pytest.mark.parametrize("name", Attributes.__struct_fields__)
def test_a_rare_attribute_is_read_from_the_message_as_if_it_were_its_own(name: str) -> None:
    value = getattr(FULL, name)
    assert getattr(Message(FULL.identifier).changed(**{name: value}), name) == value
    default = UUID(int=3) if name == "source_machine" else getattr(USUAL, name)
    assert getattr(Message(ObjectId(UUID(int=3), 1)), name) == default


@pytest.mark.parametrize("name", Attributes.__struct_fields__)
def test_a_message_that_gets_its_default_back_is_equal_to_the_one_before(name: str) -> None:
    plain = Message.of(body=b"b", **{name: getattr(USUAL, name)})
    assert plain == Message(body=b"b")
    assert plain.more is None
    changed = plain.changed(**{name: getattr(FULL, name)})
    assert changed.changed(**{name: getattr(USUAL, name)}) == plain


@given(st.data())
def test_a_message_is_made_and_changed_by_any_mix_of_attributes(data: st.DataObject) -> None:
    one, other = data.draw(messages), data.draw(messages)
    said = {name: getattr(other, name) for name in data.draw(st.sets(st.sampled_from(NAMES)))}
    changed = one.changed(**said)
    kept = {name: getattr(one, name) for name in NAMES if name not in said}
    if one.more is None or one.more.source_machine is None:
        kept.pop("source_machine", None)  # it follows the identifier
    assert {name: getattr(changed, name) for name in said | kept} == said | kept
    assert Message.of(**{name: getattr(changed, name) for name in NAMES}) == changed


def test_a_source_that_the_identifier_names_is_not_said_twice() -> None:
    here, there = UUID(int=1), UUID(int=2)
    usual = Message(ObjectId(here, 5))
    assert Message.of(identifier=ObjectId(here, 5), source_machine=here) == usual
    assert usual.changed(source_machine=there).changed(identifier=ObjectId(there, 5)).more is None
    assert usual.changed(source_machine=NO_GUID).source_machine == NO_GUID


@pytest.mark.parametrize("name", ["more", "colour", "httpr_header"])
def test_an_unknown_attribute_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        Message.of(**{name: None})
    with pytest.raises(TypeError, match=name):
        Message().changed(**{name: None})


# -- limits


@pytest.mark.spec("DM-048", "DM-055")
@pytest.mark.parametrize(
    ("attributes", "sentence"),
    [
        pytest.param({"priority": 8}, "a priority is 0 to 7, not 8", id="priority"),
        pytest.param({"priority": -1}, "a priority is 0 to 7, not -1", id="low priority"),
        pytest.param(
            {"label": "x" * 250}, "a label has at most 249 characters, this one has 250", id="label"
        ),
        pytest.param(
            {"body": bytes(BODY_LIMIT + 1)},
            f"a body has at most {BODY_LIMIT} bytes, this one has {BODY_LIMIT + 1}",
            id="body",
        ),
        pytest.param(
            {"extension": bytes(EXTENSION_LIMIT + 1)},
            f"an extension has at most {EXTENSION_LIMIT} bytes, this one has {EXTENSION_LIMIT + 1}",
            id="extension",
        ),
        *(
            pytest.param({name: value}, f"{words} is 0 to {FOREVER}, not {value}", id=f"{words} {value}")
            for name, words in (
                ("time_to_reach_queue", "a time to reach the queue"),
                ("time_to_be_received", "a time to be received"),
                ("body_type", "a body type"),
                ("application_tag", "an application tag"),
                ("sent_time", "a sent time"),
            )
            for value in (-1, FOREVER + 1)
        ),
    ],
)
def test_a_value_outside_its_range_is_refused_with_the_limit_and_the_value(
    attributes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        check(Message.of(**attributes))
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"priority": 0},
        {"priority": 7},
        {"label": "x" * LABEL_LIMIT},
        {"extension": bytes(EXTENSION_LIMIT)},
        {"time_to_be_received": 0, "time_to_reach_queue": 0},
        {"body_type": FOREVER, "application_tag": FOREVER},
    ],
    ids=["nothing", "lowest", "highest", "label", "extension", "no time", "numbers"],
)
def test_a_value_at_its_limit_is_taken(attributes: dict[str, Any]) -> None:
    check(Message.of(**attributes))


# -- size and time


def test_an_empty_message_counts_its_headers() -> None:
    assert size_of(Message()) == PACKET_HEADERS


def test_strings_count_two_bytes_a_character() -> None:
    message = Message.of(
        label="ab", destination_queue="c", administration_queue="def", response_queue="g", body=b"12345",
        extension=b"678",
    )  # fmt: skip
    assert size_of(message) == PACKET_HEADERS + 2 * 7 + 5 + 3


def test_what_srmp_keeps_of_a_message_counts_too() -> None:
    assert size_of(Message.of(soap_envelope="x" * 100)) == PACKET_HEADERS + 100
    assert size_of(Message.of(soap_header="x" * 30)) == PACKET_HEADERS + 30
    assert size_of(Message.of(carrier_header="x" * 40)) == PACKET_HEADERS + 40


def test_a_body_in_pieces_counts_like_any_other() -> None:
    message = Message.of(stored_body=StoredBody(7, 1_000_000, 4))
    assert (message.spool, message.body_size) == (7, 1_000_000)
    assert size_of(message) == PACKET_HEADERS + 1_000_000
    assert (Message(body=b"abc").spool, Message(body=b"abc").body_size) == (0, 3)


NOW = Instant(1_000 * SECOND)


@pytest.mark.spec("DM-058", "DM-077")
@pytest.mark.parametrize(
    ("attributes", "deadline"),
    [
        pytest.param({}, 0, id="never"),
        pytest.param({"time_to_be_received": 10}, 1_010 * SECOND, id="from now"),
        pytest.param(
            {"time_to_be_received": 10, "sent_time": 995}, 1_005 * SECOND, id="from when it was sent"
        ),
        pytest.param({"time_to_be_received": 0}, 1_000 * SECOND, id="at once"),
        pytest.param({"time_to_be_received": FOREVER, "sent_time": 5}, 0, id="never, though it was sent"),
    ],
)
def test_the_time_to_be_received_runs_from_the_moment_it_was_sent(
    attributes: dict[str, Any], deadline: int
) -> None:
    assert Message.of(**attributes).deadline(NOW) == deadline


def test_times_of_a_message_that_was_sent_after_2106_run_from_now() -> None:
    """SentTime does not say when it was sent."""
    sent = Message.of(
        sent_time=LAST_SECOND, time_to_be_received=10, time_to_reach_queue=20, delay=30 * SECOND
    )
    now = Instant((LAST_SECOND + 1_000_000) * SECOND)
    assert sent.deadline(now) == now + 10 * SECOND
    assert sent.reach_deadline(now) == now + 20 * SECOND + 1
    assert sent.due(now) == now + 30 * SECOND


def test_a_deadline_at_the_beginning_of_time_is_not_taken_for_never() -> None:
    assert Message(time_to_be_received=0).deadline(Instant(0)) == 1
