"""Tests the rare attributes of a message: a message that has none of them stores nothing of them."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.queueing.model.attributes import USUAL, Attributes, Delivery
from reliquary.queueing.model.message import OWN, Message

encode = msgspec.msgpack.Encoder(uuid_format="bytes").encode


def test_no_attribute_is_both_rare_and_in_every_message() -> None:
    assert not set(Attributes.__struct_fields__) & set(Message.__struct_fields__)


def test_an_attribute_with_its_default_is_not_on_disk() -> None:
    assert msgspec.msgpack.decode(encode(USUAL)) == {}
    assert msgspec.msgpack.decode(encode(Attributes(application_tag=7))) == {"application_tag": 7}


def test_the_row_of_a_usual_message_is_an_array_that_ends_with_nil() -> None:
    row = msgspec.msgpack.decode(encode(Message(body=b"b", delivery=Delivery.RECOVERABLE)))
    assert len(row) == len(OWN) + 1
    assert (row[1], row[OWN.index("delivery")], row[-1]) == (b"b", 1, None)


@pytest.mark.parametrize(
    ("delivery", "word"), [(Delivery.EXPRESS, "express"), (Delivery.RECOVERABLE, "recoverable")]
)
def test_a_delivery_is_a_small_number_on_disk_and_a_word_for_users(delivery: Delivery, word: str) -> None:
    assert delivery.word == word
    assert len(encode(delivery)) == 1
