"""Tests of Construct a UserMessage Packet, Serialize Message to Buffer, Deserialize Message From Buffer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import (
    ATTRIBUTES,
    NO_GUID,
    Acknowledgement,
    AuthenticationLevel,
    Delivery,
    EncryptionAlgorithm,
    HashAlgorithm,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
    SenderKind,
    SequenceId,
)
from reliquary.queueing.packets.messages import (
    CARRIED_IN_PART,
    NOT_CARRIED,
    construct,
    deserialize,
    read,
    serialize,
)
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.properties import PropertiesHeader
from reliquary.wire.packet.security import ProviderInfo, SecurityHeader
from reliquary.wire.packet.user_message import UserMessage
from tests.queueing.full_messages import DESTINATION, FULL, OTHER, SOURCE, carried_messages
from tests.wire.packet.vector import PACKET


def differing(one: Message, other: Message) -> set[str]:
    return {name for name in ATTRIBUTES if getattr(one, name) != getattr(other, name)}


def present(packet: UserMessage) -> set[str]:
    return {name for name in packet.__struct_fields__ if getattr(packet, name) is not None}


# -- both ways


@pytest.mark.spec("DM-275", "DM-277", "DM-279", "DM-282")
@settings(max_examples=150)
@given(carried_messages())
def test_any_message_comes_out_as_it_went_in(message: Message) -> None:
    data = serialize(message)
    assert deserialize(data) == message
    assert int.from_bytes(data[8:12], "little") == len(data)


@pytest.mark.spec("DM-277")
def test_the_published_packet_becomes_a_message_and_an_equal_packet_again() -> None:
    message = deserialize(PACKET)
    assert message.identifier == ObjectId(SOURCE, 2286)
    assert message.destination_queue == "DIRECT=OS:a04bm02\\q"
    assert (message.label, message.body) == ("mqsender label", b"a\0" * 1000)
    assert message.sender_kind is SenderKind.SID
    assert serialize(message) == PACKET


@pytest.mark.spec("DM-277", "DM-278")
def test_a_full_message_loses_only_the_listed_attributes() -> None:
    lost = differing(deserialize(serialize(FULL)), FULL)
    assert lost == {*NOT_CARRIED, "priority"}
    assert lost <= {*NOT_CARRIED, *CARRIED_IN_PART}


def test_the_full_message_has_nothing_left_at_its_default_that_a_loss_could_hide_behind() -> None:
    same = set(ATTRIBUTES) - differing(FULL, Message())
    assert same == {"destination_kind", "sender_kind", "delay"}  # a packet has no place for a delay


def test_the_lists_of_losses_name_attributes_and_no_attribute_twice() -> None:
    assert {*NOT_CARRIED, *CARRIED_IN_PART} <= set(ATTRIBUTES)
    assert not set(NOT_CARRIED) & set(CARRIED_IN_PART)


def test_bytes_that_are_no_packet_are_refused_with_the_offset() -> None:
    with pytest.raises(PacketFault, match="LIOR"):
        deserialize(b"\x10\0\0\0LION" + PACKET[8:])


# -- which headers


@pytest.mark.spec("DM-269", "DM-272")
def test_a_plain_message_has_three_headers() -> None:
    assert present(construct(Message())) == {"base", "user", "properties"}


@pytest.mark.spec("DM-270", "DM-271", "DM-273", "DM-274")
@pytest.mark.parametrize(
    ("attributes", "header"),
    [
        pytest.param({"transaction": OTHER}, "transaction", id="transaction"),
        pytest.param({"sequence": SequenceId(1, 2)}, "transaction", id="sequence alone"),
        pytest.param({"authentication": AuthenticationLevel.SIG10}, "security", id="to be signed"),
        pytest.param({"privacy": MessagePrivacy.ADVANCED}, "security", id="to be encrypted"),
        pytest.param({"sender": b"sid"}, "security", id="sender"),
        pytest.param({"sender_certificate": b"x"}, "security", id="certificate"),
        pytest.param({"signature": b"x"}, "security", id="signature"),
        pytest.param({"symmetric_key": b"x"}, "security", id="key"),
        pytest.param({"authentication_provider_name": "x"}, "security", id="provider"),
        pytest.param({"authentication_provider_type": 24}, "security", id="provider's type"),
        pytest.param({"tracing_queue": OTHER}, "debug", id="queue for reports"),
        pytest.param({"tracing_requested": True}, "debug", id="tracing"),
        pytest.param({"destination_queues": ("DIRECT=OS:a\\b",)}, "multi", id="destinations"),
        pytest.param({"administration_queues": ("DIRECT=OS:a\\b",)}, "multi", id="administration"),
        pytest.param({"response_queues": ("DIRECT=OS:a\\b",)}, "multi", id="responses"),
        pytest.param({"multiple_destination_signature": b"x"}, "multi", id="signature of several"),
    ],
)
def test_an_attribute_brings_its_header_and_no_other(attributes: dict[str, Any], header: str) -> None:
    message = Message.of(**attributes)
    assert present(construct(message)) == {"base", "user", "properties", header}
    assert not differing(deserialize(serialize(message)), message) - {*NOT_CARRIED, *CARRIED_IN_PART}


@pytest.mark.spec("DM-275")
def test_attributes_of_headers_that_are_not_there_stay_as_they_are() -> None:
    assert read(UserMessage()) == Message.of(time_to_reach_queue=0xFFFFFFFF)


# -- transactions


@pytest.mark.spec("DM-278")
def test_a_transactional_packet_has_priority_0_whatever_it_says() -> None:
    message = Message.of(priority=6, transaction=OTHER, delivery=Delivery.EXPRESS)
    packet = construct(message)
    assert packet.base.priority == 0
    assert packet.user.recoverable
    assert deserialize(packet.encode()).priority == Message().priority
    assert construct(Message(priority=6)).base.priority == 6


@pytest.mark.spec("DM-277")
def test_twenty_bits_of_a_transactions_identifier_are_sent() -> None:
    message = Message.of(transaction=UUID(int=0xABCDE_12345), delivery=Delivery.RECOVERABLE)
    assert deserialize(serialize(message)).transaction == UUID(int=0x12345)


@pytest.mark.spec("DM-277")
def test_a_message_with_a_sequence_stays_transactional_though_its_transaction_is_not_known() -> None:
    read_back = deserialize(serialize(Message.of(sequence=SequenceId(1, 2), sequence_number=3)))
    assert read_back.transaction == NO_GUID
    assert (read_back.sequence, read_back.sequence_number) == (SequenceId(1, 2), 3)


# -- security


@pytest.mark.spec("DM-280")
@pytest.mark.parametrize("privacy", MessagePrivacy)
def test_the_flag_for_an_encrypted_body_follows_the_privacy(privacy: MessagePrivacy) -> None:
    header = construct(Message.of(privacy=privacy, sender=b"sid")).security
    assert header is not None
    assert header.encrypted is (privacy is not MessagePrivacy.NONE)
    assert (header.authenticated, header.signature_level) == (False, 0)


@pytest.mark.spec("DM-280")
@pytest.mark.parametrize(
    ("message", "default"),
    [
        (Message.of(signature=b"s"), True),
        (Message.of(signature=b"s", authentication_provider_name="another"), False),
        (Message.of(signature=b"s", authentication_provider_type=24), False),
        (Message.of(multiple_destination_signature=b"s", sender=b"sid"), True),
        (Message.of(sender=b"sid"), False),
    ],
)
def test_the_flag_for_the_default_provider_says_who_signed(message: Message, default: bool) -> None:
    header = construct(message).security
    assert header is not None
    assert header.default_provider is default


@pytest.mark.spec("DM-279")
def test_the_provider_is_its_type_and_its_name() -> None:
    header = construct(FULL).security
    assert header is not None
    assert header.provider == ProviderInfo(24, "a provider")
    sizes = header.encode()[8:16]
    assert int.from_bytes(sizes[:4], "little") == len(b"a certificate")
    assert int.from_bytes(sizes[4:], "little") == 4 + 2 * len("a provider\0")


def test_a_security_header_without_data_has_the_provider_in_it() -> None:
    header = construct(Message.of(privacy=MessagePrivacy.ADVANCED)).security
    assert header is not None
    assert header.provider == ProviderInfo()


@pytest.mark.spec("DM-276")
@pytest.mark.parametrize(
    ("authenticated", "level", "word"),
    [
        (False, 0, AuthenticationLevel.NONE),
        (True, 0, AuthenticationLevel.SIG10),
        (True, 1, AuthenticationLevel.SIG10),
        (True, 3, AuthenticationLevel.SIG20),
        (False, 5, AuthenticationLevel.SIG30),
        (False, 9, AuthenticationLevel.XML_SIG),
    ],
)
def test_the_level_of_a_signature_is_read_from_both_fields(
    authenticated: bool, level: int, word: AuthenticationLevel
) -> None:
    header = SecurityHeader(authenticated=authenticated, signature_level=level, signature=b"s")
    assert read(UserMessage(security=header)).authentication is word


@pytest.mark.spec("DM-280")
def test_a_sender_without_a_name_has_no_kind() -> None:
    header = construct(Message.of(signature=b"s", sender_kind=SenderKind.QUEUE_MANAGER)).security
    assert header is not None
    assert header.sender_kind == 0


# -- properties and tracing


@pytest.mark.spec("DM-273", "DM-281")
@pytest.mark.parametrize(
    ("message", "tracing", "queue"),
    [
        (Message.of(tracing_requested=True), True, None),
        (Message.of(tracing_requested=True, tracing_queue=OTHER), True, OTHER),
        (Message.of(tracing_queue=OTHER), False, OTHER),
    ],
)
def test_a_traced_packet_has_a_debug_header_with_or_without_a_queue(
    message: Message, tracing: bool, queue: UUID | None
) -> None:
    packet = construct(message)
    assert packet.base.tracing is tracing
    assert packet.debug is not None
    assert packet.debug.queue == queue
    assert deserialize(packet.encode()) == message


@pytest.mark.spec("DM-277")
def test_every_class_has_its_constant_and_an_application_may_have_its_own() -> None:
    for value in [*MessageClass, 0x01FF]:
        assert deserialize(serialize(Message.of(message_class=value))).message_class == value
    assert (
        construct(Message.of(message_class=MessageClass.NACK_RECEIVE_REJECTED)).properties.message_class
        == 0xC004
    )


@pytest.mark.spec("DM-277")
def test_other_words_for_several_acknowledgements_are_read_as_those() -> None:
    message = Message.of(acknowledgements=(Acknowledgement.FULL_RECEIVE,))
    assert deserialize(serialize(message)).acknowledgements == (
        Acknowledgement.POS_RECEIVE,
        Acknowledgement.NEG_ARRIVAL,
        Acknowledgement.NEG_RECEIVE,
    )


@pytest.mark.spec("DM-279")
def test_lengths_are_counted() -> None:
    raw = construct(Message.of(label="abc", body=b"12345", extension=b"12")).properties.encode()
    assert raw[1] == len("abc\0")
    assert [int.from_bytes(raw[at : at + 4], "little") for at in (32, 52)] == [5, 2]


def test_numbers_that_are_not_known_are_read_as_the_default() -> None:
    header = PropertiesHeader(privacy=2, hash_algorithm=0, encryption_algorithm=0x6601)
    assert read(UserMessage(properties=header)).privacy is MessagePrivacy.NONE
    assert read(UserMessage(properties=header)).hash_algorithm is HashAlgorithm.SHA1
    assert read(UserMessage(properties=header)).encryption_algorithm is EncryptionAlgorithm.RC4


def test_an_algorithm_without_a_number_matters_only_where_it_is_used() -> None:
    plain = Message.of(encryption_algorithm=EncryptionAlgorithm.SEAL)
    assert deserialize(serialize(plain)).encryption_algorithm is EncryptionAlgorithm.RC4
    with pytest.raises(UsageError, match="no number for seal"):
        construct(plain.changed(privacy=MessagePrivacy.ADVANCED))


# -- addresses


def test_the_lineage_stands_in_for_a_source_that_is_not_named() -> None:
    assert construct(Message(identifier=ObjectId(SOURCE, 1))).user.source == SOURCE


def test_a_path_name_becomes_a_direct_name_of_the_computer_that_is_given() -> None:
    data = serialize(Message.of(response_queue="replies"), computer="pc")
    assert deserialize(data).response_queue == "DIRECT=OS:pc\\private$\\replies"


@pytest.mark.spec("DM-277")
def test_a_direct_destination_has_no_manager() -> None:
    message = Message.of(destination_queue="DIRECT=OS:a\\b", destination_manager=DESTINATION)
    assert deserialize(serialize(message)).destination_manager == NO_GUID


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(Message(label="\U0001f600" * 200), id="label of 400 units"),
        pytest.param(Message(label="a\0b"), id="zero in a label"),
        pytest.param(Message.of(correlation=ObjectId(OTHER, 1 << 32)), id="correlation"),
        pytest.param(Message(identifier=ObjectId(OTHER, 1 << 32)), id="identifier"),
        pytest.param(Message.of(message_class=1 << 16), id="class"),
        pytest.param(Message(body=bytes(0x400000)), id="body"),
        pytest.param(Message.of(response_queue="replies"), id="a path name without a computer"),
        pytest.param(Message.of(sender_certificate=bytes(0x10000)), id="certificate"),
    ],
)
def test_what_does_not_fit_into_a_packet_is_the_callers_mistake(message: Message) -> None:
    with pytest.raises(UsageError):
        serialize(message)
