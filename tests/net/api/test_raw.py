"""Tests one message as it is: its body as the body, its attributes as header fields."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from reliquary.base.faults import UsageError
from reliquary.net.api.messages import MessageIn, message_of, shown
from reliquary.net.api.pieces import LARGE
from reliquary.net.api.raw import NAMES, PREFIX, fields_of, message_in
from reliquary.net.http import ClientLimits, HttpClient, Response
from reliquary.net.http.headers import Headers, format_headers
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.model.message import Position
from tests.net.api.harness import Harness, on, play
from tests.net.api.test_forms import messages

OCTETS = b"application/octet-stream"


def as_it_came(fields: Headers) -> Headers:
    """Return the fields as a parser of HTTP hands them over."""
    lines = format_headers(fields).decode("latin-1").split("\r\n")[:-1]
    return [
        (name.encode(), value.strip().encode("latin-1"))
        for name, _, value in (line.partition(":") for line in lines)
    ]


@given(messages)
def test_what_is_shown_can_be_sent_again(message: MessageIn) -> None:
    sent = message_of(message)
    out = shown(Delivered(Position(1, 2, 3, 4), sent))
    settable = {f"{PREFIX}{name}".replace("_", "-").encode() for name in NAMES}
    fields = as_it_came(fields_of(out, "r-1"))
    again = message_of(message_in([field for field in fields if field[0] in settable], out.body))
    assert again == sent.changed(discard_refused=False)  # no answer shows that field
    assert (b"x-reliquary-receipt", b"r-1") in fields


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ([(b"X-Reliquary-Colour", b"red")], "no header x-reliquary-colour; there is x-reliquary-label, "),
        ([(b"X-Reliquary-Body", b"x")], "there is no header x-reliquary-body;"),
        ([(b"X-Reliquary-Tag", b"1"), (b"x-reliquary-tag", b"1")], "x-reliquary-tag is given twice"),
        ([(b"X-Reliquary-Priority", b"high")], "Expected `int`, got `str` - at `x-reliquary-priority`"),
        ([(b"X-Reliquary-Durable", b"maybe")], "Expected `bool`, got `str` - at `x-reliquary-durable`"),
        ([(b"X-Reliquary-Extension", b"!")], "Invalid base64 encoded string - at `x-reliquary-extension`"),
        ([(b"X-Reliquary-Label", b"100 %")], "in the header x-reliquary-label a per cent sign is"),
        ([(b"X-Reliquary-Label", b"%ff")], "the header x-reliquary-label is not UTF-8"),
        ([(b"X-Reliquary-Httpr", b"{")], "the header x-reliquary-httpr is an object of JSON"),
        ([(b"X-Reliquary-Httpr", b"7")], "Expected `object | null`, got `int` - at `x-reliquary-httpr`"),
        ([(b"X-Reliquary-Acknowledgements", b"all")], "Invalid enum value 'all' - at `x-reliquary-ack"),
    ],
)  # fmt: skip
def test_a_field_that_is_not_known_or_bad_is_refused_by_name(fields: Headers, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        message_in(fields, b"")
    assert why in str(refused.value)


def test_other_headers_are_no_attributes() -> None:
    given = message_in(
        [(b"Host", b"here"), (b"User-Agent", b"curl"), (b"X-Reliquary-Label", "tüte".encode())], b"\0"
    )
    assert given == MessageIn(body=b"\0", label="tüte")


async def post(harness: Harness, verb: str, body: bytes = b"", *fields: tuple[bytes, bytes]) -> Response:
    limits = ClientLimits(body_bytes=10 * LARGE)
    async with HttpClient(f"http://127.0.0.1:{harness.port}", limits=limits) as client:
        return await client.request("POST", "/api/v1" + on("orders", verb), body, fields)


@pytest.mark.parametrize("size", [0, 3, LARGE + 1])
def test_a_message_goes_in_and_out_as_it_is(size: int) -> None:
    async def scene(harness: Harness) -> None:
        body = b"\x00\xff{" * (size // 3)
        sent = await post(
            harness, "messages", body, (b"content-type", OCTETS), (b"x-reliquary-label", b"a%20%0a"),
            (b"x-reliquary-priority", b"5"),
        )  # fmt: skip
        assert sent.status == 201
        [place] = json.loads(sent.body)["messages"]
        for verb, asked in (
            ("peek", b""),
            ("lookup", json.dumps({"lookup_id": place["lookup_id"]}).encode()),
        ):
            seen = await post(harness, verb, asked, (b"accept", OCTETS))
            assert (seen.status, seen.body) == (200, body)
        taken = await post(harness, "receive", b'{"hold":30}', (b"accept", OCTETS))
        assert (taken.status, taken.header(b"content-type"), taken.body) == (200, OCTETS, body)
        assert taken.header(b"x-reliquary-id") == place["id"].encode()
        assert taken.header(b"x-reliquary-label") == b"a %0A"
        receipt = taken.header(b"x-reliquary-receipt")
        assert receipt is not None
        await harness.ok("POST", "/receipts", {"receipt": receipt.decode()})
        nothing = await post(harness, "receive", b"", (b"accept", OCTETS))
        assert (nothing.status, nothing.body) == (204, b"")
        assert harness.listener._shared.budget.answers.used == 0

    play(scene)


def test_an_answer_with_one_message_is_not_asked_for_more() -> None:
    async def scene(harness: Harness) -> None:
        answer = await post(harness, "receive", b'{"count":2}', (b"accept", OCTETS))
        assert (answer.status, json.loads(answer.body)) == (
            400,
            {
                "error": "an answer in application/octet-stream has one message: count is 1, not 2",
                "code": "INVALID_PARAMETER",
            },
        )
        headers = ((b"accept", OCTETS),)
        answer = await harness.client.request("GET", "/api/v1" + on("orders", "messages"), b"", headers)
        assert (answer.status, json.loads(answer.body)["error"]) == (
            400,
            "an answer in application/octet-stream has one message: limit is 1, not 100",
        )
        path = "/api/v1" + on("orders", "messages") + "?limit=1"
        assert (await harness.client.request("GET", path, b"", headers)).status == 204

    play(scene)


def test_a_bad_field_is_refused_in_the_form_of_every_refusal() -> None:
    async def scene(harness: Harness) -> None:
        fields = ((b"content-type", OCTETS), (b"x-reliquary-priority", b"9"))
        answer = await post(harness, "messages", b"x", *fields)
        assert (answer.status, json.loads(answer.body)["code"]) == (400, "INVALID_PARAMETER")
        assert await harness.texts("orders") == []

    play(scene)
