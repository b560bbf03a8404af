"""Claims in AUTHENTICATE messages, and what pyspnego's server is given to judge them."""

from __future__ import annotations

from hashlib import md5
from hmac import digest
from struct import pack

import pytest
import spnego._ntlm
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.net.rpc.ntlm_claims import Claim, claim_in, judging
from reliquary.protocols.rpc.security import SecurityRefused

HASH = "a4f49c406510bdcab6824ee7c30fd852"
"""The NT hash of `Password`, [MS-NLMP] 4.2.2.1.2."""
CLAIM = Claim("Domain", "User", bytes(16) + b"client part")


def authenticate(*, domain: bytes = b"", user: bytes = b"", response: bytes = b"", flags: int = 1) -> bytes:
    """Return an AUTHENTICATE message with nothing but the claim."""
    fields, payload = [], b""
    for part in (b"", response, domain, user, b"", b""):
        fields.append(pack("<HHI", len(part), len(part), 64 + len(payload)))
        payload += part
    return b"NTLMSSP\0" + pack("<I", 3) + b"".join(fields) + pack("<I", flags) + payload


def text(word: str) -> bytes:
    return word.encode("utf-16-le")


def test_a_claim_is_found_in_its_message_and_inside_another_one() -> None:
    message = authenticate(domain=text("Domain"), user=text("Üser"), response=b"response")
    assert claim_in(message) == claim_in(b"an envelope" + message) == Claim("Domain", "Üser", b"response")


def test_other_tokens_have_no_claim() -> None:
    assert [claim_in(token) for token in (b"", b"NTLMSSP\0\1\0\0\0", b"rubbish")] == [None, None, None]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        pytest.param(authenticate(user=text("alice"), flags=0), "not Unicode", id="OEM"),
        pytest.param(authenticate(user=b"\x00\xd8"), "cannot be read", id="half a surrogate pair"),
        pytest.param(authenticate()[:40], "cannot be read", id="cut off"),
    ],
)
def test_an_impossible_claim_is_refused(message: bytes, why: str) -> None:
    with pytest.raises(SecurityRefused, match=why):
        claim_in(message)


@settings(max_examples=50)
@given(st.binary(max_size=120))
def test_any_message_has_a_claim_or_is_refused(rest: bytes) -> None:
    try:
        assert isinstance(claim_in(b"NTLMSSP\0\3\0\0\0" + rest), Claim)
    except SecurityRefused:
        return


def asked(domain: str | None, user: str) -> object:
    """Return what pyspnego gets when it asks for a user."""
    return vars(spnego._ntlm)["_get_credential"]("a file", domain, user)


def test_the_user_that_was_claimed_is_known_and_no_other() -> None:
    with judging(CLAIM, HASH):
        assert asked("Domain", "User") == ("Domain", "User", b"", bytes.fromhex(HASH))
        for domain, user in (("Domain", "root"), ("Other", "User"), (None, "User")):
            with pytest.raises(SecurityRefused, match="two AUTHENTICATE messages"):
                asked(domain, user)
    with judging(Claim("", "User", b""), HASH):
        assert asked(None, "User") == (None, "User", b"", bytes.fromhex(HASH))


def test_without_a_claim_no_user_is_known() -> None:
    with judging(None), pytest.raises(SecurityRefused):
        asked("", "")


def test_pyspnego_is_restored_after_the_block_and_when_the_block_fails() -> None:
    before = dict(vars(spnego._ntlm))
    with judging(CLAIM, HASH):
        changed = {name for name, value in vars(spnego._ntlm).items() if before[name] is not value}
    assert len(changed) == 4
    assert vars(spnego._ntlm) == before
    with pytest.raises(SecurityRefused), judging(CLAIM, HASH):
        raise SecurityRefused("no")
    assert vars(spnego._ntlm) == before


def test_version_1_has_no_response() -> None:
    with judging(CLAIM, HASH), pytest.raises(SecurityRefused, match="version 1"):
        vars(spnego._ntlm)["compute_response_v1"](0, b"", b"", b"", b"", no_lm_response=False)


def test_the_expected_response_is_made_of_the_client_part_as_it_came() -> None:
    key, challenge = md5(b"key").digest(), b"12345678"
    with judging(CLAIM, HASH):
        response, lm, session = vars(spnego._ntlm)["compute_response_v2"](key, challenge, b"x", None, None)
    proof = digest(key, challenge + b"client part", "md5")
    assert (response, lm, session) == (proof + b"client part", b"", digest(key, proof, "md5"))
