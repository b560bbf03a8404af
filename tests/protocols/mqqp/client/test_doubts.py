"""Messages that were delivered and may still be in their queue; `test_settling` plays how they come about."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.time import Instant, seconds
from reliquary.base.turn import SetTimer
from reliquary.protocols.mqqp.client import doubts
from reliquary.protocols.mqqp.client.state import Link
from reliquary.protocols.mqqp.client.tables import TABLES
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import Access, Share
from reliquary.queueing.model.message import NO_OBJECT, Message, ObjectId
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows

START = Instant(1_000_000)
FIRST, SECOND = (Message(identifier=ObjectId(UUID(int=7), number)) for number in (1, 2))


def built(memory: float = 10) -> tuple[State, Link]:
    state = State(StagedRows(MemoryDisk(TABLES)), MqqpSettings(memory=seconds(memory)))
    return state, Link(1, "far", "name", "key", Access.RECEIVE, Share.DENY_NONE, MANAGER)


def timers(state: State) -> list[int]:
    return [each.after for each in state.draft.take().effects if isinstance(each, SetTimer)]


def test_one_timer_is_set_for_the_first_memory_to_end() -> None:
    state, link = built()
    doubts.keep(state, link, FIRST, START)
    doubts.keep(state, link, SECOND, Instant(START + seconds(4)))
    assert timers(state) == [seconds(10)]
    doubts.on_timer(state, 0, Instant(START + seconds(10)))
    assert [doubts.is_known(state, link, each) for each in (FIRST, SECOND)] == [False, True]
    assert timers(state) == [seconds(4)]
    doubts.on_timer(state, 0, Instant(START + seconds(14)))
    assert (state.client.doubts, timers(state)) == ({}, [])


def test_a_timer_that_fires_too_early_is_set_again() -> None:
    state, link = built()
    doubts.keep(state, link, FIRST, START)
    timers(state)
    doubts.on_timer(state, 0, Instant(START + seconds(3)))
    assert doubts.is_known(state, link, FIRST)
    assert timers(state) == [seconds(7)]


def test_what_a_process_found_on_disk_gets_its_timer_with_the_first_request() -> None:
    state, link = built()
    doubts.keep(state, link, FIRST, START)
    again = State(state.rows, state.settings)
    assert doubts.is_known(again, link, FIRST)
    doubts.arm(again, Instant(START + seconds(99)))
    doubts.arm(again, Instant(START + seconds(99)))
    assert timers(again) == [0]


def test_a_message_that_is_settled_is_forgotten_and_one_that_is_unknown_stays_so() -> None:
    state, link = built()
    doubts.keep(state, link, FIRST, START)
    doubts.settle(state, link, FIRST)
    doubts.settle(state, link, SECOND)
    assert state.client.doubts == {}


def test_a_message_without_an_identifier_is_not_remembered() -> None:
    state, link = built()
    doubts.keep(state, link, Message(identifier=NO_OBJECT), START)
    assert state.client.doubts == {}
