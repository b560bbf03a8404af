"""The `needs` mark: a missing package skips a test, and fails it with CI=true."""

from __future__ import annotations

from typing import cast

import pytest

from tests import conftest
from tools import system_packages
from tools.system_packages import Need


class Item:
    """The part of a pytest item that the hook reads."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [pytest.mark.needs(*self.names).mark] if name == "needs" else []


def setup(*names: str) -> None:
    conftest.pytest_runtest_setup(cast(pytest.Item, Item(*names)))


@pytest.fixture(autouse=True)
def _two_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Need("here", "a test", ("here",), lambda: True)
    gone = Need("gone", "a test", ("gone-package",), lambda: False)
    monkeypatch.setattr(system_packages, "NEEDED", {"here": here, "gone": gone})


def test_a_package_that_is_there_changes_nothing() -> None:
    setup("here")


def test_a_missing_package_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install gone-package"):
        setup("here", "gone")


def test_with_ci_a_missing_package_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install gone-package"):
        setup("gone")


def test_an_unknown_name_is_our_mistake() -> None:
    with pytest.raises(KeyError):
        setup("unheard of")
