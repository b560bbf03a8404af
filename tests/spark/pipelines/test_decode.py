"""Every message is understood or damaged, never an exception; the vectors of the codecs say what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.pipelines.content import BodyKind, Content, Damage
from reliquary.spark.pipelines.decode import decode, decode_body
from tests.protocols.httpr.codec.vector import VECTORS as BATCHES
from tests.protocols.srmp.codec.envelopes import FULL, PLAIN
from tests.protocols.srmp.codec.vector import PUBLISHED, VECTORS

SOAP = (
    '<?xml version="1.0"?><s:Envelope xmlns:s="{}"><s:Header><a:To xmlns:a="urn:a">x</a:To></s:Header>'
    "<s:Body>{}</s:Body></s:Envelope>"
)
SOAP_11 = "http://schemas.xmlsoap.org/soap/envelope/"
SOAP_12 = "http://www.w3.org/2003/05/soap-envelope"


def good(body: bytes, body_type: int = 0) -> Content:
    found = decode_body(body, body_type)
    assert isinstance(found, Content), found
    return found


def bad(body: bytes) -> Damage:
    found = decode_body(body)
    assert isinstance(found, Damage), found
    return found


@pytest.mark.parametrize("name", VECTORS)
def test_a_post_of_srmp_is_read_whole_and_in_parts(name: str) -> None:
    post = VECTORS[name]
    for data in (post.data, post.body):
        found = good(data)
        assert found.kind is BodyKind.SRMP
        assert found.envelope is not None
        assert found.text == post.envelope or name == "published_4_5"
    assert {part.content_id for part in good(post.data).parts} <= {"body", "extension"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_envelope_is_read(name: str) -> None:
    assert good(PUBLISHED[name]).kind is BodyKind.SRMP


RECOGNISED = [name for name, each in BATCHES.items() if each.data.startswith((b"request:", b"HTTPR/"))]
"""An answer in a session cannot be distinguished from text."""


@pytest.mark.parametrize("name", RECOGNISED)
def test_a_datastream_of_httpr_is_read_with_its_messages(name: str) -> None:
    vector = BATCHES[name]
    found = good(vector.data)
    assert found.kind is BodyKind.HTTPR
    assert [part.data for part in found.parts] == [each.body for each in vector.messages]
    assert [len(part.fields) for part in found.parts] == [
        each.header.count("\r\n") for each in vector.messages
    ]


def test_a_batch_without_its_command_is_read() -> None:
    found = good(b"message-size:5\r\ntarget-uri:httpr://h/s#Q1\r\n\r\nhello\r\npayload-disposition:last\r\n")
    assert found.kind is BodyKind.HTTPR
    assert [(dict(part.fields), part.data) for part in found.parts] == [
        ({"target-uri": "httpr://h/s#Q1"}, b"hello")
    ]
    assert bad(b"message-size:5\r\ntarget-uri:x\r\n\r\nhel").kind is BodyKind.HTTPR


def test_a_large_message_of_a_batch_is_whole() -> None:
    large = b"x" * (3 << 20)
    found = good(
        b"message-size:%d\r\ntarget-uri:x\r\n\r\n%b\r\npayload-disposition:last\r\n" % (len(large), large)
    )
    assert [part.data for part in found.parts] == [large]


@pytest.mark.parametrize(("namespace", "version"), [(SOAP_11, "1.1"), (SOAP_12, "1.2")])
def test_an_envelope_of_an_application_tells_what_it_calls(namespace: str, version: str) -> None:
    found = good(SOAP.format(namespace, '<m:Order xmlns:m="urn:m"/>').encode())
    assert found.kind is BodyKind.SOAP
    assert found.soap is not None
    assert (found.soap.version, found.soap.blocks, found.soap.operation) == (
        version,
        ("{urn:a}To",),
        "{urn:m}Order",
    )
    failed = good(SOAP.format(namespace, "<s:Fault><faultstring>no stock</faultstring></s:Fault>").encode())
    assert failed.soap is not None
    assert failed.soap.fault == "no stock"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(b"", BodyKind.EMPTY, id="nothing"),
        pytest.param(b"hello", BodyKind.TEXT, id="text"),
        pytest.param(b"<3 you", BodyKind.TEXT, id="no element"),
        pytest.param(b"[note] call back", BodyKind.TEXT, id="no array"),
        pytest.param(b"{placeholder}", BodyKind.TEXT, id="no object"),
        pytest.param(b"--signed--", BodyKind.TEXT, id="no boundary"),
        pytest.param(b' {"a": [1, 2.5, null]}', BodyKind.JSON, id="object"),
        pytest.param(b"[true]", BodyKind.JSON, id="array"),
        pytest.param('{"a": "\u00fc"}'.encode("utf-16"), BodyKind.JSON, id="JSON in UTF-16"),
        pytest.param(b"\n<a/>", BodyKind.XML, id="element"),
        pytest.param(
            '<?xml version="1.0" encoding="iso-8859-1"?><a>\u00fc</a>'.encode("latin-1"),
            BodyKind.XML,
            id="Latin-1",
        ),
        pytest.param("<a>\u00fc</a>".encode("utf-16-le"), BodyKind.XML, id="XML in UTF-16 without a mark"),
        pytest.param(b"\x00\x01\x00\x00\x00\xff", BodyKind.BINARY, id="binary"),
        pytest.param(b"ab\x01", BodyKind.BINARY, id="controls"),
        pytest.param(b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", BodyKind.MIME, id="parts"),
    ],
)
def test_what_a_body_is(body: bytes, kind: BodyKind) -> None:
    assert good(body).kind is kind


@pytest.mark.parametrize(
    ("body", "kind", "why", "at"),
    [
        pytest.param(b'{"a": 1,}', BodyKind.JSON, "trailing comma", 8, id="comma"),
        pytest.param(b'{"a": "x', BodyKind.JSON, "truncated", 8, id="cut"),
        pytest.param(b'{"a": "\xff"}', BodyKind.JSON, "not UTF-8", 7, id="no UTF-8"),
        pytest.param(b"[" * 100_000, BodyKind.JSON, "nested", None, id="deep"),
        pytest.param(b"<a><b></a>", BodyKind.XML, "well-formed", 10, id="crossed"),
        pytest.param(
            b'<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', BodyKind.XML, "document type", 0, id="entity"
        ),
        pytest.param(
            b'<?xml version="1.0" encoding="rot13"?><a/>', BodyKind.XML, "not known", None, id="no encoding"
        ),
        pytest.param(
            b'<?xml version="1.0" encoding="ascii"?><a>\xfc</a>',
            BodyKind.XML,
            "is not ascii",
            41,
            id="not as declared",
        ),
        pytest.param(
            b"--b\r\nContent-Length: 99\r\n\r\nx", BodyKind.MIME, "claims 99 bytes", None, id="short part"
        ),
        pytest.param(b"request:PUSH HTTPR/1.0\r\n\r\n", BodyKind.HTTPR, "requester", None, id="no requester"),
        pytest.param(
            SOAP.format(SOAP_11, "").replace("s:Body", "s:Corpse").encode(),
            BodyKind.SOAP,
            "no Body",
            None,
            id="no Body",
        ),
    ],
)
def test_what_is_damaged_says_where(body: bytes, kind: BodyKind, why: str, at: int | None) -> None:
    found = bad(body)
    assert found.kind is kind
    assert why in found.why
    assert found.at == at


def test_an_envelope_of_a_manager_that_breaks_a_rule_names_the_element() -> None:
    assert bad(FULL.replace("<to>", "<too>").replace("</to>", "</too>").encode()).place == "to"


def test_the_envelope_with_which_a_message_came_is_read_beside_its_body() -> None:
    found = decode(b'{"a": 1}', 0, PLAIN)
    assert isinstance(found, Content)
    assert found.kind is BodyKind.JSON
    assert found.envelope is not None
    assert found.envelope == good(PLAIN.encode()).envelope
    whole = decode(b'{"a": 1}', 0, None, VECTORS["c2_min"].body.decode())
    assert isinstance(whole, Content)
    assert whole.envelope == found.envelope
    damaged = decode(b'{"a": 1}', 0, PLAIN[:-3])
    assert isinstance(damaged, Damage)
    assert damaged.kind is BodyKind.SRMP


def test_the_header_with_which_a_message_came_by_httpr_is_a_map() -> None:
    found = decode(b"x", 0, httpr_header="target-uri:httpr://h/s#Q1\r\nPriority: 4\r\n")
    assert isinstance(found, Content)
    assert found.fields == {"target-uri": "httpr://h/s#Q1", "priority": "4"}
    damaged = decode(b"x", 0, httpr_header="no field\r\n")
    assert isinstance(damaged, Damage)
    assert (damaged.kind, damaged.place) == (BodyKind.HTTPR, "httpr_header")


_SEEDS = [
    *(each.data for each in VECTORS.values()),
    *(each.data for each in BATCHES.values()),
    b'{"a": [1, "x"]}',
]


@st.composite
def damaged_bodies(draw: st.DrawFn) -> bytes:
    body = bytearray(draw(st.sampled_from(_SEEDS)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(body) - 1))
        body[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3)) or b"<"
    return bytes(body[: draw(st.integers(0, len(body)))])


@given(
    st.binary(max_size=80) | st.text(max_size=40).map(str.encode) | damaged_bodies(),
    st.sampled_from([0, 8, 30, 31, None]),
    st.none() | st.text(max_size=30) | st.just(PLAIN),
    st.none() | st.text(max_size=30),
    st.none() | st.text(max_size=30),
)
def test_any_message_is_understood_or_damaged_within_its_bytes(
    body: bytes, body_type: int | None, envelope: str | None, compound: str | None, header: str | None
) -> None:
    found = decode(body, body_type, envelope, compound, header)
    assert isinstance(found, Content | Damage)
    if isinstance(found, Damage):
        assert found.why
        assert found.at is None or 0 <= found.at <= len(body)
