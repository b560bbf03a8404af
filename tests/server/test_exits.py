"""Tests that each fault has an exit code of its own."""

from __future__ import annotations

import pytest

from reliquary.base.faults import StartFailed, StoreDamage, StoreFailure, UsageError
from reliquary.server.exits import STORE_EXITS, Exit, exit_of


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (StoreFailure("locked", "x"), Exit.STORE_LOCKED),
        (StoreFailure("newer", "x"), Exit.STORE_NEWER),
        (StoreFailure("older", "x"), Exit.STORE_OLDER),
        (StoreFailure("missing", "x"), Exit.STORE_MISSING),
        (StoreFailure("full", "x"), Exit.DISK_FULL),
        (StoreFailure("permission", "x"), Exit.NO_PERMISSION),
        (StoreFailure("io", "x"), Exit.DISK_FAILED),
        (StoreDamage("x"), Exit.STORE_DAMAGED),
        (UsageError("x"), Exit.USAGE),
        (StartFailed("x"), Exit.IN_DOUBT),
        (AssertionError("x"), Exit.FAILED),
    ],
)
def test_every_fault_has_its_code(failure: BaseException, code: Exit) -> None:
    assert exit_of(failure) == code


def test_every_kind_of_store_failure_is_known() -> None:
    documented = StoreFailure.__doc__ or ""
    assert all(f'"{kind}"' in documented for kind in STORE_EXITS)
    assert documented.count('"') == 2 * len(STORE_EXITS)


def test_no_code_is_taken_for_a_signal_or_a_shells_own() -> None:
    assert all(code < 126 or code is Exit.INTERRUPTED for code in Exit)
