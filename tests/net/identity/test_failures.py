"""Clients that guess tokens are slowed down, and those that have one are not."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND
from reliquary.net.identity.failures import (
    AT_ONCE,
    KEPT,
    LONGEST_WAIT,
    PACE,
    Failures,
    TooManyFailures,
    group_of,
)

HERE, THERE = "10.0.0.1", "10.0.0.2"
TOKEN = b"digest"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 10**9

    def __call__(self) -> int:
        return self.now


def test_the_first_failures_are_answered_at_once_and_later_ones_at_a_pace() -> None:
    failures = Failures(Clock())
    waits = [failures.failed(HERE) for _ in range(AT_ONCE + 3)]
    assert waits == [0] * AT_ONCE + [PACE / SECOND, 2 * PACE / SECOND, 3 * PACE / SECOND]
    assert failures.failed(THERE) == 0


def test_a_client_that_waits_for_each_answer_is_never_shut_out() -> None:
    clock = Clock()
    failures = Failures(clock)
    for _ in range(100):
        failures.check(HERE, TOKEN)
        clock.now += int(failures.failed(HERE) * SECOND)
    assert failures.failed(HERE) == PACE / SECOND


def test_an_address_that_guesses_on_many_connections_is_not_looked_at() -> None:
    clock = Clock()
    failures = Failures(clock)
    for _ in range(AT_ONCE + LONGEST_WAIT // PACE):
        failures.check(HERE, TOKEN)
        assert failures.failed(HERE) * SECOND <= LONGEST_WAIT
    with pytest.raises(TooManyFailures, match="too many wrong tokens or passwords"):
        failures.check(HERE, TOKEN)
    failures.check(THERE, TOKEN)
    clock.now += PACE
    failures.check(HERE, TOKEN)  # one place is free again, also after the clients hung up
    failures.failed(HERE)
    with pytest.raises(TooManyFailures):
        failures.check(HERE, TOKEN)


def test_a_token_that_was_right_is_looked_at_while_others_guess() -> None:
    failures = Failures(Clock())
    failures.succeeded(HERE, TOKEN)
    for _ in range(AT_ONCE + LONGEST_WAIT // PACE):
        failures.failed(HERE)
    failures.check(HERE, TOKEN)
    with pytest.raises(TooManyFailures):
        failures.check(HERE, b"another")
    failures.check(THERE, b"another")


def test_after_a_rest_failures_are_answered_at_once_again() -> None:
    clock = Clock()
    failures = Failures(clock)
    for _ in range(AT_ONCE + 4):
        failures.failed(HERE)
    clock.now += 60 * SECOND
    assert [failures.failed(HERE) for _ in range(AT_ONCE)] == [0] * AT_ONCE
    assert failures.failed(HERE) > 0


def test_what_is_remembered_is_bounded() -> None:
    clock = Clock()
    failures = Failures(clock)
    for number in range(KEPT + 100):
        failures.failed(f"client {number}")
        failures.succeeded(f"client {number}", TOKEN)
    assert len(failures._answered_at) == len(failures._right) == KEPT
    clock.now += 60 * SECOND
    failures.failed("one more")
    assert len(failures._answered_at) == 1


@pytest.mark.parametrize(
    ("peer", "group"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::1", "::"),
        ("", ""),
        ("pipe", "pipe"),
    ],
)
def test_addresses_of_one_network_count_together(peer: str, group: str) -> None:
    assert group_of(peer) == group
