"""Compares sequence numbers, RFC 3208 3.2, of 32 bits that wrap around.

A number is before another if the forward distance is the shorter one. A machine counts
without a limit, and `unfolded` maps a received number to its count.
"""

from __future__ import annotations

from typing import Final

SPACE: Final = 1 << 32
HALF: Final = 1 << 31
MASK: Final = SPACE - 1


def distance(start: int, end: int) -> int:
    """Return the distance forward from one number to another; negative when `end` is behind `start`.

    >>> distance(0xFFFFFFFE, 1), distance(1, 0xFFFFFFFE)
    (3, -3)
    """
    return ((end - start + HALF) & MASK) - HALF


def unfolded(number: int, near: int) -> int:
    """Return the count without end, nearest to `near`, that a number on the wire stands for.

    >>> hex(unfolded(1, near=0xFFFFFFFE))
    '0x100000001'
    """
    return near + distance(near & MASK, number)
