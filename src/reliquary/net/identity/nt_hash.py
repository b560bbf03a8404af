"""Computes the NT hash of a password, [MS-NLMP] 3.3.1: the MD4 digest of its UTF-16 form.

MD4 is no longer in the OpenSSL of most systems, so that of pyspnego is used.
"""

from __future__ import annotations

from spnego._ntlm_raw.md4 import md4


def nt_hash(password: str) -> str:
    """Return the NT hash of a password as 32 hexadecimal digits.

    >>> nt_hash("password")
    '8846f7eaee8fb117ad06bdd830b7586c'
    """
    return md4(password.encode("utf-16-le", "surrogatepass")).hex()
