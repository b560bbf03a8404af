"""The state of the directory connection: the table has an entry for every case."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.base.time import MINUTE
from reliquary.queueing.model.directory.connection import (
    ONLINE_CHECK,
    TRANSITIONS,
    Connection,
    DirectoryEvent,
    DirectoryReaction,
)


def test_the_table_answers_every_case() -> None:
    assert set(TRANSITIONS) == set(product(Connection, DirectoryEvent))


@pytest.mark.spec("DM-014")
@pytest.mark.parametrize("event", DirectoryEvent)
def test_a_manager_without_a_directory_is_never_offline(event: DirectoryEvent) -> None:
    assert TRANSITIONS[Connection.APART, event] == (Connection.APART, DirectoryReaction.NOTHING)


@pytest.mark.spec("DM-240", "DM-256", "DM-257")
def test_the_directory_goes_offline_with_an_answer_and_comes_back_with_a_check() -> None:
    assert TRANSITIONS[Connection.ONLINE, DirectoryEvent.NOT_CONNECTED] == (
        Connection.OFFLINE,
        DirectoryReaction.WATCH,
    )
    assert TRANSITIONS[Connection.OFFLINE, DirectoryEvent.CHECK_SUCCEEDED] == (
        Connection.ONLINE,
        DirectoryReaction.REFRESH,
    )
    assert TRANSITIONS[Connection.OFFLINE, DirectoryEvent.CHECK_FAILED] == (
        Connection.OFFLINE,
        DirectoryReaction.WATCH,
    )
    assert TRANSITIONS[Connection.ONLINE, DirectoryEvent.CHECK_FAILED][0] is Connection.ONLINE


@pytest.mark.spec("DM-078")
def test_the_directory_is_tried_again_after_a_minute() -> None:
    assert ONLINE_CHECK == MINUTE
