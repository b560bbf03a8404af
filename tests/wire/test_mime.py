"""Tests that parts are cut by their lengths or at their delimiters, and that wrong lengths are refused."""

from __future__ import annotations

import pytest

from reliquary.wire.mime import (
    BOUNDARY_LIMIT,
    FIELDS_LIMIT,
    HEAD_LIMIT,
    PARTS_LIMIT,
    MediaType,
    MimeFault,
    Part,
    fields_of,
    media_type,
    split,
)


def part(data: bytes, *fields: str, length: int | None = None, counted: bool = True) -> bytes:
    lines = list(fields)
    if counted:
        lines.append(f"Content-Length: {len(data) if length is None else length}")
    return b"".join(line.encode() + b"\r\n" for line in lines) + b"\r\n" + data


def joined(*parts: bytes, gap: bytes = b"\r\n", end: bytes = b"--", boundary: bytes = b"--b") -> bytes:
    delimiter = gap + boundary
    return boundary + b"\r\n" + (delimiter + b"\r\n").join(parts) + delimiter + end


def data_of(body: bytes) -> list[bytes]:
    return [each.data for each in split(body, "b")]


def refused(body: bytes, boundary: str = "b") -> MimeFault:
    with pytest.raises(MimeFault) as caught:
        split(body, boundary)
    assert caught.value.status == 400
    return caught.value


@pytest.mark.parametrize("gap", [b"\r\n", b""], ids=["RFC 2046", "Windows"])
@pytest.mark.parametrize("end", [b"--", b"--\r\n", b"--\r\nepilogue --b\r\n"])
def test_parts_are_cut_by_their_length(gap: bytes, end: bytes) -> None:
    first = part(b"one", "Content-Type: text/xml", "CONTENT-ID: a@b")
    second = part(b"--b--\r\n--b\r\n\r\n")
    assert split(joined(first, second, gap=gap, end=end), "b") == [
        Part("text/xml", "a@b", b"one"),
        Part("text/plain", "", b"--b--\r\n--b\r\n\r\n"),
    ]


def test_without_a_length_a_part_ends_at_its_delimiter() -> None:
    body = joined(part(b"a--b\r\nc", counted=False), part(b"", counted=False), part(b"d\r\n"), end=b"--\r\n")
    assert data_of(body) == [b"a--b\r\nc", b"", b"d\r\n"]


def test_data_that_ends_like_a_line_keeps_its_end() -> None:
    assert data_of(joined(part(b"a\r\n"), gap=b"")) == [b"a\r\n"]
    assert data_of(joined(part(b"a\r\n"), gap=b"\r\n")) == [b"a\r\n"]


def test_a_preamble_and_padding_are_passed_over() -> None:
    body = b"this is in MIME\r\n" + joined(part(b"x")).replace(b"--b\r\n", b"--b \t\r\n")
    assert data_of(body) == [b"x"]


def test_folded_lines_are_one_field() -> None:
    fields = fields_of(b"Content-Type: multipart/related;\r\n\tboundary=b\r\nX : y", "part 1")
    assert fields == {"content-type": "multipart/related; boundary=b", "x": "y"}


@pytest.mark.srmp("F-05")
@pytest.mark.parametrize("tail", [b"", b"\r\n"])
def test_a_closing_delimiter_may_be_missing_where_lengths_say_enough(tail: bytes) -> None:
    whole = joined(part(b"one"), part(b"two"), end=b"")
    assert data_of(whole.removesuffix(b"\r\n--b") + tail) == [b"one", b"two"]


@pytest.mark.srmp("F-04", "F-05")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"--c\r\n\r\nx", id="another boundary"),
        pytest.param(b"--b--", id="no part"),
        pytest.param(b"--b", id="half a delimiter"),
        pytest.param(b"--bc\r\n\r\nx", id="a longer boundary"),
        pytest.param(b"--b\r\nContent-Length: 1", id="no end of the fields"),
        pytest.param(joined(part(b"x", length=2)), id="too long by one"),
        pytest.param(joined(part(b"x", length=10**11)), id="far too long"),
        pytest.param(joined(part(b"xyz", length=2)), id="too short"),
        pytest.param(joined(part(b"x", length=0)), id="zero"),
        pytest.param(joined(part(b"x", "Content-Length: -1", counted=False)), id="negative"),
        pytest.param(joined(part(b"x", "Content-Length: +1", counted=False)), id="signed"),
        pytest.param(joined(part(b"x", "Content-Length: 1x", counted=False)), id="no number"),
        pytest.param(joined(part(b"x", f"Content-Length: {'9' * 5000}", counted=False)), id="endless number"),
        pytest.param(joined(part(b"x", "Content-Length: 1", length=2)), id="two lengths"),
        pytest.param(
            joined(part(b"x", counted=False), end=b"").removesuffix(b"\r\n--b"), id="F-05 no length"
        ),
        pytest.param(joined(part(b"x", "no field")), id="a line that is no field"),
        pytest.param(joined(part(b"x", ": y")), id="a field without a name"),
        pytest.param(joined(part(b"eA==", "Content-Transfer-Encoding: base64")), id="base64"),
        pytest.param(joined(part(b"x", "X: " + "y" * HEAD_LIMIT)), id="huge fields"),
        pytest.param(joined(part(b"x", *["X: y"] * FIELDS_LIMIT)), id="many fields"),
        pytest.param(joined(*[part(b"x")] * (PARTS_LIMIT + 1)), id="many parts"),
    ],
)
def test_a_malformed_multipart_body_is_refused(body: bytes) -> None:
    assert refused(body).why


def test_the_limit_itself_is_allowed() -> None:
    assert len(split(joined(*[part(b"x")] * PARTS_LIMIT), "b")) == PARTS_LIMIT


@pytest.mark.srmp("F-03")
def test_a_boundary_is_needed() -> None:
    assert refused(joined(part(b"x")), "").part == "Content-Type"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("text/xml", MediaType("text/xml")),
        ("Text/XML ; Charset=UTF-8", MediaType("text/xml", charset="utf-8")),
        (
            'multipart/related; boundary="a, b"; type=text/xml',
            MediaType("multipart/related", "a, b", root_type="text/xml"),
        ),
        (
            'multipart/related;type="application/xop+xml";boundary=ab;start="<c@d>"',
            MediaType("multipart/related", "ab", start="<c@d>", root_type="application/xop+xml"),
        ),
        ('multipart/related; boundary="a\\"b"', MediaType("multipart/related", 'a"b')),
        ('multipart/related; title="boundary=x"; boundary=y', MediaType("multipart/related", "y")),
        ("multipart/related; boundary=a; boundary=b", MediaType("multipart/related", "a")),
        ("", MediaType("")),
    ],
)
def test_a_content_type_says_kind_boundary_charset_and_root(value: str, kind: MediaType) -> None:
    assert media_type(value) == kind


@pytest.mark.parametrize("boundary", ["x" * (BOUNDARY_LIMIT + 1), "é"])
def test_a_boundary_with_forbidden_characters_is_refused(boundary: str) -> None:
    with pytest.raises(MimeFault):
        media_type(f'multipart/related; boundary="{boundary}"')
