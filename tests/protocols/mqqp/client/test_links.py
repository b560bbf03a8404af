"""Tests which link a request uses, and how long it stays open."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.protocols.mqqp.client import links
from reliquary.protocols.mqqp.client.phases import LinkPhase
from reliquary.protocols.mqqp.client.state import Link
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import Access, OpenCursor
from tests.protocols.mqqp.client.two_managers import FAR, TwoManagers


def state_of(two: TwoManagers) -> State:
    machine = two.here.machines["mqqp"]
    assert isinstance(machine, Mqqp)
    return machine.state


def test_a_handle_leads_to_its_link_if_it_may() -> None:
    two = TwoManagers()
    handle = two.open(Access.PEEK)
    state = state_of(two)
    assert isinstance(links.by_handle(state, handle, Access.PEEK), Link)
    assert links.by_handle(state, handle, Access.RECEIVE) is HResult.ACCESS_DENIED
    assert links.by_handle(state, 99, Access.PEEK) is HResult.INVALID_HANDLE


def test_only_a_named_queue_that_is_not_used_is_released() -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    two.receive(hold=60)
    timers = [number for name, number in two.here.timers if name == links.IDLE_TIMER]
    assert timers == []
    two.advance(60)
    (number,) = [number for name, number in two.here.timers if name == links.IDLE_TIMER]
    assert two.here.client.links[number].handle == 0
    two.advance(3)
    assert two.link.handle == handle


def test_a_link_that_is_withdrawn_is_found_by_no_request() -> None:
    two = TwoManagers(b"a")
    handle = two.open(lease=seconds(100))
    two.ask(OpenCursor(0, handle))
    two.receive(handle, hold=60)
    two.receive(FAR)
    state = state_of(two)
    for link in list(state.client.links.values()):
        links.withdraw(state, link)
        assert (link.cursors, link.receipts) == ({}, {})
    client = state.client
    assert (client.handles, client.shared, client.receipts) == ({}, {}, {})
    state.draft.take()


def test_a_link_that_is_removed_leaves_no_call_and_no_number() -> None:
    two = TwoManagers()
    two.begin_receiving(two.open())
    state, link = state_of(two), two.link
    links.remove(state, link)
    assert link.phase is LinkPhase.ENDED
    client = state.client
    assert (client.links, client.calls, client.requests) == ({}, {}, set())
    state.draft.take()
