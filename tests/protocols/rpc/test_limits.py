"""Tests how long fragments may be."""

from __future__ import annotations

import pytest

from reliquary.protocols.rpc.limits import LEAST_FRAGMENT, UNSAID_FRAGMENT, Limits, agreed_fragment


@pytest.mark.parametrize(
    ("transmit", "receive", "agreed"),
    [
        (5840, 5840, 5840),
        (0xFFFF, 0xFFFF, 5840),
        (4280, 5840, 4280),
        (5840, 4280, 4280),
        (3199, 0xFFFF, 3192),
        (LEAST_FRAGMENT, LEAST_FRAGMENT, LEAST_FRAGMENT),
        (LEAST_FRAGMENT - 1, 5840, UNSAID_FRAGMENT),
        (0, 0xFFFF, UNSAID_FRAGMENT),
        (0xFFFF, 0, UNSAID_FRAGMENT),
    ],
)
def test_the_shorter_length_is_used_in_both_directions(transmit: int, receive: int, agreed: int) -> None:
    assert agreed_fragment(transmit, receive, Limits().fragment) == agreed


def test_the_longest_message_fits_into_a_stub() -> None:
    assert Limits().stub > 0x420000
