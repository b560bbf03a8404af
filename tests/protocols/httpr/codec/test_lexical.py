"""Tests ids, dates, words and folded lines, both ways."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.lexical import (
    LARGEST_NUMBER,
    date_text,
    elements,
    id_text,
    read_date,
    read_id,
    read_number,
    read_word,
    unfolded,
    word_text,
)
from reliquary.protocols.httpr.codec.values import LARGEST_ID, NOTHING, ErrorNumber
from tests.protocols.httpr.codec.strategies import lines

MALFORMED = ErrorNumber.HTTP_R_PROTOCOL_ERROR


@given(st.integers(0, LARGEST_ID))
def test_an_id_goes_both_ways_with_sixteen_capital_digits(value: int) -> None:
    text = id_text(value)
    assert (len(text), text) == (16, text.upper())
    assert read_id(text) == read_id(text.lower()) == value


@pytest.mark.spec("HR-079", "HR-105")
def test_the_id_for_no_batch_is_sixteen_zeros() -> None:
    assert id_text(NOTHING) == "0" * 16


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("00000000 00000000", 0),
        ("00000000\t000001a7", 0x1A7),
        ("00000000000000001", 1),
        ("000000000000000002", 2),
        ("ffffffffffffffff", LARGEST_ID),
    ],
)
def test_ids_are_read_as_the_examples_write_them(text: str, value: int) -> None:
    assert read_id(text) == value


@pytest.mark.parametrize(
    "text", ["", " ", "g", "0x1", "-1", "1_0", "10000000000000000", "F" * 5000, "\u0663"]
)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(HttprFault, match="sixteen") as refused:
        read_id(text)
    assert refused.value.number is MALFORMED


@pytest.mark.parametrize("value", [-1, LARGEST_ID + 1])
def test_an_id_that_has_no_text_is_the_callers_mistake(value: int) -> None:
    with pytest.raises(UsageError):
        id_text(value)


def test_a_number_larger_than_all_limits_is_the_largest() -> None:
    assert read_number("007", "expiry", "6.2.12") == 7
    assert read_number("000", "expiry", "6.2.12") == 0
    assert read_number("0" * 40 + "5", "expiry", "6.2.12") == 5
    for text in (str(2**63), str(2**64 - 1), "9" * 5000):
        assert read_number(text, "expiry", "6.2.12") == LARGEST_NUMBER
    for text in ("", "-1", "+1", "1.0", " 1", "\u0663"):
        with pytest.raises(HttprFault, match="expiry"):
            read_number(text, "expiry", "6.2.12")


@pytest.mark.spec("HR-112")
def test_a_date_is_written_in_gmt_with_single_blanks() -> None:
    assert date_text(784111777) == "06 Nov 1994 08:49:37"
    assert date_text(0) == "01 Jan 1970 00:00:00"


@pytest.mark.spec("HR-112")
@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)))  # noqa: DTZ001
def test_a_date_goes_both_ways(moment: datetime) -> None:
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    assert date_text(seconds) == moment.strftime("%d %b ") + f"{moment.year:04}" + moment.strftime(
        " %H:%M:%S"
    )
    assert read_date(date_text(seconds)) == seconds


@pytest.mark.spec("HR-112")
@pytest.mark.parametrize(
    "text",
    [
        "6 Nov 1994 08:49:37",
        "06 nov 1994 08:49:37",
        "06 NOV 1994 08:49:37",
        "06  Nov 1994 08:49:37",
        " 06 Nov 1994 08:49:37",
        "06 Nov 1994 08:49:37 GMT",
        "06 Nov 1994 08:49",
        "06 Nov 94 08:49:37",
        "31 Nov 1994 08:49:37",
        "29 Feb 1995 00:00:00",
        "06 Nov 1994 24:00:00",
        "06 Nov 1994 23:59:60",
        "06 Nov 0000 00:00:00",
        "06-Nov-1994 08:49:37",
        "",
    ],
)
def test_an_inexact_date_is_refused(text: str) -> None:
    with pytest.raises(HttprFault, match="06 Nov 1994") as refused:
        read_date(text)
    assert refused.value.number is MALFORMED


@pytest.mark.parametrize("seconds", [10**12, -(10**12)])
def test_a_date_that_has_no_text_is_the_callers_mistake(seconds: int) -> None:
    with pytest.raises(UsageError):
        date_text(seconds)


@pytest.mark.spec("HR-122")
@given(lines)
def test_a_word_goes_both_ways(value: str) -> None:
    assert read_word(word_text(value)) == value
    assert elements(f"a,{word_text(value)};b") == ["a", word_text(value), "b"]


@pytest.mark.spec("HR-122")
def test_a_word_is_quoted_only_where_it_has_separators() -> None:
    assert word_text("plain-1") == "plain-1"
    assert word_text('a,b"c\\') == '"a,b\\"c\\\\"'
    assert read_word('"a\\,b"') == "a,b"


@pytest.mark.spec("HR-121")
def test_empty_elements_do_not_count() -> None:
    assert elements(" ,, a ;\t, b,") == ["a", "b"]
    assert elements("") == elements(" , ;") == []


@pytest.mark.spec("HR-122")
@pytest.mark.parametrize("text", ['"', 'a,"b', '"a\\"', 'a"b,c'])
def test_a_quote_that_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(HttprFault, match="quote"):
        elements(text)


@pytest.mark.parametrize("part", ["a", '\\"', "\\\\", '"a"'])
def test_the_time_to_read_a_value_grows_no_faster_than_its_length(part: str) -> None:
    """A pattern that begins again at each of a million characters would outlast the test's timeout."""
    unclosed = '"' + part * 300_000
    assert read_word(unclosed) == unclosed
    with pytest.raises(HttprFault, match="quote"):
        elements(unclosed)


@pytest.mark.spec("HR-004")
def test_a_folded_line_is_one() -> None:
    assert unfolded(b"a:b\r\n\t c\r\n \r\n d\r\ne:f\r\n") == b"a:b c d\r\ne:f\r\n"
    assert unfolded(b"a:b\r\n\r\n") == b"a:b\r\n\r\n"
