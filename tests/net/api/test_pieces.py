"""Answers that are made while they leave say what those say that are made at once."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import msgspec
import pytest

from reliquary.net.api.forms import Form
from reliquary.net.api.messages import MessagesOut, shown
from reliquary.net.api.pieces import LARGE, PIECE, pieces_of
from reliquary.net.http import ClientLimits, HttpClient
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.model.message import Message, Position
from tests.net.api.harness import Harness, on, play


def delivered(body: bytes, label: str = "") -> Delivered:
    return Delivered(Position(1, 2, len(body), 3), Message(body=body, label=label))


@pytest.mark.parametrize("sizes", [[0], [1], [PIECE], [PIECE + 1, 0, 2 * PIECE - 1], [1000] * 500])
def test_the_pieces_are_the_json_of_the_messages(sizes: list[int]) -> None:
    messages = [delivered(bytes([size % 256]) * size, '"body":""') for size in sizes]
    pieces = list(pieces_of(messages, "r-1"))
    assert max(map(len, pieces)) < PIECE // 3 * 4 + PIECE
    answer = json.loads(b"".join(pieces))
    assert answer["receipt"] == "r-1"
    assert [b64decode(each["body"]) for each in answer["messages"]] == [
        each.message.body for each in messages
    ]
    assert {each["label"] for each in answer["messages"]} == {'"body":""'}


@pytest.mark.parametrize("sizes", [[0], [1], [PIECE], [PIECE + 1, 0, 2 * PIECE - 1], [1000] * 500])
@pytest.mark.parametrize("receipt", [None, "r-1"])
def test_the_pieces_are_the_messagepack_of_the_messages(sizes: list[int], receipt: str | None) -> None:
    messages = [delivered(bytes([size % 256]) * size, "\xa4body\xc4\0") for size in sizes]
    pieces = list(pieces_of(messages, receipt, Form.PACKED))
    assert max(map(len, pieces)) < 2 * PIECE
    whole = MessagesOut(list(map(shown, messages)), receipt)
    assert msgspec.msgpack.decode(b"".join(pieces)) == msgspec.msgpack.decode(msgspec.msgpack.encode(whole))


def test_large_messages_are_sent_and_come_back_whole_by_every_read() -> None:
    text = "0123456789" * (LARGE // 4)

    async def scene(harness: Harness) -> None:
        [lookup_id] = await harness.send("orders", text)
        limits = ClientLimits(body_bytes=10 * LARGE)
        async with HttpClient(f"http://127.0.0.1:{harness.port}", limits=limits) as client:
            for method, verb, body in (
                ("POST", "peek", {}),
                ("GET", "messages", None),
                ("POST", "lookup", {"lookup_id": lookup_id}),
                ("POST", "receive", {"hold": 10}),
            ):
                data = b"" if body is None else json.dumps(body).encode()
                response = await client.request(method, f"/api/v1{on('orders', verb)}", data)
                answer: Any = json.loads(response.body)
                assert [b64decode(each["body"]).decode() for each in answer["messages"]] == [text], verb
        assert harness.listener._shared.budget.answers.used == 0

    play(scene)
