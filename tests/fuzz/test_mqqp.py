"""Tests thousands of damaged stubs: each is read or refused, as `mqqp.py` demands, and nothing else."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reliquary.protocols.mqqp.codec.qm2qm import Request
from reliquary.protocols.mqqp.codec.stubs import encode_request, interface_of, opnum_of
from reliquary.wire.ndr.encoding import Encoding
from tests.fuzz.mqqp import try_request, try_response, try_stub
from tests.protocols.mqqp.codec.second_encoder import pack, response_items
from tests.protocols.mqqp.codec.strategies import ANSWERS, encodings, requests

WOUNDS = 50
NUMBERS = [0, 1, 2, 3, 8, 9, 16, 17, 0xFF, 0x420000, 0x420001, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


def damaged(stub: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one to three changes: a bit, a number, a cut, some bytes twice."""
    changed = bytearray(stub)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(changed) + 1)
        match chance.randrange(4):
            case 0 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                at -= at % 4
                changed[at : at + 4] = chance.choice(NUMBERS).to_bytes(4, "little")
            case 2:
                del changed[at:]
            case _:
                changed[at:at] = changed[at : at + chance.randrange(1, 13)]
    return bytes(changed)


@given(requests, encodings, st.booleans(), st.randoms(use_true_random=False), st.data())
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_stubs_are_read_or_refused(
    request: Request, encoding: Encoding, big: bool, chance: random.Random, data: st.DataObject
) -> None:
    sent = encode_request(request, encoding)
    answered = pack(response_items(data.draw(ANSWERS[type(request)])), encoding)
    read_as = encoding._replace(big_endian=big)
    for _ in range(WOUNDS):
        try_request(interface_of(request), opnum_of(request), damaged(sent, chance), read_as)
        try_response(request, damaged(answered, chance), read_as)


def test_noise_is_read_or_refused() -> None:
    chance = random.Random(1)
    for size in range(600):
        try_stub(bytes([chance.randrange(8), chance.randrange(33)]) + chance.randbytes(size % 300))
        try_stub(bytes([chance.randrange(8), chance.randrange(33)]) + bytes(size))
    try_stub(b"")
