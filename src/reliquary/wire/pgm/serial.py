"""Sequence numbers, RFC 3208 3.2: 32 bits that come round again.

A number is before another if the way forward from it is the shorter one; a machine counts on
without end, and `unfolded` finds the place of a number that it hears.
"""

from __future__ import annotations

from typing import Final

SPACE: Final = 1 << 32
HALF: Final = 1 << 31
MASK: Final = SPACE - 1


def distance(start: int, end: int) -> int:
    """How far it is from one number forward to another; negative when it is behind.

    >>> distance(0xFFFFFFFE, 1), distance(1, 0xFFFFFFFE)
    (3, -3)
    """
    return ((end - start + HALF) & MASK) - HALF


def unfolded(number: int, near: int) -> int:
    """The count without end, nearest to `near`, that a number on the wire stands for.

    >>> hex(unfolded(1, near=0xFFFFFFFE))
    '0x100000001'
    """
    return near + distance(near & MASK, number)
