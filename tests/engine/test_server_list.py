"""Tests that the list of directory servers is resolved outside, and that the result comes back as an
event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reliquary.base.turn import Event, Turn
from reliquary.engine.server_list import ServerList
from reliquary.queueing.directory.events import DirectoryServersFound
from reliquary.queueing.model.facts import DirectoryServersWanted
from tests.queueing.manager_harness import NOON


def heard(find: Callable[[], tuple[str, ...]], times: int = 1) -> list[Event]:
    """Return the events that the engine gets when the list is wanted this many times."""
    reported: list[Event] = []

    async def scene() -> None:
        server_list = ServerList(find)
        server_list.submit = reported.append
        for _ in range(times):
            assert server_list.on_signal(DirectoryServersWanted(), NOON) == Turn()
        looking = server_list._looking
        assert looking is not None
        await asyncio.wait((looking,))
        server_list.settle()

    asyncio.run(scene())
    return reported


@pytest.mark.spec("DM-087")
def test_what_is_found_is_reported() -> None:
    assert heard(lambda: ("dc1", "dc2")) == [DirectoryServersFound(("dc1", "dc2"))]


def test_nothing_found_changes_nothing() -> None:
    assert heard(lambda: ()) == []

    def fails() -> tuple[str, ...]:
        raise OSError("no network")

    assert heard(fails) == []


def test_only_one_search_runs_at_a_time() -> None:
    assert len(heard(lambda: ("dc1",), times=3)) == 1


def test_the_server_list_takes_no_events() -> None:
    with pytest.raises(AssertionError, match="takes no events"):
        ServerList(tuple).handle(DirectoryServersFound(()), NOON)
