"""Tests what is refused at the send because SRMP could not carry it."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.srmp.carrier import APDU_LIMIT, SIGNATURE, carrier, size_on_wire
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import Access, CommitTransaction, OpenQueue
from reliquary.queueing.model.message import (
    Acknowledgement,
    AuthenticationLevel,
    Delivery,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
)
from reliquary.queueing.model.names.formats import MulticastName
from reliquary.queueing.model.travel.transfer import AddressesKnown
from tests.protocols.srmp.sending import Sender
from tests.queueing.answers import everything
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check

WEB = "DIRECT=HTTPS://elsewhere:8443/msmq/private$/orders"
OWN = "DIRECT=HTTP://bench/msmq/private$/orders"
GROUP = "MULTICAST=234.1.1.1:8001"
ADMIN = "DIRECT=http://bench:8480/msmq/private$/admin"
FULL = (Acknowledgement.FULL_RECEIVE,)

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a class": (
        WEB,
        {"message_class": MessageClass.ACK_RECEIVE},
        f"a message to {WEB} has the class",
    ),
    "a class of the application": (GROUP, {"message_class": 0x0100}, "has the class 256"),
    "a path elsewhere": (
        WEB,
        {"acknowledgements": FULL, "administration_queue": r"elsewhere\private$\admin"},
        "the queue 'elsewhere\\\\private$\\\\admin', which its receiver cannot find",
    ),
    "answers elsewhere": (WEB, {"response_queue": r"elsewhere\private$\q"}, "which its receiver cannot find"),
    "answers in a journal": (
        GROUP,
        {"response_queues": ("orders;journal",)},
        "names the queue 'orders;journal'",
    ),
    "a dead letter for it": (
        WEB,
        {"administration_queues": ("system$;deadletter",)},
        "names the queue 'system$;dead",
    ),
    "others elsewhere": (
        WEB,
        {"destination_queues": (r"elsewhere\private$\q",)},
        "names the queue 'elsewhere",
    ),
    "another name": (
        WEB,
        {"acknowledgements": FULL, "administration_queue": r"DIRECT=OS:bench\private$\admin"},
        "or a URL such as DIRECT=http://host/msmq/private$/admin",
    ),
    "one of two": (
        WEB,
        {
            "acknowledgements": FULL,
            "administration_queue": ADMIN,
            "administration_queues": ("PUBLIC=" + "1" * 8 + "-1111" * 3 + "-" + "1" * 12,),
        },
        "acknowledgements in 'PUBLIC=1111",
    ),
    "many answers": (
        GROUP,
        {"acknowledgements": FULL, "administration_queue": ADMIN},
        "cannot ask for acknowledgements, because each receiver",
    ),
    "a label": (WEB, {"label": "a\x00b"}, r"a label cannot contain '\x00'"),
    "half a character": (GROUP, {"label": "\ud800"}, r"a label cannot contain '\ud800'"),
    "a name": (
        WEB,
        {"response_queue": "re\x1fplies"},
        r"the name of a response queue cannot contain '\x1f'",
    ),
    "a secret": (WEB, {"privacy": MessagePrivacy.BASE}, "which SRMP does not have"),
    "a large one": (
        GROUP,
        {"body": b"x" * APDU_LIMIT},
        f"at most {APDU_LIMIT} bytes on the wire with its envelope, this one has 66",
    ),
    "a large extension": (GROUP, {"extension": b"x" * APDU_LIMIT}, "with its envelope, this one has 66"),
}


def a_bench() -> Bench:
    """Return a manager that knows SRMP's carrier, and no machine beside it."""
    return Bench(carriers=(carrier(signs=False),))


@pytest.mark.srmp("T-74", "F-73")
@pytest.mark.spec("SR-013", "SR-313")
@pytest.mark.parametrize(("name", "attributes", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_carried_is_refused_with_a_sentence_and_changes_nothing(
    name: str, attributes: dict[str, Any], why: str
) -> None:
    bench = a_bench()
    before = everything(bench.state)
    given = {"body": b"m", **attributes}
    body = given.pop("body")
    answer = bench.send(name, body, **given)
    assert answer.status is HResult.INVALID_PARAMETER
    assert why in answer.why
    several = bench.send(f"{OWN},{name}", body, **given)
    assert several.status is HResult.INVALID_PARAMETER
    assert everything(bench.state) == before
    assert bench.bodies() == []


@pytest.mark.parametrize("target", [ELSEWHERE, "orders", OWN])
@pytest.mark.parametrize("case", sorted(set(REFUSED) - {"a name"}))
def test_other_destinations_are_not_carried_by_srmp(target: str, case: str) -> None:
    _, attributes, _ = REFUSED[case]
    given = {"body": b"m", **attributes}
    assert a_bench().send(target, given.pop("body"), **given).status is HResult.OK


@pytest.mark.parametrize("name", ["admin", r".\private$\admin", r"BENCH\private$\admin", r".\public", "a;b"])
def test_a_local_queue_may_get_the_acknowledgements(name: str) -> None:
    bench = a_bench()
    heard: dict[str, Any] = {"administration_queue": name, "response_queue": name, "response_queues": (name,)}
    assert bench.send(WEB, b"m", acknowledgements=FULL, **heard).status is HResult.OK


def test_a_handle_has_the_limits_of_a_name() -> None:
    bench = a_bench()
    for name in (WEB, f"{OWN},{WEB}"):
        handle = bench.ask(OpenQueue(0, name, Access.SEND)).handle
        assert bench.send(handle, b"m", label="\x00").status is HResult.INVALID_PARAMETER
        assert bench.send(handle, b"m").status is HResult.OK
    assert bench.bodies() == [b"m"]


def test_a_transaction_goes_to_a_url_and_not_to_a_multicast_address() -> None:
    bench = a_bench()
    transaction = bench.begin()
    refused = bench.send(GROUP, b"m", transaction=transaction)
    assert refused.status is HResult.INVALID_PARAMETER
    assert refused.why == (
        f"a message to {GROUP} cannot be in a transaction, because its receivers cannot acknowledge it"
    )
    assert bench.send(WEB, b"m", transaction=transaction).status is HResult.OK
    assert bench.ask(CommitTransaction(0, transaction)).status is HResult.OK
    assert len(bench.state.names.outgoing) == 1
    check(bench.state)


def refused_size(answer: Any) -> int:
    """Return the size that a refusal names."""
    assert answer.status is HResult.INVALID_PARAMETER
    return int(answer.why.rpartition(" ")[2])


CARRIED: dict[str, dict[str, Any]] = {
    "a body": {},
    "a label": {"label": "<tick> & \u00e4"},
    "an extension": {"extension": b"e" * 700},
    "a queue of ours": {"response_queue": "orders"},
    "names and numbers": {
        "response_queue": ADMIN,
        "correlation": ObjectId(UUID(int=7), 9),
        "delivery": Delivery.RECOVERABLE,
    },
}


@pytest.mark.srmp("T-74")
@pytest.mark.spec("SR-013")
@pytest.mark.parametrize("attributes", CARRIED.values(), ids=CARRIED.keys())
@pytest.mark.parametrize("to", [GROUP, f"{GROUP},{WEB}"], ids=["one", "several"])
def test_the_size_in_a_refusal_is_the_size_on_the_wire(to: str, attributes: dict[str, Any]) -> None:
    bench = Sender()
    size = refused_size(bench.send(to, b"x" * APDU_LIMIT, **attributes))
    fits = APDU_LIMIT - (size - APDU_LIMIT)
    assert refused_size(bench.send(to, b"x" * (fits + 1), **attributes)) == APDU_LIMIT + 1
    assert bench.send(to, b"x" * fits, **attributes).status is HResult.OK
    [sent] = bench.apdus
    assert APDU_LIMIT - 60 < len(sent.data) <= APDU_LIMIT  # numbers are counted at their longest


def test_the_largest_signature_is_counted_before_it_is_made() -> None:
    state, name = a_bench().state, MulticastName(IPv4Address("234.1.1.1"), 8001)
    plain = size_on_wire(state, name, Message(body=b"m"))
    assert 700 < plain < 2000
    signed = Message.of(body=b"m", authentication=AuthenticationLevel.XML_SIG)
    assert size_on_wire(state, name, signed) == plain + SIGNATURE


def test_a_label_may_have_all_that_xml_can_say() -> None:
    exchange = Exchange()
    label = "tab\t line\n & < > \" ' ä € 😀 \ufffd"
    answer = exchange.send(WEB, b"m", label=label, acknowledgements=FULL, administration_queue=ADMIN)
    assert answer.status is HResult.OK
    (sent,) = exchange.manual_carrier.sending
    assert isinstance(sent.message, Message)
    assert sent.message.label == label


def test_a_local_url_with_a_port_is_delivered_without_a_network() -> None:
    bench = a_bench()
    bench.manager.on_signal(AddressesKnown(("HTTP",), frozenset({"bench:8480"})), bench.now)
    own = OWN.replace("bench", "bench:8480")
    assert bench.send(own, b"m", message_class=0x0100).status is HResult.OK
    assert bench.bodies() == [b"m"]


def test_a_body_of_exactly_the_limit_goes_and_one_byte_more_is_refused_at_the_send() -> None:
    bench = a_bench()
    limit = SrmpSettings().largest_message
    assert limit == 4 * 1024 * 1024
    assert bench.send(WEB, b"x" * (limit - 5), extension=b"12345").status is HResult.OK
    refused = bench.send(WEB, b"x" * limit, extension=b"1")
    assert refused.status is HResult.INVALID_PARAMETER
    assert refused.why.endswith(f"has at most {limit} bytes of body and extension, this one has {limit + 1}")
