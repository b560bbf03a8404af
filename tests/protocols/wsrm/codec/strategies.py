"""Any value that a dialect can carry, for properties: what is written is read back."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from reliquary.base.time import DAY, Duration
from reliquary.protocols.wsrm.codec.addressing import ANONYMOUS
from reliquary.protocols.wsrm.codec.fault_forms import FORMS, Family, code_in
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    LARGEST_BUFFER,
    LAST_NUMBER,
    NO_BUFFER,
    Acknowledgement,
    Addressing,
    Attachment,
    Body,
    CloseSequence,
    CloseSequenceResponse,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Fault,
    Incomplete,
    MakeConnection,
    Offer,
    Payload,
    Properties,
    Reference,
    SequenceHeader,
    Soap,
    TerminateSequence,
    TerminateSequenceResponse,
    Version,
)

dialects = st.builds(Dialect, st.sampled_from(Version), st.sampled_from(Soap), st.sampled_from(Addressing))
uris = st.sampled_from([
    "http://host/path?a=1&b=2", "urn:uuid:0b162747-99cf-479c-972f-95b776e141c3", "urn:x:<é>",
    "opaque text, no URI", "http://docs.oasis-open.org/ws-rx/wsmc/200702/anonymous?id=7",
])  # fmt: skip
plain_uris = st.sampled_from(["http://host/path?a=1&b=2", "urn:a", "http://host/wsrm/orders"])
"""URIs that the schemas take for an anyURI."""
numbers = st.integers(1, LAST_NUMBER)
durations = st.integers(1, 1000 * DAY).map(Duration)
fragments = st.sampled_from([
    b'<p xmlns="urn:p">1</p>', b'<q:a xmlns:q="urn:q"/><q:b xmlns:q="urn:q">x &amp; y</q:b>', b"<plain/>",
    b"<k xmlns='urn:k' v='a>b'>t<!-- c --></k>",
])  # fmt: skip


@st.composite
def ranges(draw: st.DrawFn) -> tuple[tuple[int, int], ...]:
    """Disjoint ranges in their order, none of which touch."""
    steps = draw(st.lists(st.tuples(st.integers(2, 100), st.integers(0, 100)), max_size=5))
    found, at = [], -1
    for gap, length in steps:
        found.append((at + gap, at + gap + length))
        at += gap + length
    return tuple(found)


def references(dialect: Dialect, addresses: st.SearchStrategy[str] = uris) -> st.SearchStrategy[Reference]:
    none = st.just(b"")
    properties = none | fragments if dialect.addressing is Addressing.WSA2004 else none
    return st.builds(Reference, addresses, none | fragments, properties)


def acknowledgements(
    dialect: Dialect, identifiers: st.SearchStrategy[str] = uris
) -> st.SearchStrategy[Acknowledgement]:
    final = st.booleans() if dialect.version is Version.RM11 else st.just(False)
    room = st.just(NO_BUFFER) | st.integers(0, LARGEST_BUFFER)
    positive = st.builds(Acknowledgement, identifiers, ranges(), st.just(()), final, room)
    nacks = st.lists(numbers, min_size=1, max_size=3).map(tuple)
    negative = st.builds(Acknowledgement, identifiers, st.just(()), nacks, st.just(False), room)
    return positive | negative


def offers(dialect: Dialect, addresses: st.SearchStrategy[str]) -> st.SearchStrategy[Offer]:
    expires = st.none() | durations
    if dialect.version is Version.RM10:
        return st.builds(Offer, addresses, st.none(), expires, st.none())
    incomplete = st.none() | st.sampled_from(Incomplete)
    return st.builds(Offer, addresses, references(dialect, addresses), expires, incomplete)


def fault_codes(dialect: Dialect) -> st.SearchStrategy[FaultCode]:
    return st.sampled_from([code for code in FaultCode if code_in(code, dialect.version) is code])


@st.composite
def faults(draw: st.DrawFn, dialect: Dialect, addresses: st.SearchStrategy[str]) -> Fault:
    code = draw(fault_codes(dialect))
    reason = draw(st.sampled_from(["", "because of <this> & that"]))
    if FORMS[code].family is Family.ADDRESSING and dialect == Dialect(
        dialect.version, Soap.SOAP11, Addressing.WSA2004
    ):
        return Fault(code, reason)  # there is no place for a detail
    if code is FaultCode.INVALID_ACKNOWLEDGEMENT:
        return Fault(code, reason, draw(addresses))
    return Fault(code, reason, draw(st.just("") | addresses))


def protocol_bodies(dialect: Dialect, addresses: st.SearchStrategy[str] = uris) -> st.SearchStrategy[Body]:
    """Return any body but an application's."""
    expires = st.none() | durations
    in11 = dialect.version is Version.RM11
    incomplete = st.none() | st.sampled_from(Incomplete) if in11 else st.none()
    last = st.just(0) | numbers if in11 else st.just(0)
    epr = references(dialect, addresses)
    choices: list[st.SearchStrategy[Any]] = [
        st.builds(CreateSequence, epr, expires, st.none() | offers(dialect, addresses)),
        st.builds(CreateSequenceResponse, addresses, expires, incomplete, st.none() | epr),
        st.builds(TerminateSequence, addresses, last),
        st.builds(MakeConnection, st.just("") | addresses, st.just("") | addresses, st.just("")),
        faults(dialect, addresses),
    ]
    if in11:
        choices += [
            st.builds(CloseSequence, addresses, last),
            st.builds(CloseSequenceResponse, addresses),
            st.builds(TerminateSequenceResponse, addresses),
        ]
    return st.one_of(choices)


# -- content of a Body

_texts = st.sampled_from([
    "", " ", "\r\n\t", "text", "soap:x wsa:y soap1:z", "&lt;&amp;&#13;", "é\U0001f600", "a > b", "]] >",
    "<![CDATA[</soap:Body><soap:Body>]]>", "<!-- </soap:Body> wsrm:None -->", "<?pi soap:Body?>",
])  # fmt: skip
_attributes = st.sampled_from([
    "", " a='1 > 0'", ' b="soap:q"', ' xmlns:soap="urn:soap" soap:c="x"', ' xmlns="urn:d"', " ", "\n",
])  # fmt: skip
_names = st.sampled_from([
    ("a", ""), ("Body", ""), ("p:b", ' xmlns:p="urn:p"'), ("soap:Body", ' xmlns:soap="urn:s"'), ("é-1", ""),
    ("soap2:x", ' xmlns:soap2="urn:s"'), ("wsa:To", ' xmlns:wsa="urn:w"'),
])  # fmt: skip


@st.composite
def _elements(draw: st.DrawFn, depth: int = 2) -> str:
    name, declared = draw(_names)
    attributes = draw(_attributes)
    if declared and declared.split("=")[0] in attributes:
        attributes = ""
    if draw(st.booleans()):
        return f"<{name}{declared}{attributes}/>"
    children = draw(st.lists(_texts | _elements(depth - 1) if depth else _texts, max_size=3))
    return f"<{name}{declared}{attributes}>{''.join(children)}</{name}>"


contents = st.lists(_texts | _elements(), max_size=3).map(lambda parts: "".join(parts).encode())
"""Anything that may stand in a Body, whose prefixes are declared in it."""
attachments = st.lists(
    st.builds(
        Attachment,
        st.sampled_from(["image/png", "text/plain; charset=utf-8"]),
        st.sampled_from(["", "a@b", "extension@reliquary"]),
        st.binary(max_size=50) | st.just(b"--reliquary-\r\n--"),
    ),
    max_size=3,
).map(tuple)


def payloads(dialect: Dialect) -> st.SearchStrategy[Payload]:
    kind = "text/xml" if dialect.soap is Soap.SOAP11 else "application/soap+xml"
    return st.builds(Payload, contents, st.just(()) | attachments, st.sampled_from(["", kind]))


labels = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=9
)
properties = st.builds(
    Properties,
    label=st.none() | labels | st.just("a\tb\r\nc"),
    priority=st.integers(0, 7),
    body_type=st.integers(0, 2**32 - 1),
    application_tag=st.integers(0, 2**32 - 1),
    express=st.booleans(),
    sent_time=st.integers(0, 2**32 - 1),
    time_to_be_received=st.none() | st.integers(0, 2**32 - 1),
    correlation=st.sampled_from(["", "uuid:7@0b162747-99cf-479c-972f-95b776e141c3"]),
    response_queue=st.sampled_from(["", "DIRECT=HTTP://a/msmq/b"]),
    message_class=st.sampled_from([0, 2, 0x8001]),
    dead_letter=st.booleans(),
    administration_queue=st.sampled_from(["", "DIRECT=OS:a\\private$\\b"]),
    acknowledgements=st.sampled_from([(), ("pos-arrival",), ("full-receive", "nack-receive")]),
).filter(lambda chosen: chosen != Properties())


@st.composite
def envelopes(draw: st.DrawFn, addresses: st.SearchStrategy[str] = uris) -> Envelope:
    """Return any envelope, in any dialect, that comes back as it was but for an action that was empty."""
    dialect = draw(dialects)
    in10 = dialect.version is Version.RM10
    optional = st.just("") | addresses
    epr = st.none() | references(dialect, addresses)
    to = draw(st.none() | addresses.map(Reference))
    if to is None and dialect.addressing is Addressing.WSA2004:
        to = Reference(ANONYMOUS[dialect.addressing])
    security = st.just(False) if in10 else st.booleans()
    last = st.booleans() if in10 else st.just(False)
    place = st.none() | st.builds(SequenceHeader, addresses, numbers, last)
    acks = st.lists(acknowledgements(dialect, addresses), max_size=2).map(tuple)
    body = draw(protocol_bodies(dialect, addresses) | payloads(dialect))
    sequence = place if isinstance(body, Payload) else st.none()
    return Envelope(
        dialect=dialect,
        action=draw(addresses),
        to=to,
        message_id=draw(optional),
        relates_to=draw(optional),
        reply_to=draw(epr),
        fault_to=draw(epr),
        sequence=draw(sequence),
        acknowledgements=draw(acks),
        ack_requests=draw(st.lists(addresses, max_size=2, unique=True).map(tuple)),
        uses_str=draw(security),
        uses_ssl=draw(security),
        pending=draw(st.none() | st.booleans()),
        properties=draw(st.none() | properties),
        body=body,
    )
