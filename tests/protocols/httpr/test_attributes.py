"""Message attributes travel in fields of the product's own and come back unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.httpr.attributes import (
    READ,
    id_value,
    name_for,
    product_fields,
    read_identifier,
    read_text,
    text_value,
)
from reliquary.protocols.httpr.fields import OURS
from reliquary.queueing.model.message import NO_OBJECT, Message, ObjectId
from tests.protocols.httpr.httpr_messages import HERE, OTHER, sendable


@given(st.text())
def test_any_text_is_a_value_and_back(text: str) -> None:
    value = text_value(text)
    assert read_text(value) == text
    assert value.isascii()
    assert value == value.strip()
    assert not set(value) & set(",\r\n\0")


def test_what_is_no_character_is_no_reason_to_lose_a_message() -> None:
    assert read_text(text_value("\ud800x")) == "?x"


def test_an_identifier_is_a_token_and_back() -> None:
    identifier = ObjectId(HERE, 7)
    assert id_value(identifier) == f"{HERE}.7"
    assert read_identifier(f"\t{HERE}.7 ") == identifier
    assert read_identifier(f"{HERE}-7") == read_identifier("") == NO_OBJECT


@given(sendable())
def test_each_field_that_is_written_is_read_but_for_the_senders_own(message: Message) -> None:
    message_fields = dict(product_fields(message, ""))
    for name, value in message_fields.items():
        attribute, read = READ[OURS + name]
        assert read(value) == getattr(message, attribute), name


def test_a_message_that_asks_for_nothing_has_no_fields_but_its_time() -> None:
    plain = Message.of(identifier=ObjectId(HERE, 1), source_machine=HERE)
    assert dict(product_fields(plain, "")) == {"delivery": "express", "reach": "345600"}
    other = Message.of(identifier=ObjectId(HERE, 1), source_machine=OTHER)
    assert dict(product_fields(other, ""))["source"] == str(OTHER)


@pytest.mark.parametrize(
    ("name", "home", "named"),
    [
        ("", "httpr://a/b", ""),
        ("orders", "", ""),
        ("orders", "httpr://a/b", "DIRECT=HTTPR://a/b#orders"),
        (".\\private$\\grün", "httprs://a/b", "DIRECT=HTTPRS://a/b#./private$/gr%C3%BCn"),
        ("httpr://c/d#e,f", "httpr://a/b", "DIRECT=HTTPR://c/d#e%2Cf"),
        ("DIRECT=OS:c\\d", "httpr://a/b", "DIRECT=OS:c\\d"),
    ],
)
def test_a_queue_is_named_as_others_may_name_it(name: str, home: str, named: str) -> None:
    assert name_for(name, home) == named
