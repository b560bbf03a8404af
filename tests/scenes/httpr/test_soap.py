"""Tests SOAP over HTTPR: a request and its answer through queues, each of them exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.fields import fields_of
from reliquary.protocols.httpr.soap import SoapVersion, soap_answer, soap_message, soap_of
from reliquary.queueing.model.events import SendMessages
from reliquary.queueing.model.message import Message
from reliquary.server.httpr_options import HttprOptions
from tests.scenes.httpr.harness import Side
from tests.scenes.httpr.network import Network
from tests.server.test_httpr_between import destination
from tests.server.test_srmp_between import play, site, texts

ORDER, ANSWER = b"<Envelope><order/></Envelope>", b"<Envelope><taken/></Envelope>"
SHOP = "DIRECT=HTTPR://shop.example/httpr/mq#incoming"


def send(side: Side, to: str, message: Message) -> None:
    """Send one message as an application of this side."""
    assert not side.ask(SendMessages(0, to, (message,))).status.value


def receive(side: Side, queue: str = "incoming") -> Message:
    """Receive the only message of a queue."""
    (received,) = side.receive(queue).messages
    message: Message = received.message
    return message


@pytest.mark.parametrize("version", SoapVersion)
@pytest.mark.parametrize("message_id", ["order-7", ""])
def test_a_request_is_answered_once_although_both_responses_of_http_are_lost(
    version: SoapVersion, message_id: str
) -> None:
    here, shop = Side("here.example"), Side("shop.example")
    network = Network(here, shop)
    network.loses_answer = lambda lines: "transactionid:0000000000000001" in lines
    request = soap_message(
        ORDER, action="urn:order", version=version, reply_to="incoming", message_id=message_id
    )  # fmt: skip
    send(here, SHOP, request)
    network.carry()
    asked = receive(shop)
    soap = soap_of(asked)
    assert soap is not None
    assert (soap.envelope, soap.action, soap.version) == (ORDER, "urn:order", version)
    assert fields_of(asked)["reply-uri"] == "httpr://here.example/httpr/mq#incoming"
    answer = soap_answer(asked, ANSWER)
    send(shop, answer.destination_queue, answer)
    network.advance(5)
    answered = receive(here)
    assert answered.body == ANSWER
    assert fields_of(answered)["correlation-id"] == fields_of(asked)["message-id"]
    assert message_id in ("", fields_of(asked)["message-id"])
    assert (here.bodies("incoming"), shop.bodies("incoming")) == ([], [])
    assert [each.answer for each in network.went if each.request.batch] == [None, None]


def test_a_message_without_a_reply_uri_is_one_way() -> None:
    here, shop = Side("here.example"), Side("shop.example")
    send(here, SHOP, soap_message(ORDER, action="urn:order"))
    Network(here, shop).carry()
    asked = receive(shop)
    assert "reply-uri" not in fields_of(asked)
    with pytest.raises(UsageError, match="reply-uri"):
        soap_answer(asked, ANSWER)


@pytest.mark.spec("HR-005")
def test_an_application_of_the_api_gives_equal_results(tmp_path: Path) -> None:
    xml = "text/xml; charset=utf-8"
    fields = {"content-type": xml, "app-soapaction": '"urn:order"', "message-id": "order-7"}

    async def scene() -> None:
        async with (
            site(tmp_path / "here", tables=(HttprOptions(),)) as here,
            site(tmp_path / "shop", tables=(HttprOptions(),)) as shop,
        ):
            await here.create("answers")
            await shop.create("orders")
            order = ORDER.decode()
            await here.send(destination(shop, "orders"), order, httpr=fields, response_queue="answers")
            (asked,) = await shop.receive("orders", 1)
            assert texts([asked]) == [order]
            assert asked["httpr"].items() >= fields.items()
            answers = {"correlation-id": asked["httpr"]["message-id"]}
            correlated = {"content-type": xml, "app-soapaction": '""', **answers}
            await shop.send(asked["response_queue"], ANSWER.decode(), httpr=correlated)
            (answered,) = await here.receive("answers", 1)
            assert texts([answered]) == [ANSWER.decode()]
            assert answered["httpr"]["correlation-id"] == "order-7"

    play(scene)
