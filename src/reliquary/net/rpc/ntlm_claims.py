"""Reads the user that an NTLM client claims to be, and lets pyspnego's server check it.

    AUTHENTICATE ([MS-NLMP] 2.2.1.3)   offset 20 NtChallengeResponse   28 DomainName   36 UserName   60 flags

pyspnego's server reads the hashes of passwords from a file that an environment variable names, takes version
1 of NTLM unless another variable forbids it, and computes the response that it expects in the one form that
it would send itself.  Clients have other forms: Samba leaves out the last four bytes.  Variables of a process
with threads are not to be changed while it runs, and a file can be read by others.  So `judging` replaces
the four functions of pyspnego that do all this, for the length of one step: the user comes from our
settings, version 1 is refused, and the response is computed from the bytes as they came ([MS-NLMP] 3.3.2).
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from struct import Struct as Layout
from typing import Final, NamedTuple

import spnego._ntlm

from reliquary.protocols.rpc.security import SecurityRefused

PROOF_SIZE: Final = 16

_AUTHENTICATE: Final = b"NTLMSSP\0\x03\0\0\0"
_FIELD: Final = Layout("<HxxI")
_FLAGS: Final = Layout("<I")
_RESPONSE_AT: Final = 20
_DOMAIN_AT: Final = 28
_USER_AT: Final = 36
_FLAGS_AT: Final = 60
_UNICODE: Final = 1


class Claim(NamedTuple):
    """The user that an AUTHENTICATE message names, and the proof."""

    domain: str
    user: str
    response: bytes


def claim_in(token: bytes) -> Claim | None:
    """Return the claim in an AUTHENTICATE message, bare or inside SPNEGO; None in any other token."""
    at = token.find(_AUTHENTICATE)
    if at < 0:
        return None
    message = token[at:]
    try:
        (flags,) = _FLAGS.unpack_from(message, _FLAGS_AT)
        domain, user = (_field(message, field).decode("utf-16-le") for field in (_DOMAIN_AT, _USER_AT))
    except (struct.error, UnicodeDecodeError) as why:
        raise SecurityRefused(f"the AUTHENTICATE message cannot be read: {why}") from why
    if not flags & _UNICODE:
        raise SecurityRefused("the names in the AUTHENTICATE message are not Unicode")
    return Claim(domain, user, _field(message, _RESPONSE_AT))


def _field(message: bytes, at: int) -> bytes:
    length, offset = _FIELD.unpack_from(message, at)
    return message[offset : offset + length]


@contextmanager
def judging(claim: Claim | None, nt_hash: str = "") -> Iterator[None]:
    """Let pyspnego's server check a claim in this block, by the NT hash of the user."""
    names = vars(spnego._ntlm)
    replaced = {
        "_get_credential_file": lambda: "the settings",
        "_get_credential": partial(_credential, claim, nt_hash),
        "compute_response_v1": _refuse_version_1,
        "compute_response_v2": partial(_expected_response, b"" if claim is None else claim.response),
    }
    before = {name: names[name] for name in replaced}
    names.update(replaced)
    try:
        yield
    finally:
        names.update(before)


def _credential(
    claim: Claim | None, nt_hash: str, _file: str, domain: str | None, user: str | None
) -> tuple[str | None, str | None, bytes, bytes]:
    """Return the user that was claimed and both hashes; there is no LM hash, because it is not needed."""
    if claim is None or (claim.domain, claim.user) != (domain or "", user):
        raise SecurityRefused("the token has two AUTHENTICATE messages that differ")
    return domain, user, b"", bytes.fromhex(nt_hash)


def _refuse_version_1(*_response: object, **_options: object) -> None:
    raise SecurityRefused("version 1 of NTLM is not supported here")


def _expected_response(
    response: bytes, key: bytes, server_challenge: bytes, *_as_it_would_send: object
) -> tuple[bytes, bytes, bytes]:
    """Return the response that proves the key, none for version 1, and the key of the session."""
    client_part = response[PROOF_SIZE:]
    proof = hmac.digest(key, server_challenge + client_part, "md5")
    return proof + client_part, b"", hmac.digest(key, proof, "md5")
