"""Tests messages: what an application gives, and what it gets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from reliquary import Message, OutgoingMessage
from reliquary.client.message import lookup_ids, outgoing
from reliquary.net.api.messages import MessageIn, MessageOut

NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)


def test_text_becomes_utf8_and_spans_become_seconds() -> None:
    message = outgoing("grüße", expires=timedelta(minutes=1), reach=2.5)
    assert (message.body, message.expires, message.reach) == ("grüße".encode(), 60, 2.5)
    assert outgoing(bytearray(b"x")).body == b"x"  # type: ignore[arg-type]


@pytest.mark.parametrize("body", [7, None, {"lamps": 2}, [1, 2]])
def test_a_body_is_text_or_bytes_and_a_value_of_another_type_is_refused(body: Any) -> None:
    kind = type(body).__name__
    with pytest.raises(TypeError, match=f"a body is text or bytes, not {kind}; json.dumps"):
        outgoing(body)


def test_options_change_a_message_that_was_made_before() -> None:
    message = OutgoingMessage(body=b"x", label="own")
    assert outgoing(message) is message
    assert outgoing(message, priority=7) == OutgoingMessage(body=b"x", label="own", priority=7)


def test_a_body_that_is_not_text_says_so() -> None:
    message = Message(id="a\\1", lookup_id=1, body=b"\xff", sent=NOON, arrived=NOON)
    with pytest.raises(UnicodeDecodeError):
        _ = message.text
    assert lookup_ids([message]) == [1]


def test_both_are_records_of_the_api() -> None:
    sent = {field.encode_name for field in msgspec.structs.fields(OutgoingMessage)}
    assert sent == {field.encode_name for field in msgspec.structs.fields(MessageIn)} - {"text"}
    got = {field.encode_name for field in msgspec.structs.fields(Message)}
    assert got == {field.encode_name for field in msgspec.structs.fields(MessageOut)}
