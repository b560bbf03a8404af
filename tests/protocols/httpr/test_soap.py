"""Tests of SOAP envelopes that travel over HTTPR."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.fields import fields_of
from reliquary.protocols.httpr.message_decode import decode_message
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.protocols.httpr.soap import Soap, SoapVersion, soap_answer, soap_message, soap_of
from reliquary.queueing.model.message import Message, ObjectId
from tests.protocols.httpr.httpr_messages import HERE

ENVELOPE = b"<Envelope xmlns='http://schemas.xmlsoap.org/soap/envelope/'><Body/></Envelope>"
ANSWERS = "DIRECT=HTTPR://here/httpr/mq#answers"


def sent(message: Message, **attributes: object) -> Message:
    """Return the message at the other end."""
    stamped = message.changed(identifier=ObjectId(HERE, 7), source_machine=HERE, **attributes)
    return decode_message(Carried(*encode_message(stamped)))[1]


@pytest.mark.parametrize(
    ("version", "fields"),
    [
        (
            SoapVersion.SOAP_1_1,
            {"content-type": "text/xml; charset=utf-8", "app-soapaction": '"urn:order"'},
        ),
        (
            SoapVersion.SOAP_1_2,
            {"content-type": 'application/soap+xml; charset=utf-8; action="urn:order"'},
        ),
    ],
)
def test_an_envelope_is_the_data_and_its_action_is_where_http_has_it(
    version: SoapVersion, fields: dict[str, str]
) -> None:
    message = soap_message(ENVELOPE, action="urn:order", version=version)
    assert fields_of(message) == fields
    there = sent(message)
    assert soap_of(there) == Soap(ENVELOPE, "urn:order", version)
    assert fields.items() <= fields_of(there).items()


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)), st.sampled_from(SoapVersion))
def test_any_action_arrives(action: str, version: SoapVersion) -> None:
    assert soap_of(sent(soap_message("x", action=action, version=version))) == Soap(b"x", action, version)


@pytest.mark.parametrize("version", SoapVersion)
def test_an_answer_correlates_with_its_request_and_goes_where_it_is_wanted(version: SoapVersion) -> None:
    request = sent(soap_message(ENVELOPE, action="a", version=version, reply_to=ANSWERS))
    answer = soap_answer(request, "<answer/>")
    assert answer.destination_queue == ANSWERS
    assert answer.correlation == request.identifier
    there = sent(answer)
    assert fields_of(there)["correlation-id"] == fields_of(request)["message-id"] == f"{HERE}.7"
    assert fields_of(there)["target-uri"] == "httpr://here/httpr/mq#answers"
    assert soap_of(there) == Soap(b"<answer/>", "", version)


def test_an_answer_correlates_with_an_id_that_the_application_chose() -> None:
    request = sent(soap_message(ENVELOPE, reply_to=ANSWERS, message_id="order-7"))
    there = sent(soap_answer(request, b"<answer/>"))
    assert fields_of(there)["correlation-id"] == "order-7"
    assert there.correlation == request.identifier


def test_an_answer_correlates_with_the_id_of_a_foreign_agent() -> None:
    header = (
        "reply-uri:httpr://there/svc#Q@M\r\nmessage-id:414D51\r\n"
        "content-type: Text/XML\r\napp-soapaction: urn:x\r\n"
    )
    request = replace(decode_message(Carried(header, ENVELOPE))[1], identifier=ObjectId(HERE, 9))
    assert soap_of(request) == Soap(ENVELOPE, "urn:x", SoapVersion.SOAP_1_1)
    answer = soap_answer(request, b"<answer/>")
    there = sent(answer)
    assert fields_of(there)["correlation-id"] == "414D51"
    assert fields_of(there)["target-uri"] == "httpr://there/svc#Q@M"
    assert "app-reliquary-correlation-id" not in fields_of(there)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "content-type:text/xml\r\n",
        'app-soapaction:"x"\r\n',
        'content-type:text/plain\r\napp-soapaction:"x"\r\n',
    ],
)
def test_what_is_no_soap_is_none_and_has_no_answer(header: str) -> None:
    message = decode_message(Carried(header, ENVELOPE))[1]
    assert soap_of(message) is None
    with pytest.raises(UsageError, match="no request of SOAP"):
        soap_answer(message, b"")


def test_a_message_without_a_reply_uri_gets_no_answer() -> None:
    with pytest.raises(UsageError, match="no reply-uri"):
        soap_answer(sent(soap_message(ENVELOPE)), b"")


def test_an_action_that_no_header_can_have_is_refused() -> None:
    for version in SoapVersion:
        with pytest.raises(UsageError, match="printable"):
            soap_message(ENVELOPE, action="urn:x\r\npriority:9", version=version)
