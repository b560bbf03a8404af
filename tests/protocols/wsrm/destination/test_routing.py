"""Requests at an endpoint reach the queue that the settings name."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.protocols.wsrm.codec.values import Dialect
from reliquary.protocols.wsrm.destination.routing import onward, queue_of, settings_of
from reliquary.protocols.wsrm.destination.tables import Inbound
from reliquary.protocols.wsrm.settings import Assurance, EndpointSettings, WsrmSettings
from reliquary.queueing.model.message import Delivery, Message
from tests.protocols.wsrm.destination.rmd import ANONYMOUS


@pytest.mark.parametrize(
    ("queue", "name", "expected"),
    [
        pytest.param("", "orders", "orders", id="the queue of that name"),
        pytest.param("", "private$/orders", "private$/orders", id="a private queue"),
        pytest.param("bills", "orders", "bills", id="another queue"),
        pytest.param("DIRECT=OS:far\\q", "orders", "DIRECT=OS:far\\q", id="the settings pass it on"),
        pytest.param("", "DIRECT=OS:far\\q", "", id="a peer names a queue of another manager"),
        pytest.param("", "wsrm://far.example/q", "", id="a peer names a URL"),
    ],
)
def test_an_endpoint_has_its_queue(queue: str, name: str, expected: str) -> None:
    assert queue_of(EndpointSettings(name=name, queue=queue), name) == expected


def row(endpoint: str) -> Inbound:
    return Inbound(1, "urn:a", endpoint, "orders", Dialect(), ANONYMOUS, 1, 1)


def test_a_sequence_follows_the_settings_of_its_endpoint() -> None:
    listed = EndpointSettings(name="orders", window=3, ordered=False)
    assert settings_of(WsrmSettings(endpoints=(listed,)), row("orders")) is listed


def test_a_sequence_without_an_endpoint_has_the_defaults() -> None:
    settings = WsrmSettings(open_endpoints=False, window=5)
    for name in ("removed", ""):
        found = settings_of(settings, row(name))
        assert (found.queue, found.window, found.ordered) == ("orders", 5, True)


# -- messages that are passed on

TRANSACTION = UUID(int=7)
CAME = (Message.of(body=b"1", carrier_header="<kept/>"), Message(body=b"2", delivery=Delivery.EXPRESS))


@pytest.mark.parametrize("queue", ["DIRECT=HTTPS://far.example/q", "DIRECT=?"])
@pytest.mark.parametrize(
    ("parts", "transaction"),
    [
        pytest.param({}, TRANSACTION, id="in order and once"),
        pytest.param({"ordered": False}, None, id="in any order"),
        pytest.param({"assurance": Assurance.AT_LEAST_ONCE}, None, id="at least once"),
        pytest.param({"assurance": Assurance.AT_MOST_ONCE}, None, id="at most once"),
    ],
)
def test_messages_are_passed_on_as_the_endpoint_assures(
    queue: str, parts: dict[str, Any], transaction: UUID | None
) -> None:
    found = onward(CAME, EndpointSettings(name="orders", queue=queue, **parts), queue, TRANSACTION)
    assert [each.body for each in found] == [b"1", b"2"]
    assert [each.carrier_header for each in found] == ["", ""]
    assert [each.transaction for each in found] == [transaction, transaction]


@pytest.mark.parametrize("queue", ["orders", "wsrm://far.example/q", "DIRECT=WSRMS://far.example/q"])
def test_messages_that_go_to_no_other_protocol_stay_as_they_are(queue: str) -> None:
    assert onward(CAME, EndpointSettings(name="orders"), queue, TRANSACTION) is CAME
