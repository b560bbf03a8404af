"""Any message that SRMP can carry, and any place in a stream."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from reliquary.protocols.srmp.codec.lexical import stream_id_text
from reliquary.protocols.srmp.codec.values import StreamPosition
from reliquary.queueing.model.message import (
    FOREVER,
    NO_GUID,
    Acknowledgement,
    Delivery,
    HashAlgorithm,
    Message,
    MessageClass,
    ObjectId,
)

long = st.integers(0, FOREVER)
guid = st.uuids()
maybe_guid = st.just(NO_GUID) | guid
legal_text = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")
    | st.sampled_from("&<>\"'\t\n\r]"),
    max_size=40,
)
_word = st.text("abcXYZ019_.$~-", min_size=1, max_size=8)
_host = st.sampled_from(["a", "beta.example", "gamma-2.example:8080", "10.0.0.1", "[::1]:81"])
urls = st.builds(
    "{}://{}/{}/{}".format,
    st.sampled_from(["http", "https"]),
    _host,
    st.sampled_from(["msmq", "MSMQ/private$", "msmq/PRIVATE$"]),
    _word,
)
web_names = urls.map("DIRECT={}".format)
other_names = st.builds("DIRECT=OS:{}\\private$\\{}".format, _word, _word) | guid.map(
    lambda each: f"PUBLIC={str(each).upper()}"
)
multicast_names = st.builds(
    "MULTICAST={}.{}.{}.{}:{}".format,
    st.integers(224, 239),
    *[st.integers(0, 255)] * 3,
    st.integers(1, 65535),
)
_names = st.lists(web_names | other_names, max_size=3).map(tuple)
_acknowledgements = st.lists(st.sampled_from(Acknowledgement), unique=True, max_size=4).map(tuple)


@st.composite
def places(draw: st.DrawFn) -> StreamPosition:
    """Return any place in a stream."""
    sender, number = draw(guid), draw(st.integers(1, 2**64 - 1))
    current = draw(st.just(1) | st.integers(1, FOREVER))
    return StreamPosition(
        identifier=stream_id_text(sender, number),
        sender=sender,
        number=number,
        current=current,
        previous=draw(st.integers(0, current - 1)),
        receipts_to=draw(urls) if current == 1 else "",
    )


@st.composite
def sendable(draw: st.DrawFn, /, destination: str = "") -> Message:
    """Return any message that has a form in SRMP, to any destination or to this one."""
    source, flags = draw(guid), draw(st.integers(0, 31))
    attributes: dict[str, Any] = {
        "identifier": ObjectId(source, draw(long)),
        "source_machine": source,
        "body": draw(st.binary(max_size=80) | st.just(b"a\r\n--MSMQ - SOAP boundary, 7--\r\n")),
        "extension": draw(st.binary(max_size=20)),
        "body_type": draw(long),
        "label": draw(legal_text),
        "priority": draw(st.integers(0, 7)),
        "delivery": draw(st.sampled_from(Delivery)),
        "message_class": draw(st.just(0) | st.sampled_from(MessageClass).map(int)),
        "sent_time": draw(long),
        "time_to_reach_queue": draw(st.just(0x54600) | long),
        "time_to_be_received": draw(st.just(FOREVER) | long),
        "correlation": draw(st.builds(ObjectId, maybe_guid, long)),
        "application_tag": draw(st.just(0) | long),
        "acknowledgements": draw(_acknowledgements),
        "positive_journaling": bool(flags & 1),
        "negative_journaling": bool(flags & 2),
        "tracing_requested": bool(flags & 4),
        "response_queue": draw(st.just("") | web_names | other_names),
        "administration_queue": draw(st.just("") | web_names),
        "destination_queue": destination or draw(web_names | multicast_names),
        "destination_queues": draw(_names),
        "administration_queues": draw(_names),
        "response_queues": draw(_names),
        "hash_algorithm": draw(st.sampled_from([each for each in HashAlgorithm if each.value != "sha"])),
        "connector_type": draw(maybe_guid),
        "connector_manager": draw(maybe_guid),
        "first_in_transaction": bool(flags & 8),
        "last_in_transaction": bool(flags & 16),
        "authentication_provider_type": draw(st.just(1) | long),
        "authentication_provider_name": draw(st.just("") | legal_text),
    }
    return Message.of(**attributes)
