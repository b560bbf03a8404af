"""Tests of the parser and writer of header fields."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.http.headers import SMALL, end_of_head, find, format_headers, lowered

CAME = [(b"Content-Type", b"text/xml"), (b"X-Two", b"1"), (b"x-two", b"2")]


def test_a_header_is_found_in_any_case_and_the_first_wins() -> None:
    assert find(CAME, b"content-type") == b"text/xml"
    assert find(CAME, b"x-two") == b"1"
    assert find(CAME, b"x-three") is None


def test_names_are_lowered_and_order_is_kept() -> None:
    assert lowered(CAME) == [(b"content-type", b"text/xml"), (b"x-two", b"1"), (b"x-two", b"2")]


def test_the_last_line_tells_the_length_of_small_and_large_bodies() -> None:
    for size in (0, SMALL - 1, SMALL, 10**9):
        assert end_of_head(size) == b"content-length: %d\r\n\r\n" % size


def test_header_lines_are_formatted() -> None:
    assert format_headers(((b"a", b"1"), (b"b", b"2"))) == b"a: 1\r\nb: 2\r\n"


@pytest.mark.parametrize("bad", [b"1\r\nset-cookie: x", b"1\n", b"1\r", b"1\0"])
def test_a_header_that_would_begin_a_second_line_is_refused(bad: bytes) -> None:
    with pytest.raises(UsageError, match="line break"):
        format_headers([(b"a", bad)])
