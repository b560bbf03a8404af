"""The NT hash of a password, [MS-NLMP] 3.3.1: the MD4 digest (RFC 1320) of its UTF-16 form.

MD4 is no longer in the OpenSSL of most systems, so it is written out here.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Layout
from typing import Final

MASK: Final = 0xFFFFFFFF
_WORDS: Final = Layout("<16I")
_DIGEST: Final = Layout("<4I")
_BITS: Final = Layout("<Q")
_START: Final = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)

Mix = Callable[[int, int, int], int]


def _choose(x: int, y: int, z: int) -> int:
    return (x & y) | (~x & z)


def _majority(x: int, y: int, z: int) -> int:
    return (x & y) | (x & z) | (y & z)


def _parity(x: int, y: int, z: int) -> int:
    return x ^ y ^ z


ROUNDS: Final[tuple[tuple[Mix, int, tuple[int, ...], tuple[int, ...]], ...]] = (
    (_choose, 0, tuple(range(16)), (3, 7, 11, 19)),
    (_majority, 0x5A827999, (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), (3, 5, 9, 13)),
    (_parity, 0x6ED9EBA1, (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15), (3, 9, 11, 15)),
)
"""For each round of RFC 1320 3.4: its function, its constant, the order of the words, the rotations."""


def nt_hash(password: str) -> str:
    """Return the NT hash of a password as 32 hexadecimal digits.

    >>> nt_hash("password")
    '8846f7eaee8fb117ad06bdd830b7586c'
    """
    return md4(password.encode("utf-16-le", "surrogatepass")).hex()


def md4(data: bytes) -> bytes:
    """Return the MD4 digest of some bytes.

    >>> md4(b"abc").hex()
    'a448017aaf21d8525fc10ae87aa6729d'
    """
    padded = data + b"\x80" + bytes((55 - len(data)) % 64) + _BITS.pack(len(data) * 8)
    state: tuple[int, ...] = _START
    for at in range(0, len(padded), 64):
        mixed = _mix_block(state, _WORDS.unpack_from(padded, at))
        state = tuple((old + new) & MASK for old, new in zip(state, mixed, strict=True))
    return _DIGEST.pack(*state)


def _mix_block(state: tuple[int, ...], words: tuple[int, ...]) -> tuple[int, ...]:
    a, b, c, d = state
    for mix, constant, order, rotations in ROUNDS:
        for step, word in enumerate(order):
            total = (a + mix(b, c, d) + words[word] + constant) & MASK
            turn = rotations[step % 4]
            a, b, c, d = d, ((total << turn) | (total >> (32 - turn))) & MASK, b, c
    return a, b, c, d
