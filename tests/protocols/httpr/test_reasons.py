"""Tests the reason of an error as a sentence: written by our server, read by our client."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.codec.headers import encode_response
from reliquary.protocols.httpr.codec.values import Error, ErrorNumber, ResponseHeader, SessionMark
from reliquary.protocols.httpr.reasons import REASON, reason_fields, reason_in
from tests.protocols.httpr.client_harness import Client, error
from tests.protocols.httpr.far_server import ORDERS, ClientBench, Far
from tests.protocols.httpr.httpr_harness import HttprBench

TERMINATING = Error.of(ErrorNumber.RESOURCE_MANAGER_TERMINATING)


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        ("there is no queue x", "there is no queue x"),
        ("two\r\nlines:and\x00more", "two??lines:and?more"),
        ("café 東", "caf? ?"),
        (" x ", "x"),
        ("x" * 5000, "x" * 200),
        ("", ""),
        (" ", ""),
    ],
)
def test_any_sentence_can_be_written_and_read(why: str, expected: str) -> None:
    header = ResponseHeader(error=TERMINATING, product=reason_fields(why))
    assert reason_in(header) == expected
    assert (f"{REASON}:{expected}\r\n".encode() in encode_response(header)) is bool(expected)


@pytest.mark.spec("HR-107")
def test_our_server_says_why_it_refuses_a_request() -> None:
    client = Client(HttprBench(), service="none")
    answer = client.push(1, b"a")
    assert (error(answer), reason_in(answer.header)) == (518, "there is no queue none")
    client = Client(HttprBench())
    client.push(2, b"a")
    assert reason_in(client.push(2, b"a").header) == "batch 2 is known"
    client.session = "OLD"
    assert reason_in(client.push(3, b"a").header) == "there is no session OLD"


def test_an_answer_without_an_error_has_no_reason() -> None:
    assert Client(HttprBench()).push(1, b"a").header.product == ()


def test_the_client_reports_the_reason_of_the_server_to_administrators() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    product = reason_fields("the disk is full")
    bench.respond(bench.next_request(), ResponseHeader(
        session=SessionMark.END, error=Error.of(ErrorNumber.RESOURCE_MANAGER_CAN_NOT_STORE), product=product,
    ))  # fmt: skip
    (channel,) = bench.httpr.state.client.channels.values()
    assert channel.retry.last_error.endswith("515 RESOURCE-MANAGER-CAN-NOT-STORE: the disk is full")
