"""Tests thousands of damaged conversations: each is read or ends the connection, as `rpc.py` demands."""

from __future__ import annotations

import random

import pytest

from reliquary.wire.rpc.calls import encode_bare, encode_fault, response_head
from reliquary.wire.rpc.features import features_syntax
from reliquary.wire.rpc.header import WHOLE, Flag, PduType
from reliquary.wire.rpc.syntaxes import MGMT, NDR20_SYNTAX, NDR64_SYNTAX, QM2QM
from reliquary.wire.rpc.trailer import Claims, encode_trailer
from reliquary.wire.rpc.verifier import Verifier
from tests.fuzz.rpc import ACK, try_both, try_client, try_server
from tests.fuzz.test_packet import damaged
from tests.protocols.rpc.links import bind, element, request

ROUNDS = 800
CLAIMS = Claims(QM2QM, NDR20_SYNTAX, call=3, context=0, opnum=2, header_signing=False)
BOUND = bind(element(), element(1, MGMT, [NDR64_SYNTAX]), element(2, MGMT, [features_syntax(3)]), flags=0x10)
SEEDS = {
    "calls": BOUND + request(b"stub", call=1) + request(b"stub", call=2, context=1),
    "fragments": BOUND
    + request(b"one ", flags=Flag.FIRST)
    + encode_bare(PduType.CO_CANCEL, 1)
    + request(b"two", flags=Flag.LAST)
    + encode_bare(PduType.ORPHANED, 1),
    "trailer": BOUND + request(b"stub" + encode_trailer(4, CLAIMS), call=3, opnum=2),
    "altered": BOUND + bind(element(5), kind=PduType.ALTER_CONTEXT) + request(context=5),
    "secured": bind(element(), verifier=Verifier(10, 5, 1, b"NTLMSSP")),
    "signed": BOUND + request(bytes(16), verifier=Verifier(10, 5, 1, bytes(16))),
    "opened": ACK,
    "answers": response_head(WHOLE, 28, 0, 1, 4, 0, 0) + b"stub",
    "fault": encode_fault(1, 0, 5, executed=True) + encode_bare(PduType.SHUTDOWN, 0),
}


@pytest.mark.parametrize("name", SEEDS)
def test_a_damaged_conversation_is_read_or_ends(name: str) -> None:
    chance = random.Random(name)
    for _ in range(ROUNDS):
        try_both(damaged(SEEDS[name], chance))


def test_the_seeds_are_conversations() -> None:
    assert [name for name, seed in SEEDS.items() if try_server(seed)] == [
        "calls",
        "fragments",
        "trailer",
        "altered",
    ]
    assert try_client(ACK)


def test_noise_ends_the_connection() -> None:
    chance = random.Random(1)
    for size in range(300):
        try_both(chance.randbytes(size))
        try_both(BOUND + b"\5\0" + chance.randbytes(size))
