"""Tests messages as envelopes and back, attribute by attribute."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import LAST_SECOND
from reliquary.protocols.srmp.codec.compound import compound
from reliquary.protocols.srmp.codec.decode import decode
from reliquary.protocols.srmp.codec.encode import encode
from reliquary.protocols.srmp.codec.lexical import moment_text
from reliquary.protocols.srmp.codec.messages import NOT_CARRIED, envelope_of, format_name, message_of, url_of
from reliquary.protocols.srmp.codec.values import Arrived, CommitmentRequest, StreamPosition
from reliquary.queueing.model.message import (
    ATTRIBUTES,
    FOREVER,
    NO_GUID,
    NO_OBJECT,
    Acknowledgement,
    AdministrationKind,
    AuthenticationLevel,
    Delivery,
    DestinationKind,
    HashAlgorithm,
    Message,
    MessageClass,
    ObjectId,
    ResponseKind,
    SenderKind,
    SequenceId,
)
from tests.protocols.srmp.codec.envelopes import FIRST, FOURTH, FULL, PLAIN, SMALL, changed, without
from tests.protocols.srmp.codec.vector import ALPHA, BETA, LARGEST, STREAM, VECTORS
from tests.queueing.full_messages import FULL as EVERYTHING

SENT = 1_375_358_400
FOUR_DAYS = 345_600
ORDERS = "DIRECT=http://beta.example/msmq/private$/orders"
ADMIN = "DIRECT=http://alpha.example/msmq/private$/admin"


def arrived(envelope: str) -> Arrived:
    return decode("text/xml", envelope.encode(), largest=LARGEST)


def came(envelope: str) -> Message:
    return message_of(arrived(envelope))


# -- out of an envelope


@pytest.mark.srmp("T-01", "F-51")
@pytest.mark.spec("SR-164", "SR-167", "SR-169", "SR-170")
def test_a_message_without_msmq_has_the_defaults() -> None:
    vector = VECTORS["c1_min"]
    assert message_of(decode(vector.content_type, vector.body, largest=LARGEST)) == Message.of(
        identifier=ObjectId(NO_GUID, 1),
        body=b"hello",
        sent_time=SENT,
        time_to_reach_queue=FOUR_DAYS,
        destination_queue=ORDERS,
        destination_kind=DestinationKind.DIRECT,
        soap_envelope=vector.envelope,
    )


@pytest.mark.spec("SR-164", "SR-165", "SR-166", "SR-168", "SR-172", "SR-173", "SR-175", "SR-176", "SR-177")
@pytest.mark.spec("SR-179", "SR-180", "SR-181")
def test_a_message_has_all_that_its_envelope_says() -> None:
    vector = VECTORS["c1_max"]
    other = "DIRECT=http://gamma.example/msmq/private$/"
    assert message_of(decode(vector.content_type, vector.body, largest=LARGEST)) == Message.of(
        identifier=ObjectId(ALPHA, 42),
        body=b"payload bytes",
        extension=b"ext bytes",
        body_type=8,
        label="order 4711",
        priority=7,
        sent_time=SENT,
        time_to_reach_queue=FOUR_DAYS,
        correlation=ObjectId(ALPHA, 41),
        application_tag=36,
        acknowledgements=(
            Acknowledgement.POS_ARRIVAL,
            Acknowledgement.POS_RECEIVE,
            Acknowledgement.NEG_RECEIVE,
        ),
        positive_journaling=True,
        negative_journaling=True,
        tracing_requested=True,
        response_queue="DIRECT=http://alpha.example/msmq/private$/resp",
        response_queues=("DIRECT=http://alpha.example/msmq/private$/resp", f"{other}resp"),
        destination_queue=ORDERS,
        destination_queues=(ORDERS, f"{other}orders"),
        administration_queue=ADMIN,
        administration_queues=(ADMIN, f"{other}admin"),
        source_machine=ALPHA,
        destination_kind=DestinationKind.DIRECT,
        administration_kind=AdministrationKind.DIRECT,
        response_kind=ResponseKind.DIRECT,
        connector_type=UUID("fd0f2c55-7a0e-4a3f-9a0b-5d1f7e6c2b90"),
        authentication_provider_name="Microsoft Base Cryptographic Provider, v1.0",
        final_ack_required=True,
        soap_envelope=vector.envelope,
    )


@pytest.mark.spec("SR-072", "SR-171", "SR-174", "SR-178")
def test_a_message_of_a_stream_has_its_place_and_is_recoverable() -> None:
    fourth = came(FOURTH)
    assert fourth.delivery is Delivery.RECOVERABLE
    assert fourth.sequence == SequenceId(ordinal=7, timestamp=0x51FA4DC0)
    assert (fourth.sequence_number, fourth.previous_sequence_number) == (4, 2)
    assert fourth.is_transactional
    assert fourth.first_in_transaction
    assert fourth.last_in_transaction
    assert fourth.connector_manager == UUID("0d9a5c1e-64a2-4a5b-8c33-2b7f9e0a1d44")
    first = came(FIRST)
    assert first.transaction_status_queue == "http://alpha.example/MSMQ/PRIVATE$/order_queue$"
    assert first.administration_queue == ""
    windows = changed(without(FIRST, "services"), ("<stream ", "<Stream "), ("</stream>", "</Stream>"))
    assert came(windows).delivery is Delivery.RECOVERABLE


@pytest.mark.srmp("F-16")
@pytest.mark.spec("SR-165")
@pytest.mark.parametrize(
    ("action", "label"),
    [
        ("MSMQ:", ""),
        ("MSMQ: a b ", " a b "),
        ("Generic label", ""),
        ("", ""),
        ("msmq:x", ""),
        ("\nMSMQ:x", "x"),
    ],
)
def test_only_an_action_of_msmq_is_a_label(action: str, label: str) -> None:
    assert came(changed(SMALL, ("MSMQ:", action))).label == label


@pytest.mark.srmp("F-26")
@pytest.mark.spec("SR-168")
@pytest.mark.parametrize(
    ("via", "name"),
    [
        ("MSMQ:DIRECT=OS:alpha\\private$\\resp", "DIRECT=OS:alpha\\private$\\resp"),
        ("https://alpha/msmq/q", "DIRECT=https://alpha/msmq/q"),
        ("", ""),
        ("mailto:somebody", ""),
    ],
)
def test_the_response_queue_is_a_format_name(via: str, name: str) -> None:
    message = came(changed(FULL, ("<via>http://alpha.example/msmq/private$/resp", f"<via>{via}")))
    assert message.response_queue == name


@pytest.mark.spec("SR-166")
def test_a_multicast_destination_loses_its_prefix() -> None:
    assert came(VECTORS["c8"].envelope).destination_queue == "MULTICAST=234.1.1.1:8001"


@pytest.mark.srmp("F-30", "F-31")
@pytest.mark.spec("SR-169", "SR-181", "SR-193")
def test_the_time_to_reach_the_queue_is_a_span() -> None:
    later = changed(PLAIN, ("<TTrq>20130805", "<TTrq>20130802"))
    assert came(later).time_to_reach_queue == FOUR_DAYS // 4  # TTrq wins over expiresAt
    assert came(changed(PLAIN, ("<TTrq>2013", "<TTrq>2012"))).time_to_reach_queue == 0  # F-31
    assert came(changed(PLAIN, ("20130805T120000", "20380119T031407"))).time_to_reach_queue == FOREVER
    assert came(changed(PLAIN, ("20130805T120000", "99991231T235959"))).time_to_reach_queue == FOREVER
    unsent = without(PLAIN, "sentAt")
    assert came(unsent).sent_time == 0
    assert message_of(arrived(unsent), now=SENT + 60).time_to_reach_queue == FOUR_DAYS - 60  # F-30
    assert message_of(arrived(unsent), now=SENT + 60).sent_time == 0


@pytest.mark.spec("SR-173")
def test_different_queues_for_receipts_are_kept_in_the_envelope() -> None:
    other = "<sendTo>http://alpha.example/msmq/private$/done</sendTo><positiveOnly/>"
    envelope = changed(
        FULL, ("<sendTo>http://alpha.example/msmq/private$/admin</sendTo><positiveOnly/>", other)
    )
    assert came(envelope).administration_queue == ADMIN
    assert arrived(envelope).envelope.commitment == CommitmentRequest(
        send_to="http://alpha.example/msmq/private$/done", positive=True, negative=True
    )
    only = came(without(envelope, "deliveryReceiptRequest"))
    assert only.administration_queue == "DIRECT=http://alpha.example/msmq/private$/done"
    assert only.acknowledgements == (Acknowledgement.POS_RECEIVE, Acknowledgement.NEG_RECEIVE)
    assert only.final_ack_required


def test_hash_algorithms_that_are_not_known_are_the_default() -> None:
    def algorithm(number: int) -> HashAlgorithm:
        return came(changed(FULL, (">32772<", f">{number}<"))).hash_algorithm

    assert algorithm(32771) is HashAlgorithm.MD5
    assert algorithm(32780) is HashAlgorithm.SHA_256
    assert algorithm(32782) is HashAlgorithm.SHA_512
    assert algorithm(0) is algorithm(7) is HashAlgorithm.SHA1


def test_a_receipt_is_correlated_with_its_message() -> None:
    assert came(VECTORS["c4_min"].envelope).correlation == ObjectId(ALPHA, 43)
    assert came(VECTORS["c5_max"].envelope).correlation == ObjectId(ALPHA, 42)
    assert came(VECTORS["c6_final"].envelope).correlation == ObjectId(ALPHA, 48)
    odd = changed(VECTORS["c4_min"].envelope, (f"uuid:43@{ALPHA}", "something else"))
    assert came(odd).correlation == NO_OBJECT


def test_a_signature_that_was_not_verified_authenticates_nothing() -> None:
    assert came(VECTORS["c7_max"].envelope).authentication is AuthenticationLevel.NONE


# -- names


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("http://h/msmq/private$/q", "DIRECT=http://h/msmq/private$/q"),
        ("https://h:8443/msmq/q", "DIRECT=https://h:8443/msmq/q"),
        ("MSMQ:MULTICAST=234.1.1.1:8001", "MULTICAST=234.1.1.1:8001"),
        ("MSMQ:DIRECT=OS:h\\private$\\q", "DIRECT=OS:h\\private$\\q"),
        ("MSMQ:PUBLIC=00000000-0000-0000-0000-000000000001", "PUBLIC=00000000-0000-0000-0000-000000000001"),
        ("", ""),
    ],
)
def test_names_go_both_ways(wire: str, name: str) -> None:
    assert format_name(wire) == name
    assert url_of(name) == wire


@pytest.mark.spec("SR-030", "SR-031")
def test_a_scheme_is_written_in_lower_case() -> None:
    assert url_of("DIRECT=HTTP://Host/MSMQ/Q") == "http://Host/MSMQ/Q"
    assert url_of("direct=HTTPS://Host/MSMQ/Q") == "https://Host/MSMQ/Q"
    assert url_of("http://Host/q") == "http://Host/q"


def test_a_path_name_of_our_own_needs_to_know_where_we_are() -> None:
    assert url_of("replies", "http://alpha.example") == "http://alpha.example/msmq/private$/replies"
    assert url_of(".\\replies", "https://alpha:8443") == "https://alpha:8443/msmq/replies"
    with pytest.raises(UsageError, match="replies"):
        url_of("replies")


# -- to an envelope

MESSAGE = Message.of(
    identifier=ObjectId(ALPHA, 43),
    source_machine=ALPHA,
    destination_queue=ORDERS,
    sent_time=SENT,
    delivery=Delivery.RECOVERABLE,
)
PLACE = StreamPosition(
    identifier=f"uid:{ALPHA}\\{STREAM}",
    sender=ALPHA,
    number=STREAM,
    current=1,
    previous=0,
    receipts_to="http://a/b",
)


def with_(**changes: object) -> Message:
    return MESSAGE.changed(**changes)


@pytest.mark.spec("SR-273", "SR-276", "SR-277", "SR-282")
def test_a_message_is_an_envelope() -> None:
    envelope = envelope_of(MESSAGE)
    assert (envelope.action, envelope.to) == ("MSMQ:", "http://beta.example/msmq/private$/orders")
    assert envelope.id == f"uuid:43@{ALPHA}"
    assert (envelope.sent_at, envelope.expires_at) == (SENT, SENT + FOUR_DAYS)
    assert envelope.durable
    assert envelope.msmq
    assert (envelope.msmq.source, envelope.msmq.reach_by) == (ALPHA, SENT + FOUR_DAYS)
    assert envelope_of(with_(source_machine=NO_GUID)).msmq == envelope.msmq


@pytest.mark.spec("SR-278")
@pytest.mark.parametrize(
    ("asked", "delivery", "positive", "negative"),
    [
        ((), False, False, False),
        ((Acknowledgement.POS_ARRIVAL,), True, False, False),
        ((Acknowledgement.POS_RECEIVE,), False, True, False),
        ((Acknowledgement.NEG_RECEIVE,), False, False, True),
        ((Acknowledgement.NEG_ARRIVAL,), False, False, False),
        ((Acknowledgement.NACK_REACH_QUEUE,), False, False, False),
        ((Acknowledgement.FULL_REACH_QUEUE,), True, False, False),
        ((Acknowledgement.NACK_RECEIVE,), False, False, True),
        ((Acknowledgement.FULL_RECEIVE,), False, True, True),
    ],
)
def test_receipts_are_asked_for_as_acknowledgements_are(
    asked: tuple[Acknowledgement, ...], delivery: bool, positive: bool, negative: bool
) -> None:
    envelope = envelope_of(with_(acknowledgements=asked, administration_queue=ADMIN))
    url = "http://alpha.example/msmq/private$/admin"
    assert envelope.delivery_to == (url if delivery else "")
    wanted = CommitmentRequest(send_to=url, positive=positive, negative=negative)
    assert envelope.commitment == (wanted if positive or negative else None)
    nowhere = envelope_of(with_(acknowledgements=asked))
    assert (nowhere.delivery_to, nowhere.commitment) == ("", None)
    multicast = envelope_of(
        with_(
            acknowledgements=asked, administration_queue=ADMIN, destination_queue="MULTICAST=234.1.1.1:8001"
        )
    )
    assert (multicast.delivery_to, multicast.commitment) == ("", None)


def test_our_own_queues_get_a_url() -> None:
    message = with_(
        acknowledgements=(Acknowledgement.POS_ARRIVAL,),
        administration_queue="admin",
        response_queue="replies",
    )
    envelope = envelope_of(message, here="http://alpha.example")
    assert envelope.delivery_to == "http://alpha.example/msmq/private$/admin"
    assert envelope.via == "http://alpha.example/msmq/private$/replies"


REFUSED = [
    pytest.param({"response_queue": "replies"}, id="a path name without a computer"),
    pytest.param(
        {
            "acknowledgements": (Acknowledgement.POS_ARRIVAL,),
            "administration_queue": "DIRECT=OS:alpha\\admin",
        },
        id="F-73 receipts to a queue without a URL",
    ),
    pytest.param({"priority": 8}, id="F-73 priority"),
    pytest.param({"label": "a\0b"}, id="a character that XML cannot hold"),
    pytest.param({"label": "\ud800"}, id="half a character"),
    pytest.param({"response_queues": ("DIRECT=OS:alpha\\my queue",)}, id="white space in a list"),
    pytest.param({"correlation": ObjectId(ALPHA, 2**32)}, id="correlation"),
]


@pytest.mark.srmp("F-73")
@pytest.mark.parametrize("changes", REFUSED)
def test_what_cannot_stand_in_an_envelope_is_the_callers_mistake(changes: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        encode(with_(**changes))


def test_a_stream_does_not_go_by_multicast() -> None:
    with pytest.raises(UsageError, match="multicast"):
        encode(with_(destination_queue="MULTICAST=234.1.1.1:8001"), PLACE)


@pytest.mark.spec("SR-092", "SR-279")
def test_a_message_of_a_stream_is_durable_and_has_no_priority() -> None:
    envelope = envelope_of(with_(priority=5, delivery=Delivery.EXPRESS), PLACE)
    assert envelope.stream == PLACE
    assert envelope.durable
    assert envelope.msmq
    assert envelope.msmq.priority == 0


def test_a_time_without_end_is_written_as_windows_does() -> None:
    message = with_(time_to_reach_queue=FOREVER)
    assert "<TTrq>20380119T031407</TTrq>" in encode(message)
    assert came(encode(message)).time_to_reach_queue == FOREVER


@pytest.mark.parametrize("sent", [0x7FFF_FFFE, 0x7FFF_FFFF, 0x8000_0000, LAST_SECOND])
def test_a_time_without_end_has_no_end_after_2038(sent: int) -> None:
    message = with_(time_to_reach_queue=FOREVER, sent_time=sent)
    assert came(encode(message)).time_to_reach_queue == FOREVER


@pytest.mark.spec("SR-276")
@pytest.mark.parametrize("seconds", [0, 60, FOUR_DAYS - 1, FOUR_DAYS + 1, 2 * FOUR_DAYS])
def test_the_time_to_be_received_goes_where_windows_has_it(seconds: int) -> None:
    message = with_(time_to_be_received=seconds)
    assert envelope_of(message).expires_at == SENT + seconds
    again = came(encode(message))
    assert (again.time_to_be_received, again.time_to_reach_queue) == (seconds, FOUR_DAYS)


def test_a_time_to_be_received_that_is_the_time_to_reach_the_queue_is_distinguished() -> None:
    again = came(encode(with_(time_to_be_received=FOUR_DAYS)))
    assert (again.time_to_be_received, again.time_to_reach_queue) == (FOUR_DAYS + 1, FOUR_DAYS)


def test_a_message_without_a_time_to_be_received_has_none_at_the_receiver() -> None:
    assert came(encode(MESSAGE)).time_to_be_received == FOREVER
    assert came(VECTORS["published_4_5"].envelope).time_to_be_received == FOREVER
    assert came(changed(SMALL, ("20130805", "20130802"))).time_to_be_received == FOREVER


@pytest.mark.spec("SR-049")
def test_a_message_is_written_unchanged_whenever_it_goes() -> None:
    assert encode(MESSAGE) == encode(MESSAGE)
    assert f"<sentAt>{moment_text(SENT)}</sentAt>" in encode(MESSAGE)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_attribute_is_carried_or_is_said_not_to_be(name: str) -> None:
    others = {
        "delay": 5,
        "destination_kind": DestinationKind.DIRECT,
        "sender_kind": SenderKind.NONE,
        "destination_queue": "DIRECT=http://beta/msmq/other",
        "administration_queue": ADMIN,
        "response_queue": ADMIN,
    }
    value = others.get(name, getattr(EVERYTHING, name))
    asking = with_(acknowledgements=(Acknowledgement.POS_ARRIVAL,), delivery=Delivery.EXPRESS)
    base = asking.changed(administration_queue="DIRECT=http://alpha/msmq/a")
    changed_one = base.changed(**{name: value})
    assert getattr(base, name) != value
    assert (_written(base) == _written(changed_one)) is (name in NOT_CARRIED)


def _written(message: Message) -> bytes:
    return compound(encode(message), message.body, message.extension, ALPHA, 1).body


@pytest.mark.spec("SR-080", "SR-085")
@pytest.mark.parametrize(
    ("message_class", "block"),
    [
        (
            MessageClass.ACK_REACH_QUEUE,
            "<deliveryReceipt><receivedAt>20130801T120000</receivedAt><id>{}</id>",
        ),
        (
            MessageClass.ACK_RECEIVE,
            "<commitmentReceipt><decidedAt>20130801T120000</decidedAt><decision>positive</decision><id>{}</id>",
        ),
        (
            MessageClass.NACK_QUEUE_PURGED,
            "<commitmentReceipt><decidedAt>20130801T120000</decidedAt><decision>negative</decision><id>{}</id>",
        ),
    ],
)
def test_an_acknowledgement_of_the_manager_is_a_receipt(message_class: MessageClass, block: str) -> None:
    message = with_(message_class=message_class, correlation=ObjectId(BETA, 7))
    assert block.format(f"uuid:7@{BETA}") in encode(message)
    made = encode(message.changed(soap_header="<made/>"))
    assert "<made/><Msmq" in made
    assert "Receipt>" not in made


# -- both ways


@pytest.mark.srmp("T-02")
@pytest.mark.parametrize("name", ["c1_max", "c2_max", "c3_max", "c7_max"])
def test_a_full_message_is_written_as_it_came(name: str) -> None:
    vector = VECTORS[name]
    came_in = decode(vector.content_type, vector.body, largest=LARGEST)
    again = encode(message_of(came_in), came_in.envelope.stream, signature=came_in.envelope.signature)
    assert again == vector.envelope


@pytest.mark.srmp("T-06")
@pytest.mark.parametrize(
    "label", ["R&D <1> \"quoted\" 'single'", "Grüße, 日本, 🐘", "a\r\nb\tc", "]]>", " x "]
)
def test_any_label_arrives_as_it_was(label: str) -> None:
    assert came(encode(with_(label=label))).label == label


@pytest.mark.srmp("T-07")
@pytest.mark.spec("SR-274", "SR-026")
def test_an_empty_label_is_written_as_a_label() -> None:
    assert "<action>MSMQ:</action>" in encode(MESSAGE)
