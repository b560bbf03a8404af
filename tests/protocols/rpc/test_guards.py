"""One security context at work."""

from __future__ import annotations

import pytest

from reliquary.protocols.rpc.fragments import Pdu
from reliquary.protocols.rpc.guards import Guard
from reliquary.protocols.rpc.security import SecurityRefused
from reliquary.wire.rpc.calls import CALL_SIZE, response_head
from reliquary.wire.rpc.header import WHOLE, decode_header
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.verifier import Verifier, decode_verifier
from tests.protocols.rpc.pretended_security import NTLM, SIZE, PretendedClient

SIGNED = [Protection.PACKET, Protection.INTEGRITY, Protection.PRIVACY]


def guard(level: Protection) -> Guard:
    return Guard(NTLM, 3, level, PretendedClient())


def protected(level: Protection, stub: bytes) -> Pdu:
    length = CALL_SIZE + len(stub) + -len(stub) % 16 + 8 + SIZE
    data = guard(level).protect(response_head(WHOLE, length, SIZE, 1, len(stub), 0, 0), stub)
    return Pdu(decode_header(data), memoryview(data))


def opened(level: Protection, pdu: Pdu) -> bytes:
    verifier = decode_verifier(pdu.data, pdu.header, CALL_SIZE)
    return bytes(guard(level).open(pdu, CALL_SIZE, verifier))


@pytest.mark.parametrize("level", SIGNED)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 100])
def test_what_is_protected_is_opened_again(level: Protection, size: int) -> None:
    stub = bytes(range(size))
    pdu = protected(level, stub)
    assert pdu.header.length == len(pdu.data)
    assert opened(level, pdu) == stub


def test_the_trailer_begins_at_a_multiple_of_16_bytes() -> None:
    pdu = protected(Protection.INTEGRITY, b"12 bytes....")
    assert (len(pdu.data) - CALL_SIZE - 8 - SIZE) % 16 == 0
    assert decode_verifier(pdu.data, pdu.header, CALL_SIZE).padding == 4


def test_privacy_hides_the_stub_and_integrity_does_not() -> None:
    stub = b"nobody may read this"
    assert stub in bytes(protected(Protection.INTEGRITY, stub).data)
    assert stub not in bytes(protected(Protection.PRIVACY, stub).data)


@pytest.mark.parametrize("level", SIGNED)
def test_a_change_anywhere_is_found_out(level: Protection) -> None:
    data = bytes(protected(level, b"a stub of 20 bytes..").data)
    harmless = set(range(8, 12))  # the lengths are what the reader goes by
    trailer = len(data) - SIZE - 8
    harmless.add(trailer + 2)
    for at in set(range(len(data))) - harmless:
        changed = bytearray(data)
        changed[at] ^= 1
        pdu = Pdu(decode_header(data), memoryview(bytes(changed)))
        with pytest.raises(SecurityRefused):
            opened(level, pdu)


@pytest.mark.parametrize("level", [Protection.CONNECT])
def test_below_packets_a_token_is_not_looked_at(level: Protection) -> None:
    pdu = protected(Protection.INTEGRITY, b"stub")
    assert opened(level, pdu) == b"stub"


def test_a_verifier_fits_by_type_and_level() -> None:
    ours = guard(Protection.INTEGRITY)
    assert ours.fits(ours.verifier(b"token"))
    assert not ours.fits(Verifier(9, Protection.INTEGRITY, 3))
    assert not ours.fits(Verifier(NTLM, Protection.PRIVACY, 3))


def test_a_context_is_usable_once_it_is_complete_and_as_long_as_it_is_not_refused() -> None:
    context = PretendedClient()
    ours = Guard(NTLM, 3, Protection.CONNECT, context)
    seen = [ours.usable]
    context.complete = True
    seen.append(ours.usable)
    ours.refused = True
    seen.append(ours.usable)
    assert seen == [False, True, False]
