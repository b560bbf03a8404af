"""Why a message was refused, in a header field."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.refusals import FIELD, LONGEST, read_refusal, refusal_field
from reliquary.queueing.model.message import MessageClass


@pytest.mark.parametrize("reason", [each for each in MessageClass if each.is_failure])
def test_every_reason_comes_back_with_its_words(reason: MessageClass) -> None:
    name, value = refusal_field(reason, "to: the queue does not exist")
    assert name == FIELD
    assert read_refusal(value) == (reason, "to: the queue does not exist")


def test_a_malformed_message_has_a_word_of_its_own() -> None:
    assert read_refusal(refusal_field(MessageClass.NORMAL, "to: missing")[1]) == (
        MessageClass.NORMAL,
        "to: missing",
    )


def test_foreign_text_cannot_break_out_of_the_field() -> None:
    _, value = refusal_field(MessageClass.NORMAL, "a\r\nSet-Cookie: x\u00e9" + "y" * 5000)
    assert b"\r" not in value
    assert b"\n" not in value
    assert len(value) < LONGEST + 100


@pytest.mark.parametrize("value", [b"", b";", b"nonsense; no", b"\xff\xfe", b"nack-unheard-of"])
def test_a_foreign_field_gives_no_reason(value: bytes) -> None:
    assert read_refusal(value)[0] is MessageClass.NORMAL
