"""Tests of the memory that all connections may hold together."""

from __future__ import annotations

from reliquary.net.tcp.budget import Account, Budget


def test_what_fits_and_what_does_not() -> None:
    account = Account(100)
    assert account.fits(1000)  # the first may be of any size
    account.used = 60
    assert [account.fits(size) for size in (40, 41)] == [True, False]
    assert not account.is_full
    account.used = 101
    assert account.is_full


def test_without_limits_everything_fits() -> None:
    budget = Budget()
    budget.bodies.used = budget.answers.used = 10**12
    assert budget.bodies.fits(10**12)
    assert budget.answers.fits(10**12)
