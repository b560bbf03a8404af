"""The state of the directory connection: the table has an entry for every case."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.base.time import MINUTE
from reliquary.queueing.model.directory.connection import (
    ONLINE_CHECK,
    TRANSITIONS,
    Connection,
    Happening,
    Then,
)


def test_the_table_answers_every_case() -> None:
    assert set(TRANSITIONS) == set(product(Connection, Happening))


@pytest.mark.spec("DM-014")
@pytest.mark.parametrize("happening", Happening)
def test_a_manager_without_a_directory_is_never_offline(happening: Happening) -> None:
    assert TRANSITIONS[Connection.APART, happening] == (Connection.APART, Then.NOTHING)


@pytest.mark.spec("DM-240", "DM-256", "DM-257")
def test_it_goes_offline_with_an_answer_and_comes_back_with_a_check() -> None:
    assert TRANSITIONS[Connection.ONLINE, Happening.NOT_CONNECTED] == (Connection.OFFLINE, Then.WATCH)
    assert TRANSITIONS[Connection.OFFLINE, Happening.CHECK_SUCCEEDED] == (Connection.ONLINE, Then.REFRESH)
    assert TRANSITIONS[Connection.OFFLINE, Happening.CHECK_FAILED] == (Connection.OFFLINE, Then.WATCH)
    assert TRANSITIONS[Connection.ONLINE, Happening.CHECK_FAILED][0] is Connection.ONLINE


@pytest.mark.spec("DM-078")
def test_it_is_tried_again_after_a_minute() -> None:
    assert ONLINE_CHECK == MINUTE
