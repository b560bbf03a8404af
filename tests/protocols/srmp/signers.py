"""Signers, and managers that trust them, for tests of signatures.

signer("rsa"), "ecdsa", "dsa"          a key and the certificate that it signed itself
trust("rsa", signs="ecdsa")            trusts the first, signs as the second
"""

from __future__ import annotations

from functools import cache

from reliquary.protocols.srmp.trust import Signer, Trust
from reliquary.wire.xmldsig_algorithms import Obsolete
from tests.wire.signing_keys import certificate, key

KINDS = ("rsa", "ecdsa", "dsa")
EVERYTHING = frozenset(Obsolete)


@cache
def signer(kind: str, which: int = 0) -> Signer:
    own = key(kind, which)
    return Signer(own, certificate(own))


def trust(*kinds: str, signs: str | None = None, allowed: frozenset[Obsolete] = EVERYTHING) -> Trust:
    """Return settings that trust the signers of these kinds, and that may sign as one of them."""
    return Trust(
        signer=signer(signs) if signs else None,
        trusted=tuple(signer(kind).certificate for kind in kinds),
        allowed=allowed,
    )
