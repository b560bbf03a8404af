"""Tests that text is distinguished from binary data, and that its encoding is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.pipelines.text import (
    VT_BSTR,
    VT_LPSTR,
    VT_LPWSTR,
    NotInItsEncoding,
    Text,
    has_controls,
    text_of,
    without_declaration,
)

words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).filter(
    lambda text: "\ufeff" not in text and not text.startswith("<?xml")
)


@given(words, st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_mark_tells_the_encoding(text: str, encoding: str) -> None:
    found = text_of(text.encode(encoding))
    assert found is not None
    assert found.text == text


@given(words)
def test_utf_8_needs_no_mark(text: str) -> None:
    assert text_of(text.encode()) == Text(text, "utf-8")


@given(words, st.sampled_from([VT_BSTR, VT_LPWSTR]))
def test_the_type_of_the_body_tells_utf_16(text: str, body_type: int) -> None:
    assert text_of(text.encode("utf-16-le"), body_type) == Text(text, "utf-16-le")


def test_ansi_is_windows_1252_where_it_is_no_utf_8() -> None:
    assert text_of(b"\xfcber", VT_LPSTR) == Text("\u00fcber", "windows-1252")
    assert text_of("\u00fcber".encode(), VT_LPSTR) == Text("\u00fcber", "utf-8")
    assert text_of(b"\xfcber") is None


def test_a_document_is_read_in_the_encoding_that_it_declares_or_refused() -> None:
    document = '<?xml version="1.0" encoding="windows-1251"?><a>\u0416</a>'
    assert text_of(document.encode("windows-1251")) == Text(document, "windows-1251")
    with pytest.raises(NotInItsEncoding, match="'zip'"):
        text_of(b'<?xml version="1.0" encoding="zip"?><a/>')


@given(st.binary(min_size=1, max_size=40), st.sampled_from([0, VT_BSTR, VT_LPSTR, VT_LPWSTR]))
def test_text_of_any_bytes_encodes_back_to_those_bytes(data: bytes, body_type: int) -> None:
    found = text_of(data, body_type)
    assert found is None or found.text.encode(found.encoding) in data + data


def test_controls_are_no_text() -> None:
    assert has_controls("a\x00b")
    assert not has_controls("a\tb\r\n\x0c\x1b[0m")


def test_a_declaration_is_taken_away() -> None:
    assert without_declaration('<?xml version="1.0" encoding="utf-16"?>\n<a/>').strip() == "<a/>"
    assert without_declaration("<a/>") == "<a/>"
