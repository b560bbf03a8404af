"""An envelope that is read without a parser has the result of the parser, or none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.srmp.codec import canonical
from reliquary.protocols.srmp.codec.canonical import LONGEST, canonical_envelope
from reliquary.protocols.srmp.codec.decode import decode, decode_envelope, parsed_blocks
from reliquary.protocols.srmp.codec.encode import encode
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.header import read_header
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.codec.values import Arrived, Envelope, StreamPosition
from reliquary.queueing.model.message import Message
from tests.protocols.srmp.codec.envelopes import FULL, PLAIN, changed, doubled, element, without
from tests.protocols.srmp.codec.strategies import places, sendable, web_names
from tests.protocols.srmp.codec.vector import LARGEST, PUBLISHED, VECTORS

STREAM = (
    '<stream se:mustUnderstand="1"><streamId>uid:5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10\\7</streamId>'
    "<current>2</current></stream>"
)
QUICK = {"c2_min", "c8", "published_4_5"}
"""The others lack `Msmq` or have elements in elements, receipts or a signature."""


def test_the_plain_messages_are_read_without_a_parser() -> None:
    assert {name for name, vector in VECTORS.items() if canonical_envelope(vector.envelope)} == QUICK


@pytest.mark.parametrize("name", sorted(QUICK))
def test_the_parser_reads_an_equal_message(name: str) -> None:
    assert canonical_envelope(VECTORS[name].envelope) == parsed(VECTORS[name].envelope)


@settings(max_examples=60)
@given(web_names.flatmap(lambda name: sendable(destination=name)), st.none() | places())
def test_the_parser_reads_equal_values_in_any_message(message: Message, place: StreamPosition | None) -> None:
    envelope = encode(message, place)
    quick = canonical_envelope(envelope)
    assert quick is None or quick == parsed(envelope)


@settings(max_examples=60)
@given(web_names.flatmap(lambda name: sendable(destination=name)), st.none() | places())
def test_a_message_has_the_attributes_that_the_parser_gives_it(
    message: Message, place: StreamPosition | None
) -> None:
    envelope = encode(message, place)
    came = decode("text/xml", envelope.encode(), largest=LARGEST)
    assert message_of(came, now=7) == message_of(Arrived(envelope=parsed(envelope), text=envelope), now=7)


@pytest.mark.parametrize(
    "stream", ["", STREAM, STREAM.replace("</current>", "</current><previous>1</previous>")]
)
def test_the_next_message_of_a_sender_repeats_all_but_its_own_numbers(stream: str) -> None:
    first = changed(PLAIN, ("<Msmq", f"{stream}<Msmq"))
    second = first.replace("uuid:43@", "uuid:44@").replace("<current>2", "<current>3")
    came = [decode("text/xml", each.encode(), largest=LARGEST) for each in (first, second)]
    assert came[0].repeated is came[1].repeated is not None
    for each in came:
        bare = Arrived(envelope=parsed(each.text), text=each.text)
        assert message_of(each) == message_of(bare)


@pytest.mark.parametrize("stream", ["", STREAM])
def test_of_the_next_messages_only_the_numbers_are_read(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = changed(PLAIN, ("<Msmq", f"{stream}<Msmq"))
    assert canonical_envelope(first) is not None
    monkeypatch.setattr(canonical, "_FORM", None)
    for number in (1, 77, 4_294_967_295):
        text = first.replace("uuid:43@", f"uuid:{number}@").replace(
            ">2</current>", f">{number + 1}</current>"
        )
        if stream and number > 77:  # the number of a place has 32 bits too
            assert canonical_envelope(text) is None
        else:
            assert canonical_envelope(text) == parsed(text)


def test_a_message_that_does_not_say_when_it_was_sent_repeats_nothing() -> None:
    unsent = without(PLAIN, "sentAt")
    came = decode("text/xml", unsent.encode(), largest=LARGEST)
    assert came.repeated is None
    assert message_of(came, now=7) == message_of(Arrived(envelope=parsed(unsent), text=unsent), now=7)


def parsed(envelope: str) -> Envelope:
    return read_header(parsed_blocks(envelope))


@pytest.mark.parametrize(
    "envelope",
    [
        changed(PLAIN, ("MSMQ:", "MSMQ:Grüße, 日本, 🐘 > \"a' ")),
        changed(PLAIN, ("<Msmq", f"{STREAM}<Msmq")),
        changed(PLAIN, ("<Class>0</Class>", "<Class>0</Class><Journal/><App>7</App>")),
        without(PLAIN, "services"),
        without(PLAIN, "sentAt"),
        changed(PLAIN, ("<Class>0</Class>", ""), ("<TTrq>", "<Class>0</Class><TTrq>")),
    ],
)
def test_canonical_envelopes_are_read_as_by_the_parser(envelope: str) -> None:
    quick = canonical_envelope(envelope)
    assert quick is not None
    assert quick == parsed(envelope)


LEFT = [
    pytest.param(FULL, id="elements in elements"),
    pytest.param(changed(PLAIN, ("<id>uuid:", "<id>uuid:&#52;")), id="an escape in the identifier"),
    pytest.param(changed(PLAIN, ("<id>", "<id>\x01")), id="a control character in the identifier"),
    pytest.param(changed(PLAIN, ("<expiresAt>", "<expiresAt>\x0b")), id="a control character in a date"),
    pytest.param(changed(PLAIN, ("<to>http://", "<to>http://&#97;")), id="an escape in the address"),
    pytest.param(changed(PLAIN, ("<Msmq", f"{STREAM}<Msmq"), ("<current>2", "<current>&#50;")), id="number"),
    pytest.param(
        changed(PLAIN, ("<Class>0</Class>", "<Class>0</Class><ResponseMqf>http://a]]></ResponseMqf>")),
        id="the end of a section in a name",
    ),
    pytest.param(changed(PLAIN, ("<id>uuid:43@", "<id>uuid:4294967296@")), id="a large number"),
    pytest.param(changed(PLAIN, ("<id>uuid:43", "<id> uuid:43")), id="white space in the identifier"),
    pytest.param(
        changed(PLAIN, ("<Msmq", f"{STREAM}<Msmq"), ("<current>2", "<current>4294967296")), id="a large place"
    ),
    pytest.param(changed(PLAIN, ("<durable/>", "<durable></durable>")), id="two tags for one"),
    pytest.param(changed(PLAIN, ("<durable/>", "")), id="no services"),
    pytest.param(changed(PLAIN, ("soap/", "soapx")), id="another namespace"),
    pytest.param(changed(PLAIN, ("xmlsoap.org/rp", "xmlsoap-org/rp")), id="a namespace like it"),
    pytest.param(without(PLAIN, "Msmq"), id="no Msmq"),
    pytest.param(changed(PLAIN, ("MSMQ:", "MSMQ:&amp;")), id="an escape"),
    pytest.param(changed(PLAIN, ("MSMQ:", "MSMQ:\n")), id="a line break"),
    pytest.param(changed(PLAIN, ("MSMQ:", "MSMQ:\x01")), id="a control character"),
    pytest.param(changed(PLAIN, ("MSMQ:", "MSMQ:\ufffe")), id="no character"),
    pytest.param(changed(PLAIN, ("MSMQ:", "MSMQ:]]>")), id="the end of a section"),
    pytest.param(changed(PLAIN, ("MSMQ:", "MSMQ:<![CDATA[x]]>")), id="a section"),
    pytest.param(changed(PLAIN, ("MSMQ:", "MSMQ:<!-- x -->")), id="a comment"),
    pytest.param(changed(PLAIN, ("MSMQ:", "MSMQ:<x/>")), id="an element in a text"),
    pytest.param(changed(PLAIN, ("<action>", "<action >")), id="white space in a tag"),
    pytest.param(changed(PLAIN, ("<action>", "<action a='1'>")), id="an attribute"),
    pytest.param(changed(PLAIN, ("</action>", "</to>")), id="another end"),
    pytest.param(changed(PLAIN, ("</action>", "</action>x")), id="text between elements"),
    pytest.param(changed(PLAIN, ("<action>", "x<action>")), id="text before elements"),
    pytest.param(changed(PLAIN, ("<durable/>", "<durable/>x")), id="text behind an empty element"),
    pytest.param(changed(PLAIN, ("<action>", "<x/><action>")), id="an unknown element"),
    pytest.param(changed(PLAIN, ("<action>", "<x:action>"), ("</action>", "</x:action>")), id="a prefix"),
    pytest.param(changed(PLAIN, ("<durable/>", "<durable//>")), id="two slashes"),
    pytest.param(changed(PLAIN, ("<durable/>", "<durable")), id="half a tag"),
    pytest.param(changed(PLAIN, ("<Msmq ", "<x/><Msmq ")), id="an unknown block"),
    pytest.param(changed(PLAIN, ("</Msmq>", "</Msmq><x/>")), id="a block behind"),
    pytest.param(doubled(PLAIN, "action"), id="twice"),
    pytest.param(doubled(PLAIN, "properties"), id="a block twice"),
    pytest.param(doubled(PLAIN, "services"), id="services twice"),
    pytest.param(
        changed(PLAIN, (element(PLAIN, "services"), STREAM.replace("/stream>", "/Stream>"))), id="case"
    ),
    pytest.param(PLAIN + " ", id="white space behind"),
    pytest.param(" " + PLAIN, id="white space before"),
    pytest.param(changed(PLAIN, ('mustUnderstand="1"><exp', 'mustUnderstand="0"><exp')), id="not understood"),
    pytest.param(changed(PLAIN, ("<se:Body></se:Body>", "<se:Body>x</se:Body>")), id="a body"),
    pytest.param(changed(PLAIN, ("MSMQ:", f"MSMQ:{'x' * LONGEST}")), id="long"),
    *(pytest.param(data.decode(), id=name) for name, data in PUBLISHED.items()),
]


@pytest.mark.parametrize("envelope", LEFT)
def test_other_envelopes_are_left_to_the_parser(envelope: str) -> None:
    assert canonical_envelope(envelope) is None


@pytest.mark.parametrize(
    ("envelope", "element"),
    [
        (without(PLAIN, "Class"), "Class"),
        (changed(PLAIN, ("<Priority>3", "<Priority>9")), "Priority"),
        (changed(PLAIN, ("<to>http:", "<to>ftp:")), "to"),
        (changed(PLAIN, ("<expiresAt>", "<expiresAt>x")), "expiresAt"),
        (changed(PLAIN, ("<Msmq", f"{STREAM}<Msmq"), ("<current>2", "<current>1")), "start"),
    ],
)
def test_errors_are_reported_by_the_parser(envelope: str, element: str) -> None:
    assert canonical_envelope(envelope) is None
    with pytest.raises(SrmpFault, match=element):
        decode_envelope(envelope)


def test_what_two_senders_write_alike_is_read_for_each() -> None:
    first, second = (changed(PLAIN, ("<Priority>3", f"<Priority>{priority}")) for priority in "46")
    for _ in range(2):
        for envelope in (first, second):
            assert canonical_envelope(envelope) == parsed(envelope)
