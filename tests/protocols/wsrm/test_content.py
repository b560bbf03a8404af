"""A body goes as XML where it is XML, else as base64, and comes back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.content import body_of_content, content_of_body
from reliquary.wire.xml import root_of
from tests.protocols.wsrm.codec.strategies import contents

BINARY = b'<rq:Binary xmlns:rq="urn:reliquary:wsrm">aGVsbG8=</rq:Binary>'


@given(st.binary() | contents, st.integers(0, 2**32 - 1))
def test_any_body_comes_back(body: bytes, body_type: int) -> None:
    content, is_xml = content_of_body(body, body_type)
    root_of(b"<Body>" + content + b"</Body>")
    back, kind = body_of_content(content)
    assert (back, kind) == (body, None if is_xml else body_type)


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (b"", b""),
        (b"<a/>", b"<a/>"),
        (b" <a/>\r\n", b" <a/>\r\n"),
        (b"\xef\xbb\xbf<a/>", b"<a/>"),
        (b'<?xml version="1.0"?>\n<a/>', b"\n<a/>"),
        (b'\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8"?><a/>', b"<a/>"),
        (b"<!-- c --><a/><?pi?>", b"<!-- c --><a/><?pi?>"),
        (b"<a/> <b/>", b"<a/> <b/>"),
        ("<a>é</a>".encode(), "<a>é</a>".encode()),
    ],
)
def test_xml_goes_as_it_is(body: bytes, content: bytes) -> None:
    assert content_of_body(body, 7) == (content, True)


@pytest.mark.parametrize(
    "body",
    [
        b"hello",
        b" ",
        b"<a>",
        b"<a/>text",
        b"text<a/>",
        b"<!-- only a comment -->",
        b"<a/>\x00",
        b"<p:a/>",
        b"</e><e>",
        b"<a/></e><e><b/>",
        b"</e></e><e><e>",
        b"<!DOCTYPE a><a/>",
        b'<?xml version="1.0" encoding="UTF-16"?><a/>',
        b'<?xml version="1.0" encoding="iso-8859-1"?><a>\xe9</a>',
        "<a>é</a>".encode("latin-1"),
        "<a/>".encode("utf-16"),
        b"<a>" * 300 + b"</a>" * 300,
        BINARY,
        BINARY + b"<a/>",
    ],
)
def test_what_is_no_xml_goes_as_base64(body: bytes) -> None:
    content, is_xml = content_of_body(body, 8)
    assert not is_xml
    assert content.startswith(b'<rq:Binary xmlns:rq="urn:reliquary:wsrm" bodyType="8">')
    assert body_of_content(content) == (body, 8)


@pytest.mark.parametrize(
    ("content", "body"),
    [
        (BINARY, (b"hello", 0)),
        (b" \n" + BINARY + b"<!-- -->\n", (b"hello", 0)),
        (BINARY.replace(b"aGVs", b"\n aG\tVs\r\n"), (b"hello", 0)),
        (BINARY.replace(b"aGVsbG8=", b""), (b"", 0)),
        (BINARY + b"<a/>", (BINARY + b"<a/>", None)),
        (BINARY.replace(b"Binary", b"Other"), (BINARY.replace(b"Binary", b"Other"), None)),
        (b"text " + BINARY, (b"text " + BINARY, None)),
        (b"<a>urn:reliquary:wsrm</a>", (b"<a>urn:reliquary:wsrm</a>", None)),
    ],
)
def test_base64_is_read_where_it_is_all_of_the_content(
    content: bytes, body: tuple[bytes, int | None]
) -> None:
    assert body_of_content(content) == body


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"aGVsbG8=", b"aGVsbG8"),
        (b"aGVsbG8=", b"a-_b"),
        (b"aGVsbG8=", "é".encode()),
        (b"aGVsbG8=", b"<a/>"),
        (b">a", b' bodyType="x">a'),
        (b">a", b' bodyType="4294967296">a'),
    ],
)
def test_bad_base64_is_refused(before: bytes, after: bytes) -> None:
    with pytest.raises(ValueError, match=r"base64|number"):
        body_of_content(BINARY.replace(before, after))
