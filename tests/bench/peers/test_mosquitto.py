"""Tests MQTT 5: lengths in seven bits, the packets of QoS 2 in both roles."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bench.peers.mosquitto import (
    PUBCOMP,
    PUBREC,
    PUBREL,
    MosquittoLink,
    acknowledge,
    connect,
    packet,
    publish,
    size,
)
from tests.bench.peers.scripted import answered, linked


@pytest.mark.parametrize(
    ("length", "octets"), [(0, "00"), (127, "7f"), (128, "8001"), (16_383, "ff7f"), (16_384, "808001")]
)
def test_a_length_has_seven_bits_in_an_octet(length: int, octets: str) -> None:
    assert size(length) == bytes.fromhex(octets)


def test_a_session_outlives_its_connection() -> None:
    properties = b"\x11\x00\x01\x51\x80\x21\x00\x40"
    head = b"\x00\x04MQTT\x05\x00\x00\x00"
    assert connect("me") == b"\x10\x17" + head + b"\x08" + properties + b"\x00\x02me"


def test_a_message_has_a_topic_a_number_and_no_properties() -> None:
    assert publish("ab", 258, b"body") == b"\x34\x0b\x00\x02ab\x01\x02\x00body"


def test_a_message_is_confirmed_when_its_four_packets_have_gone() -> None:
    link, transport = linked(MosquittoLink, in_flight=2)
    received = [acknowledge(PUBREC, number) for number in (1, 2)]
    complete = [acknowledge(PUBCOMP, number) for number in (2, 1)]
    answered(link, lambda: link.send(7), *received, *complete)
    sent = publish("orders", 1, b"%020d" % 7 + link._rest) + publish("orders", 2, b"%020d" % 7 + link._rest)
    assert transport.written == sent + acknowledge(PUBREL, 1) + acknowledge(PUBREL, 2)


def test_a_message_has_arrived_when_its_sender_has_released_it() -> None:
    link, transport = linked(MosquittoLink)
    came = publish("orders", 9, b"%020d" % 5)
    assert answered(link, link.receive, came, acknowledge(PUBREL, 9)) == (1, 5)
    assert transport.written == acknowledge(PUBREC, 9) + acknowledge(PUBCOMP, 9)


def test_a_large_packet_waits_for_all_its_octets() -> None:
    link, _ = linked(MosquittoLink)
    whole = bytearray(publish("orders", 9, bytes(1024)))
    assert [link.take_frame(whole[:length], 0) for length in (1, 2, 3, len(whole) - 1)] == [0, 0, 0, 0]
    assert link.take_frame(whole, 0) == len(whole)


@pytest.mark.parametrize(
    "refusal",
    [packet(PUBREC, b"\x00\x01\x97"), packet(0x20, b"\x00\x87\x00"), packet(PUBCOMP, b"\x00\x01\x92")],
)
def test_a_reason_from_80_on_fails_the_load(refusal: bytes) -> None:
    link, _ = linked(MosquittoLink)
    with pytest.raises(RuntimeError, match="reason 0x"):
        answered(link, lambda: link.send(7), refusal)


def test_a_link_with_nothing_to_receive_waits_only_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.peers.link.PATIENCE", 0.001)
    link: Any
    link, _ = linked(MosquittoLink)
    assert asyncio.run(link.receive()) == (0, 0)
