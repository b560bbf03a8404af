"""Tests thousands of damaged messages: each is read or refused, as `srmp.py` demands, and nothing else."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.fuzz.markup import damaged
from tests.fuzz.srmp import try_both, try_envelope, try_post
from tests.protocols.srmp.codec.envelopes import FIRST
from tests.protocols.srmp.codec.vector import VECTORS
from tests.queueing.state_checks import check, durable
from tests.scenes.srmp.harness import Side

ENVELOPES = 10_000
POSTS = 2_500
PIECES = [
    *(b"", b" ", b"\r\n", b"<", b">", b"&", b"&amp;", b"&#0;", b"&e;", b"]]>", b"<![CDATA[x]]>", b"<!-- -->"),
    *(
        b"0",
        b"1",
        b"-1",
        b"65536",
        b"4294967296",
        b"18446744073709551616",
        b"9" * 400,
        b"\xff",
        "\u0663".encode(),
    ),
    *(
        b"<x/>",
        b"<x>",
        b"</x>",
        b"<durable/>",
        b"<stream>",
        b'<x xmlns="urn:x"/>',
        b"<?pi?>",
        b"<!DOCTYPE x>",
    ),
    *(b"http://x/y", b"MSMQ:MULTICAST=1.2.3.4:5", b"uuid:1@x", b"20130231T000000", b"00000000T000000"),
    *(b"--MSMQ - SOAP boundary, 102", b"Content-Length: 7\r\n", b"Content-Id: body@\r\n"),
]


@pytest.mark.srmp("T-79")
@pytest.mark.spec("SR-182", "SR-183")
def test_ten_thousand_damaged_envelopes_are_read_or_refused() -> None:
    chance = random.Random(79)
    envelopes = [vector.envelope.encode() for vector in VECTORS.values()]
    read = sum(try_envelope(damaged(chance.choice(envelopes), PIECES, chance)) for _ in range(ENVELOPES))
    assert ENVELOPES // 50 < read < ENVELOPES // 2


@pytest.mark.srmp("T-79")
@pytest.mark.spec("SR-182", "SR-183", "SR-209")
def test_a_manager_takes_damaged_messages_or_refuses_them_and_keeps_nothing_of_those() -> None:
    side, chance = Side("beta.example"), random.Random(80)
    side.post("text/xml", FIRST.encode())  # a stream that some of them continue
    envelopes = [vector.envelope.encode() for vector in VECTORS.values()]
    statuses: Counter[int] = Counter()
    for _ in range(POSTS):
        before = len(side.turns)
        status = side.post("text/xml", damaged(chance.choice(envelopes), PIECES, chance)).status
        statuses[status] += 1
        assert status == 200 or not any(turn.facts for turn in side.turns[before:])
    assert set(statuses) == {200, 400}
    check(side.state)
    there = durable(side.state)
    side.restart(start=False)
    assert durable(side.state) == there


def test_damaged_posts_are_read_or_refused() -> None:
    chance = random.Random(4)
    posts = [vector.data for vector in VECTORS.values()]
    read = sum(try_post(damaged(chance.choice(posts), PIECES, chance)) for _ in range(POSTS))
    assert 0 < read < POSTS


def test_the_seeds_are_messages() -> None:
    assert all(try_post(vector.data) for vector in VECTORS.values())
    assert all(try_envelope(vector.envelope.encode()) for vector in VECTORS.values())


def test_noise_is_refused() -> None:
    chance = random.Random(1)
    for size in range(300):
        try_both(chance.randbytes(size))
        try_both(b"<se:Envelope " + chance.randbytes(size))
