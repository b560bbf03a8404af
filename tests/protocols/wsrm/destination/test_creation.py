"""Tests CreateSequence, and sequences that our source offered."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Incomplete,
    Offer,
    Reference,
    TerminateSequence,
    Version,
)
from reliquary.protocols.wsrm.destination import creation
from reliquary.protocols.wsrm.destination.creation import begin_offered, on_create, pair
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.queueing.model.security.principals import Principal
from reliquary.wire.security import Sid
from tests.protocols.wsrm.destination.rmd import ADDRESS, ANONYMOUS, POLLED, Rmd, message

NONE = Reference("http://www.w3.org/2005/08/addressing/none")


def asked(body: CreateSequence, **parts: Any) -> Envelope:
    chosen: dict[str, Any] = {"dialect": Dialect(), "message_id": "urn:create", "body": body} | parts
    return Envelope(**chosen)


def answered(rmd: Rmd, envelope: Envelope, **options: Any) -> CreateSequenceResponse:
    response = rmd.post(envelope, **options)
    assert response is not None
    assert isinstance(response.body, CreateSequenceResponse), response.body
    assert response.relates_to == envelope.message_id
    return response.body


def test_a_sequence_is_created_and_answered() -> None:
    rmd = Rmd(incomplete=Incomplete.FOLLOWING)
    body = answered(rmd, asked(CreateSequence(ANONYMOUS)))
    assert body.identifier.startswith("urn:uuid:")
    assert body.incomplete is Incomplete.FOLLOWING
    assert body.accept is None
    assert rmd.waits
    row = rmd.sequence(body.identifier).row
    assert (row.number, row.endpoint, row.queue, row.acks_to) == (1, "orders", "orders", ANONYMOUS)
    assert rmd.watched == {"orders"}


@pytest.mark.parametrize(
    ("wanted", "granted"),
    [(None, 3600), (30, 30), (3600, 3600), (999_999, 3600)],
    ids=["not said", "short", "as long as allowed", "too long"],
)
def test_the_life_is_granted_up_to_the_longest(wanted: float | None, granted: float) -> None:
    rmd = Rmd(most={"longest_life": seconds(3600)})
    expires = None if wanted is None else seconds(wanted)
    assert answered(rmd, asked(CreateSequence(ANONYMOUS, expires))).expires == seconds(granted)


@pytest.mark.parametrize(
    ("body", "options", "word"),
    [
        pytest.param(CreateSequence(NONE), {}, "AcksTo", id="AcksTo is none"),
        pytest.param(CreateSequence(Reference("")), {}, "AcksTo", id="AcksTo is empty"),
        pytest.param(CreateSequence(Reference("mailto:a@b")), {}, "AcksTo", id="AcksTo is no URL"),
        pytest.param(CreateSequence(Reference("http://a/" + "x" * 2000)), {}, "AcksTo", id="AcksTo is long"),
        pytest.param(CreateSequence(ANONYMOUS, offer=Offer("")), {}, "offer", id="an empty offer"),
        pytest.param(CreateSequence(ANONYMOUS, offer=Offer("x" * 2000)), {}, "offer", id="a long offer"),
        pytest.param(CreateSequence(ANONYMOUS), {"endpoint": ""}, "endpoint", id="no endpoint"),
        pytest.param(CreateSequence(ANONYMOUS), {"endpoint": "DIRECT=OS:far\\q"}, "endpoint", id="elsewhere"),
    ],
)
def test_what_cannot_be_served_is_refused(body: CreateSequence, options: dict[str, Any], word: str) -> None:
    rmd = Rmd()
    assert rmd.fault(asked(body), **options) == (FaultCode.CREATE_SEQUENCE_REFUSED, ())
    response = rmd.post(asked(body), **options)
    assert response is not None
    assert word in response.body.reason  # type: ignore[union-attr]
    assert rmd.state.counters.sequence == 0


def test_a_message_id_that_is_too_long_is_refused() -> None:
    refused = asked(CreateSequence(ANONYMOUS), message_id="x" * 2000)
    assert Rmd().fault(refused)[0] is FaultCode.CREATE_SEQUENCE_REFUSED


def test_the_open_sequences_of_an_endpoint_are_limited() -> None:
    rmd = Rmd(most={"most_sequences": 2})
    one, _ = rmd.create(), rmd.create()
    assert rmd.fault(asked(CreateSequence(ANONYMOUS)))[0] is FaultCode.CREATE_SEQUENCE_REFUSED
    rmd.create(endpoint="other")
    rmd.restart()
    assert rmd.fault(asked(CreateSequence(ANONYMOUS)))[0] is FaultCode.CREATE_SEQUENCE_REFUSED
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(one)))
    rmd.advance(1)
    rmd.create()


def test_there_is_a_limit_for_all_endpoints_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(creation, "MOST_OPEN", 2)
    rmd = Rmd()
    one, _ = rmd.create(), rmd.create(endpoint="b")
    assert rmd.fault(asked(CreateSequence(ANONYMOUS)), endpoint="c")[0] is FaultCode.CREATE_SEQUENCE_REFUSED
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(one)))
    rmd.create(endpoint="c")


@pytest.mark.spec("FC-046")
@pytest.mark.wsrm("T28")
def test_uses_sequence_ssl_needs_tls_from_the_creation_on() -> None:
    rmd = Rmd()
    wanted = asked(CreateSequence(ANONYMOUS), uses_ssl=True)
    assert rmd.fault(wanted)[0] is FaultCode.CREATE_SEQUENCE_REFUSED
    body = answered(rmd, wanted, secure=True)
    assert rmd.fault(message(body.identifier, 1))[0] is FaultCode.UNKNOWN_SEQUENCE
    assert rmd.post(message(body.identifier, 1), secure=True) is not None
    rmd.restart()
    assert rmd.fault(message(body.identifier, 2))[0] is FaultCode.UNKNOWN_SEQUENCE


def test_uses_sequence_str_is_accepted() -> None:
    answered(Rmd(), asked(CreateSequence(ANONYMOUS), uses_str=True))


# -- repeated


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"message_id": "a"}, {"message_id": "a"}, id="by its MessageID"),
        pytest.param({"offer": Offer("urn:o")}, {"offer": Offer("urn:o")}, id="by its offer"),
        pytest.param(
            {"message_id": "a", "offer": Offer("urn:o")}, {"message_id": "b", "offer": Offer("urn:o")},
            id="by its offer, with another MessageID",
        ),
    ],
)  # fmt: skip
def test_a_repeated_request_is_answered_as_before(first: dict[str, Any], second: dict[str, Any]) -> None:
    rmd = Rmd()
    sequence = rmd.create(expires=77, **first)
    before = rmd.durable()
    assert rmd.create(**second) == sequence
    assert rmd.durable() == before
    assert rmd.waits, "the first creation may not be on disk yet"
    assert isinstance(rmd.exchange.response, Envelope)
    assert isinstance(rmd.exchange.response.body, CreateSequenceResponse)
    assert rmd.exchange.response.body.expires == seconds(77)


def test_the_number_says_whether_the_request_was_new() -> None:
    rmd = Rmd()
    exchange = Exchange(asked(CreateSequence(ANONYMOUS)), 1, "orders")
    assert on_create(rmd.state, exchange, CreateSequence(ANONYMOUS), rmd.now) == 1
    assert on_create(rmd.state, exchange, CreateSequence(ANONYMOUS), rmd.now) == 0


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"message_id": "b"}, id="another MessageID"),
        pytest.param({"message_id": "a", "acks_to": ADDRESS}, id="another AcksTo"),
        pytest.param({"message_id": "a", "endpoint": "bills"}, id="another endpoint"),
        pytest.param({"message_id": "a", "by": Principal(Sid(5, (21, 1)))}, id="another user"),
        pytest.param({"message_id": ""}, id="nothing to recognize it by"),
    ],
)
def test_another_request_creates_another_sequence(other: dict[str, Any]) -> None:
    rmd = Rmd()
    sequence = rmd.create(message_id="a")
    assert rmd.create(**other) != sequence


def test_a_request_that_is_repeated_after_the_end_creates_a_new_sequence() -> None:
    rmd = Rmd()
    sequence = rmd.create(message_id="a")
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(sequence)))
    assert rmd.create(message_id="a") != sequence


# -- offers


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        (Reference("http://proxy.example/wsrm/orders?x"), "http://proxy.example/wsrm/orders?x"),
        (ANONYMOUS, "http://here.example/wsrm/orders"),
        (None, "http://here.example/wsrm/orders"),
    ],
    ids=["as the client wrote it", "anonymous", "not said"],
)
def test_an_offer_is_accepted_with_our_address(to: Reference | None, expected: str) -> None:
    rmd = Rmd()
    body = answered(rmd, asked(CreateSequence(ANONYMOUS, offer=Offer("urn:o")), to=to))
    assert body.accept is not None
    assert body.accept.address == expected
    assert rmd.sequence(body.identifier).row.offer == "urn:o"


def test_an_endpoint_without_offers_accepts_none() -> None:
    rmd = Rmd(offers=False)
    body = answered(rmd, asked(CreateSequence(ANONYMOUS, offer=Offer("urn:o"))))
    assert body.accept is None
    assert rmd.sequence(body.identifier).row.offer == ""


@pytest.mark.parametrize(
    ("offer", "reply_to", "acks_to", "url"),
    [
        (Offer("urn:o", ADDRESS), None, ANONYMOUS, ADDRESS.address),
        (Offer("urn:o"), ADDRESS, ANONYMOUS, ADDRESS.address),
        (Offer("urn:o"), None, ADDRESS, ADDRESS.address),
        (Offer("urn:o", ANONYMOUS), ADDRESS, ADDRESS, ""),
        (Offer("urn:o", POLLED), None, ANONYMOUS, ""),
    ],
    ids=["endpoint", "ReplyTo", "AcksTo", "anonymous endpoint", "polled endpoint"],
)
def test_the_client_of_an_offer_listens_where_it_says(
    offer: Offer, reply_to: Reference | None, acks_to: Reference, url: str
) -> None:
    rmd = Rmd()
    body = answered(rmd, asked(CreateSequence(acks_to, offer=offer), reply_to=reply_to))
    assert rmd.sequence(body.identifier).row.reply_url == url


def test_the_accepted_sequence_is_noted_and_survives() -> None:
    rmd = Rmd()
    sequence = rmd.create(offer=Offer("urn:o"))
    rmd.turn(lambda: pair(rmd.state, 1, 7))
    rmd.restart()
    assert rmd.sequence(sequence).row.offered == 7


def test_an_offered_sequence_begins_and_its_messages_go_into_the_queue_for_replies() -> None:
    rmd = Rmd()
    begin = {"dialect": Dialect(version=Version.RM10), "acks_to": ADDRESS, "now": rmd.now}
    rmd.turn(lambda: begin_offered(rmd.state, "urn:ours", "replies", **begin))  # type: ignore[arg-type]
    assert begin_offered(rmd.state, "urn:ours", "replies", **begin) == 1  # type: ignore[arg-type]
    assert rmd.watched == {"replies"}
    for to in (0, 5):  # on a response, and in a request to our address without an endpoint
        rmd.post(message("urn:ours", 1 + bool(to)), to=to, endpoint="")
    assert len(rmd.queues["replies"]) == 2
    assert rmd.fault(message("urn:ours", 3), endpoint="orders")[0] is FaultCode.UNKNOWN_SEQUENCE
