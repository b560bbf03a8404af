"""Headers as fields, and what an application may choose."""

from __future__ import annotations

import re

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.fields import CHOSEN_LIMIT, chosen_header, fields_of, is_encoding, lines_of
from reliquary.queueing.model.message import Message


def test_names_are_in_lower_case_and_values_without_blanks_around_them() -> None:
    header = "Target-URI: httpr://a/b#c:d \r\nAPP-X\t:\ty  z\t\r\n"
    assert list(lines_of(header)) == [("target-uri", "httpr://a/b#c:d"), ("app-x", "y  z")]
    assert fields_of(Message.of(carrier_header=header)) == {"target-uri": "httpr://a/b#c:d", "app-x": "y  z"}
    assert list(lines_of("")) == list(lines_of("\r\n")) == []
    assert fields_of(Message()) == {}


@pytest.mark.spec("HR-124")
@pytest.mark.parametrize(
    "header", ["no colon\r\n", ":x\r\n", "a b:c\r\n", "a:b\r\n\r\nc:d\r\n", "\r\na:b\r\n"]
)
def test_a_line_that_is_no_field_is_refused(header: str) -> None:
    with pytest.raises(HttprFault):
        list(lines_of(header))


@pytest.mark.spec("HR-107")
def test_an_application_chooses_fields_of_its_own() -> None:
    fields = {"Content-Type": "text/xml; charset=utf-8", "app-x": "\xe9 y", "encoding": "integer-reversed"}
    header = chosen_header(fields)
    assert fields_of(Message.of(carrier_header=header)) == {
        name.lower(): value for name, value in fields.items()
    }
    assert "\r" not in header
    assert chosen_header({}) == ""


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"priority": "1"}, "an HTTPR field is one of content-type, user-id,"),
        ({"target-uri": "httpr://a/b#c"}, "not 'target-uri'"),
        ({"message-size": "7"}, "not 'message-size'"),
        ({"app-": "1"}, "not 'app-'"),
        ({"app-x y": "1"}, "not 'app-x y'"),
        ({"app-x:y": "1"}, "not 'app-x:y'"),
        ({"x": "1"}, "begins with app-, not 'x'"),
        (
            {"App-Reliquary-Tag": "1"},
            "fields that begin with app-reliquary- are written by the queue manager",
        ),
        ({"app-x": ""}, "the HTTPR field app-x has a value of printable characters"),
        ({"app-x": " y"}, "with none of them a blank at either end"),
        ({"app-x": "y\r\npriority:9"}, "has a value of printable characters"),
        ({"app-x": "y\nz"}, "has a value of printable characters"),
        ({"app-x": "\u0100"}, "has a value of printable characters (Latin-1)"),
        ({"message-id": "two words"}, "message-id is one word without separators, not 'two words'"),
        ({"user-id": "a@b"}, "user-id is one word"),
        ({"encoding": "integer-sideways"}, "encoding is some of integer-normal,"),
        ({"app-x": "1", "APP-X": "1"}, "the HTTPR field app-x is given twice"),
        ({"app-x": "y" * CHOSEN_LIMIT}, f"have at most {CHOSEN_LIMIT} characters"),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_the_reason(fields: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        chosen_header(fields)


@pytest.mark.parametrize(
    ("value", "says_something"),
    [
        ("integer-reversed", True),
        ("integer-normal , float-s390 , decimal-reversed", True),
        ("Float-IEEE-Reversed", True),
        ("integer-normal,,decimal-normal", True),
        ("decimal-normal,integer-normal", True),
        ("", False),
        (",", False),
        ("integer-normal,integer-reversed", False),
        ("float-ieee", False),
    ],
)
def test_an_encoding_says_something_of_each_kind_of_number_at_most_once(
    value: str, says_something: bool
) -> None:
    assert is_encoding(value) is says_something
