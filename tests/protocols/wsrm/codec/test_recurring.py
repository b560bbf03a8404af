"""An envelope that is read by a known head has the result of reading the whole envelope."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec import decode as decoding
from reliquary.protocols.wsrm.codec import recurring
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.faults import WsrmFault
from reliquary.protocols.wsrm.codec.recurring import Head, Heads, cut
from reliquary.protocols.wsrm.codec.values import Dialect, Envelope, Payload, SequenceHeader
from tests.protocols.wsrm.codec.mutations import SEEDS, damaged
from tests.protocols.wsrm.codec.vector import GSOAP, XML_TYPE, soap12

BLOCKS = (
    '<r:Sequence s:mustUnderstand="1"><r:Identifier>urn:s</r:Identifier>'
    "<r:MessageNumber>%s</r:MessageNumber></r:Sequence>"
    "<a:Action>urn:order</a:Action><a:MessageID>%s</a:MessageID><a:To>http://host/wsrm/orders</a:To>"
)


@pytest.fixture(autouse=True)
def heads(monkeypatch: pytest.MonkeyPatch) -> Heads:
    """Let each test begin without any head that is known."""
    fresh = Heads()
    monkeypatch.setattr(decoding, "_HEADS", fresh)
    return fresh


def written(number: object, content: str = "<o/>", message_id: str = "urn:m") -> bytes:
    return soap12(BLOCKS % (number, message_id), content)


def outcome(data: bytes, content_type: str = XML_TYPE) -> object:
    """Return the envelope, or what the fault says."""
    try:
        return decode(content_type, data)
    except WsrmFault as fault:
        return fault.fault, fault.dialect


def whole(data: bytes, content_type: str = XML_TYPE) -> object:
    """Decode without a known head."""
    known, decoding._HEADS = decoding._HEADS, Heads()  # type: ignore[misc]
    try:
        return outcome(data, content_type)
    finally:
        decoding._HEADS = known  # type: ignore[misc]


def teach(data: bytes, content_type: str = XML_TYPE) -> None:
    """Let an envelope come twice, from when on its head is known."""
    for _ in range(2):
        outcome(data, content_type)


def is_known(data: bytes) -> bool:
    parts = cut(data)
    return parts is not None and decoding._HEADS.get(parts.frame) is not None


# -- which heads are known


def test_a_head_is_known_when_it_came_twice() -> None:
    decode(XML_TYPE, written(1, message_id="urn:a"))
    assert not is_known(written(3))
    decode(XML_TYPE, written(2, message_id="urn:b"))
    assert is_known(written(3, "<other/>", "urn:c"))


def test_a_message_with_a_known_head_is_not_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(written(1))
    monkeypatch.delattr(decoding, "_document")
    envelope = decode(XML_TYPE, written(8, "<o>text</o>", "urn:eight"))
    assert (envelope.sequence, envelope.message_id) == (SequenceHeader("urn:s", 8), "urn:eight")
    assert (envelope.action, envelope.body) == ("urn:order", Payload(b"<o>text</o>"))


@pytest.mark.parametrize("name", [name for name in GSOAP if b"MessageNumber" in GSOAP[name]])
def test_messages_of_gsoap_have_heads_that_recur(name: str) -> None:
    teach(GSOAP[name])
    assert is_known(GSOAP[name])
    assert outcome(GSOAP[name]) == whole(GSOAP[name])


def test_other_blocks_make_another_head() -> None:
    teach(written(1))
    assert not is_known(soap12(BLOCKS % (2, "urn:m") + "<a:RelatesTo>urn:x</a:RelatesTo>", "<o/>"))


@pytest.mark.parametrize(
    "data",
    [
        soap12("<a:Action>urn:a</a:Action>", "<o/>"),
        written("1x"),
        written(" 1 "),
        written("1" * 19),
        written(1, message_id="urn:a&amp;b"),
        written(1, message_id=" urn:a "),
        written(1, message_id="urn:\u00e9"),
        written(1, message_id="urn:" + "a" * 200),
        soap12(BLOCKS % (1, "urn:m") + f"<x>{'a' * recurring.LONGEST}</x>", "<o/>"),
        b"",
        b"MessageNumber>1</Header></",
    ],
)
def test_what_is_not_like_most_messages_is_not_cut(data: bytes) -> None:
    assert cut(data) is None


@pytest.mark.parametrize(
    "blocks",
    [
        "<!--<x>MessageNumber>5</x>-->" + BLOCKS % (1, "urn:m"),
        "<?x MessageNumber>5</x?>" + BLOCKS % (1, "urn:m"),
        "<x><MessageNumber>5</MessageNumber></x>" + BLOCKS % (1, "urn:m"),
        "<x:MessageID xmlns:x='urn:x'>urn:y</x:MessageID>" + BLOCKS % (1, "urn:some"),
        (BLOCKS % (1, "urn:m")).replace("<a:MessageID>urn:m</a:MessageID>", "<?x MessageID>5</MessageID?>"),
        (BLOCKS % (1, "urn:m")).replace("a:MessageID>", "a:MessageID >"),
        (BLOCKS % (1, "urn:m")).replace("a:MessageID>", "r:MessageID>"),
        BLOCKS % (1, "urn:m") + "<x:FooHeader xmlns:x='urn:x'><x:y/></x:FooHeader>",
    ],
)
def test_where_number_or_message_id_may_stand_elsewhere_the_whole_is_read(blocks: str) -> None:
    data = soap12(blocks, "<o/>")
    teach(data)
    assert not is_known(data)
    assert outcome(data) == whole(data)


def test_heads_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recurring, "MOST", 2)
    heads, head = Heads(), Head(Envelope(dialect=Dialect()), {})
    frames = [bytes([each]) for each in range(3)]
    assert not any([heads.is_wanted(frame) for frame in frames])  # noqa: C419 - each of them is noted
    assert [heads.is_wanted(frame) for frame in reversed(frames)] == [True, False, False]
    for frame in frames:
        heads.keep(frame, head)
    assert [heads.get(frame) for frame in frames] == [None, None, head]


def test_a_frame_that_cannot_be_kept_is_looked_at_once() -> None:
    heads = Heads()
    heads.is_wanted(b"a")
    assert heads.is_wanted(b"a")
    heads.keep(b"a", None)
    assert not heads.is_wanted(b"a")


# -- what they say


@pytest.mark.parametrize(
    "content",
    [
        "",
        " ",
        "text",
        "<o/>",
        "<a:o/>",
        " <a:o x='s:y'/> ",
        "<a:o/><r:o/>",
        "<!-- a: --><a:o/>",
        "<o>the ratio a:b</o>",
        "<o xmlns='urn:o'>a</o>",
        "<o xmlns:a='urn:other'><a:b/></o>",
        "<o",
        "<o>",
        "</o>",
        "<q:o/>",
        "<o a='1' a='2'/>",
        "<o xmlns:b='http://www.w3.org/2005/08/addressing' a:x='1' b:x='2'/>",
        "&e;",
        "&#0;",
        "]]>",
        "<![CDATA[x]]>",
        "<!-- ",
        "</s:Body><s:Body>",
        "</s:Body></s:Envelope><s:Envelope><s:Body>",
        "</e><e>",
        "</e></e><e><e>",
        "<s:Body/>",
        "<s:Body></s:Body>",
        "<x>" * 253 + "</x>" * 253,
        "<x>" * 254 + "</x>" * 254,
        "<x>" * 255 + "</x>" * 255,
    ],
)
def test_any_content_is_read_as_in_the_whole(content: str) -> None:
    teach(written(1))
    data = written(2, content)
    assert is_known(data)
    assert outcome(data) == whole(data)


def test_the_default_namespace_is_declared_where_content_needs_it() -> None:
    data = written(2).replace(b"<s:Envelope", b'<s:Envelope xmlns="urn:default"')
    teach(data)
    assert is_known(data)
    envelope = decode(XML_TYPE, data)
    assert envelope.body == Payload(b'<o xmlns="urn:default"/>')
    assert envelope == whole(data)


@pytest.mark.parametrize("name", SEEDS)
@given(seed=st.integers(min_value=0, max_value=2**32))
def test_any_recurring_envelope_is_read_as_a_whole_one(name: str, seed: int) -> None:
    chance = random.Random(seed)
    content_type, data = SEEDS[name]
    decoding._HEADS = Heads()  # type: ignore[misc]
    teach(data, content_type)
    for _ in range(3):
        data = damaged(data, chance)
        teach(data, content_type)
        assert outcome(data, content_type) == whole(data, content_type)
        parts = cut(data)
        if parts is not None:  # the head stays, what it carries changes
            content = damaged(parts.content, chance) if parts.content else b"<a:b/>"
            again = data.replace(parts.content, content) if parts.content else data
            assert outcome(again, content_type) == whole(again, content_type)
