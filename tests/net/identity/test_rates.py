"""Tests how many requests a client may send in a second."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND
from reliquary.net.identity import rates as module
from reliquary.net.identity.rates import Rates, TooManyRequests
from reliquary.queueing.model.security.principals import ANONYMOUS
from tests.queueing.security.users import ALICE, BOB

HERE, THERE = "10.0.0.1", "10.0.0.2"


class Clock:
    """A clock that a test sets."""

    now = 0

    def __call__(self) -> int:
        return self.now


def test_a_client_may_send_a_burst_and_then_at_the_rate() -> None:
    clock = Clock()
    rates = Rates(clock, rate=2, burst=3)
    for _ in range(3):
        rates.count(ALICE, HERE)
    with pytest.raises(TooManyRequests, match="2 requests a second") as why:
        rates.count(ALICE, HERE)
    assert why.value.status == 429
    assert why.value.headers == ((b"retry-after", b"1"),)
    clock.now += SECOND // 2
    rates.count(ALICE, HERE)
    with pytest.raises(TooManyRequests):
        rates.count(ALICE, HERE)
    clock.now += 100 * SECOND
    for _ in range(3):
        rates.count(ALICE, HERE)
    with pytest.raises(TooManyRequests):
        rates.count(ALICE, HERE)


def test_each_user_counts_alone_and_clients_without_one_by_their_address() -> None:
    rates = Rates(Clock(), rate=1)
    for by, peer in ((ALICE, HERE), (BOB, HERE), (ANONYMOUS, HERE), (ANONYMOUS, THERE)):
        rates.count(by, peer)
        with pytest.raises(TooManyRequests):
            rates.count(by, peer)
    with pytest.raises(TooManyRequests):
        rates.count(ALICE, THERE)


def test_without_a_rate_nothing_is_counted_and_another_rate_begins_anew() -> None:
    rates = Rates(Clock())
    for _ in range(100):
        rates.count(ALICE, HERE)
    rates.change(1, 0)
    rates.count(ALICE, HERE)
    with pytest.raises(TooManyRequests):
        rates.count(ALICE, HERE)
    rates.change(1, 0)
    rates.count(ALICE, HERE)


def test_the_client_that_asked_longest_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    rates = Rates(Clock(), rate=1)
    for peer in ("a", "b", "c"):
        rates.count(ANONYMOUS, peer)
    rates.count(ANONYMOUS, "a")
    with pytest.raises(TooManyRequests):
        rates.count(ANONYMOUS, "c")
