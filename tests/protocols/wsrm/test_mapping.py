"""Messages become envelopes and come back; what the other end cannot know is written down as not carried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Instant
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Attachment,
    Dialect,
    Envelope,
    Payload,
    Properties,
    Reference,
    SequenceHeader,
)
from reliquary.protocols.wsrm.kept import Kept, kept_of
from reliquary.protocols.wsrm.mapping import (
    ACTION,
    NOT_CARRIED,
    check_sendable,
    envelope_of,
    identifier_of,
    message_id_of,
    message_of,
)
from reliquary.queueing.model.message import (
    ATTRIBUTES,
    EXTENSION_LIMIT,
    FOREVER,
    LABEL_LIMIT,
    NO_GUID,
    NO_OBJECT,
    Delivery,
    Message,
    ObjectId,
    ResponseKind,
    StoredBody,
)
from reliquary.queueing.model.message import Acknowledgement as Wanted
from tests.protocols.wsrm.codec.strategies import contents, dialects, labels
from tests.protocols.wsrm.codec.vector import GSOAP, XML_TYPE
from tests.protocols.wsrm.test_message_ids import identifiers

NOW = Instant(1_700_000_000 * SECOND)
FALLBACK = ObjectId(identifier_of("fallback").lineage, 99)
TO = Reference("http://host/wsrm/orders")
PLACE = SequenceHeader("urn:s", 1)
RECOVERABLE = Message(identifier=ObjectId(FALLBACK.lineage, 7), delivery=Delivery.RECOVERABLE)


def sent(message: Message, relates_to: str = "") -> Envelope:
    encoded = encode(envelope_of(message, Dialect(), to=TO, sequence=PLACE, relates_to=relates_to))
    return decode(encoded.content_type, encoded.data)


def arrived(envelope: Envelope, response_queue: str = "") -> Message:
    return message_of(envelope, fallback=FALLBACK, response_queue=response_queue, now=NOW)


names = st.sampled_from(["", "DIRECT=HTTP://host/msmq/a", "DIRECT=OS:host\\private$\\é"])
messages = st.builds(
    Message.of,
    identifier=identifiers,
    body=st.binary(max_size=40) | contents,
    body_type=st.integers(0, FOREVER),
    label=labels
    | st.sampled_from(["urn:a", "http://x/y?z", ACTION, "a b", " urn:a", "urn:é", "x" * LABEL_LIMIT]),
    priority=st.integers(0, 7),
    delivery=st.sampled_from(Delivery),
    message_class=st.sampled_from([0, 2, 0x8002]),
    sent_time=st.integers(1, FOREVER),
    time_to_be_received=st.just(FOREVER) | st.integers(0, FOREVER),
    correlation=st.just(NO_OBJECT) | identifiers,
    application_tag=st.integers(0, FOREVER),
    extension=st.binary(max_size=20),
    negative_journaling=st.booleans(),
    response_queue=names,
    administration_queue=names,
    acknowledgements=st.lists(st.sampled_from(Wanted), max_size=2, unique=True).map(tuple),
    trace_context=st.sampled_from(["", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 a=1,b=<2>"]),
)  # fmt: skip
CARRIED = {
    "identifier", "body", "body_type", "label", "priority", "delivery", "message_class", "sent_time",
    "time_to_be_received", "correlation", "application_tag", "extension", "negative_journaling",
    "response_queue", "administration_queue", "acknowledgements", "hops", "trace_context",
}  # fmt: skip


def test_every_attribute_is_carried_or_has_its_reason() -> None:
    assert set(ATTRIBUTES) == CARRIED | NOT_CARRIED.keys()
    assert not CARRIED & NOT_CARRIED.keys()


@given(messages, dialects)
def test_what_is_carried_comes_back(message: Message, dialect: Dialect) -> None:
    encoded = encode(envelope_of(message, dialect, to=TO, sequence=PLACE))
    envelope = decode(encoded.content_type, encoded.data)
    back = arrived(envelope)
    if envelope.properties is None:  # the time of sending is not carried then
        message = replace(message, sent_time=NOW // SECOND)
    if not message.administration_queue:
        message = message.changed(acknowledgements=())
    assert {name: getattr(back, name) for name in CARRIED} == {
        name: getattr(message, name) for name in CARRIED
    }


@given(messages)
def test_a_message_that_goes_on_is_the_one_that_came(message: Message) -> None:
    first = sent(message)
    again = sent(arrived(first))
    assert replace(again, properties=None) == replace(first, properties=None)
    assert replace(again.properties or Properties(), sent_time=0) == replace(
        first.properties or Properties(), sent_time=0
    )


# -- arriving


def test_a_message_of_gsoap_is_mapped() -> None:
    message = arrived(decode(XML_TYPE, GSOAP["rm10_soap12_message"]))
    assert message.body == b'<ns:wsrmdemo xmlns:ns="urn:wsrmdemo"><in>hello</in></ns:wsrmdemo>'
    assert message.label == "urn:wsrmdemo/wsrmdemoPort/wsrmdemo"
    assert message_id_of(message.identifier) == "urn:uuid:2d40ff64-0443-4c4f-aae8-944a625558ec"
    assert message.delivery is Delivery.RECOVERABLE
    assert message.sent_time == NOW // SECOND
    assert message.time_to_reach_queue == FOREVER
    assert message.correlation == NO_OBJECT
    assert message.source_machine == NO_GUID
    assert kept_of(message) == Kept(to="http://127.0.0.1:18000/")


def test_a_message_without_an_identifier_gets_one() -> None:
    envelope = Envelope(dialect=Dialect(), body=Payload(b"<a/>"))
    assert arrived(envelope).identifier == FALLBACK
    assert arrived(envelope).carrier_header == ""


def test_the_manager_of_a_local_message_is_known() -> None:
    assert arrived(sent(RECOVERABLE)).source_machine == FALLBACK.lineage


def test_a_reply_is_correlated_with_its_request() -> None:
    envelope = Envelope(dialect=Dialect(), relates_to="any text")
    assert arrived(envelope).correlation == identifier_of("any text")
    reply = RECOVERABLE.changed(correlation=identifier_of("any text"))
    assert sent(reply, relates_to="any text").relates_to == "any text"
    assert sent(reply, relates_to="any text").properties is None
    assert sent(reply).relates_to == message_id_of(identifier_of("any text"))
    assert arrived(sent(reply, relates_to="other text")).correlation == reply.correlation
    assert arrived(sent(RECOVERABLE, relates_to="other text")).correlation == NO_OBJECT


def test_the_response_queue_is_what_the_caller_says() -> None:
    message = arrived(Envelope(dialect=Dialect()), "DIRECT=WSRM://host/a")
    assert (message.response_queue, message.response_kind) == ("DIRECT=WSRM://host/a", ResponseKind.DIRECT)
    reported = Envelope(dialect=Dialect(), properties=Properties(response_queue="DIRECT=HTTP://b/msmq/c"))
    assert arrived(reported).response_queue == "DIRECT=HTTP://b/msmq/c"
    assert arrived(reported, "DIRECT=WSRM://host/a").response_queue == "DIRECT=WSRM://host/a"


def test_what_has_no_attribute_is_kept_and_goes_on() -> None:
    action = "urn:" + "x" * 1000
    endpoint = Reference("http://back", b"<p/>")
    envelope = Envelope(dialect=Dialect(), action=action, message_id="any text", reply_to=endpoint, to=TO)
    message = arrived(envelope)
    assert message.label == action[:LABEL_LIMIT]
    assert kept_of(message) == Kept(TO.address, "any text", action, endpoint)
    again = sent(message)
    assert (again.action, again.message_id) == (action, "any text")
    relabelled = sent(replace(message, label="urn:b", identifier=FALLBACK))
    assert (relabelled.action, relabelled.message_id) == ("urn:b", message_id_of(FALLBACK))


def test_an_anonymous_reply_address_is_not_worth_keeping() -> None:
    anonymous = Reference("http://www.w3.org/2005/08/addressing/anonymous")
    assert arrived(Envelope(dialect=Dialect(), reply_to=anonymous)).carrier_header == ""


def test_attachments_are_the_extension() -> None:
    picture = Attachment("image/png", "a@b", b"\x89PNG")
    content = b'<a><xop:Include href="cid:a@b" xmlns:xop="http://www.w3.org/2004/08/xop/include"/></a>'
    payload = Payload(content, (picture,), "application/soap+xml")
    message = arrived(Envelope(dialect=Dialect(), action="urn:a", body=payload))
    assert message.body == content
    assert sent(message).body == payload


@pytest.mark.parametrize(
    "envelope",
    [
        Envelope(dialect=Dialect(), body=Payload(b'<Binary xmlns="urn:reliquary:wsrm">?</Binary>')),
        Envelope(dialect=Dialect(), properties=Properties(priority=8)),
        Envelope(dialect=Dialect(), properties=Properties(label="x" * (LABEL_LIMIT + 1))),
        Envelope(dialect=Dialect(), properties=Properties(correlation="x")),
        Envelope(
            dialect=Dialect(),
            properties=Properties(administration_queue="DIRECT=OS:a\\b", acknowledgements=("sometimes",)),
        ),
        Envelope(
            dialect=Dialect(),
            body=Payload(attachments=(Attachment("a/b", "c", b"x" * (EXTENSION_LIMIT + 1)),)),
        ),
    ],
    ids=["base64", "priority", "label", "correlation", "acknowledgements", "attachments"],
)
def test_what_can_be_no_message_is_refused(envelope: Envelope) -> None:
    with pytest.raises(WsrmFault) as caught:
        arrived(envelope)
    assert caught.value.fault.code is FaultCode.SENDER
    assert caught.value.why


# -- leaving


def test_a_plain_message_has_no_properties() -> None:
    message = replace(RECOVERABLE, label="urn:a", body=b"<a/>", sent_time=5)
    envelope = sent(message)
    assert envelope == Envelope(
        dialect=Dialect(),
        action="urn:a",
        to=TO,
        message_id=f"uuid:7@{FALLBACK.lineage}",
        sequence=PLACE,
        body=Payload(b"<a/>"),
    )


def test_what_the_caller_adds_is_there() -> None:
    acknowledgement = Acknowledgement("urn:b", ((1, 2),), buffer=3)
    envelope = envelope_of(
        RECOVERABLE,
        Dialect(),
        to=TO,
        sequence=PLACE,
        reply_to=Reference("http://me"),
        ack_requests=("urn:s",),
        acknowledgements=(acknowledgement,),
    )
    assert envelope.reply_to == Reference("http://me")
    assert envelope.ack_requests == ("urn:s",)
    assert envelope.acknowledgements == (acknowledgement,)
    assert envelope.sequence == PLACE


@pytest.mark.parametrize(
    ("label", "action"),
    [
        ("", ACTION),
        ("urn:a", "urn:a"),
        ("http://host/a?b=c#d", "http://host/a?b=c#d"),
        ("an order", ACTION),
        ("orders:new<1>", ACTION),
        ('urn:"a"', ACTION),
        ("urn:é", ACTION),
        ("1:a", ACTION),
        ("urn:", ACTION),
        (ACTION, ACTION),
        ("http://docs.oasis-open.org/ws-rx/wsrm/200702/CreateSequence", ACTION),
        ("http://schemas.xmlsoap.org/ws/2005/02/rm/LastMessage", ACTION),
        ("http://www.w3.org/2005/08/addressing/fault", ACTION),
    ],
)
def test_a_label_that_is_a_uri_is_the_action(label: str, action: str) -> None:
    envelope = sent(replace(RECOVERABLE, label=label))
    assert envelope.action == action
    assert arrived(envelope).label == label
    assert (envelope.properties is None) is (action == label != ACTION or not label)


def test_a_path_name_means_nothing_elsewhere() -> None:
    message = RECOVERABLE.changed(
        response_queue=".\\private$\\a",
        administration_queue="private$\\b",
        acknowledgements=(Wanted.POS_ARRIVAL,),
    )
    assert sent(message).properties is None


def test_properties_are_not_written_where_the_endpoint_says_it() -> None:
    message = RECOVERABLE.changed(response_queue="DIRECT=WSRM://me/a")
    envelope = envelope_of(message, Dialect(), to=TO, sequence=PLACE, reply_to=Reference("http://me/a"))
    assert envelope.properties is None
    assert sent(message).properties == Properties(response_queue="DIRECT=WSRM://me/a")


@pytest.mark.parametrize("name", ["label", "response_queue", "administration_queue"])
def test_characters_that_xml_cannot_hold_are_refused_at_once(name: str) -> None:
    message = RECOVERABLE.changed(**{name: "DIRECT=OS:a\\b\x01"})
    with pytest.raises(UsageError, match=r"XML cannot hold the character U\+0001"):
        check_sendable(message)
    with pytest.raises(UsageError):
        sent(message)


def test_a_body_in_pieces_is_refused() -> None:
    with pytest.raises(UsageError, match="5000000 bytes"):
        check_sendable(RECOVERABLE.changed(stored_body=StoredBody(1, 5_000_000, 5)))
