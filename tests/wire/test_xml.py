"""Documents are plain and in UTF-8, or refused with the place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.wire.xml import XmlFault, declared_encoding, root_of


def refused(data: bytes) -> XmlFault:
    with pytest.raises(XmlFault) as caught:
        root_of(data)
    return caught.value


@pytest.mark.parametrize(
    "prolog", [b"", b"\xef\xbb\xbf", b'<?xml version="1.0" encoding="UTF-8"?>\n', b"<!-- -->"]
)
def test_a_plain_document_is_read(prolog: bytes) -> None:
    assert root_of(prolog + b"<a><b/></a>")[0].tag == "b"


def test_a_fault_names_the_byte() -> None:
    data = b"<a>\n  <b>\n</a>"
    fault = refused(data)
    assert "well-formed" in fault.why
    assert fault.at is not None
    assert data[fault.at - 4 : fault.at].startswith(b"</a")


@pytest.mark.parametrize(
    ("data", "why", "at"),
    [
        (b'<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', "document type", 0),
        (b" <!-- x --><!DOCTYPE a><a/>", "document type", 11),
        (b'<?xml version="1.0" encoding="utf-16"?><a/>', "UTF-8", 30),
    ],
)
def test_what_is_not_plain_is_refused_before_it_is_read(data: bytes, why: str, at: int) -> None:
    fault = refused(data)
    assert why in fault.why
    assert fault.at == at


@pytest.mark.parametrize(
    "wrong",
    [
        b'<b x:y="1"/>',
        b"<x:b/>",
        b'<b xmlns:x=""/>',
        b'<b xmlns:x="urn:a" xmlns:y="urn:a" x:q="1" y:q="2"/>',
        b'<b xmlns:xml="urn:a"/>',
    ],
    ids=["attribute", "element", "no name", "attribute twice", "reserved"],
)
@pytest.mark.parametrize("rest", [b"", b'<c xmlns="msmq.namespace.xml"/>'], ids=["alone", "before a warning"])
def test_a_name_without_a_namespace_is_refused_with_any_text_after_it(wrong: bytes, rest: bytes) -> None:
    data = b"<a>" + wrong + rest + b"</a>"
    fault = refused(data)
    assert "well-formed" in fault.why
    assert fault.at is not None
    assert len(b"<a>") < fault.at <= len(data) - len(rest)


def test_a_namespace_that_is_no_absolute_uri_is_read() -> None:
    assert root_of(b'<a xmlns="msmq.namespace.xml"/>').tag == "{msmq.namespace.xml}a"


@given(st.binary(max_size=60) | st.text("<>/a!?x&;\n \"'=[]", max_size=60).map(str.encode))
def test_any_bytes_are_a_document_or_are_refused_with_an_offset(data: bytes) -> None:
    at: int | None = 0
    try:
        root_of(data)
    except XmlFault as fault:
        at = fault.at
    assert at is None or 0 <= at <= len(data)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"<a/>", ""),
        (b'<?xml version="1.0"?><a encoding="x"/>', ""),
        (b"<?xml version='1.0' encoding='ISO-8859-1' ?><a/>", "iso-8859-1"),
        (b'\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8"?>', "utf-8"),
    ],
)
def test_the_declared_encoding_is_found(data: bytes, encoding: str) -> None:
    assert declared_encoding(data) == encoding
