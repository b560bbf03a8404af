"""Tests administrators of an open manager: their rights, the durability of what they read, and refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.queueing.model.administration import Done, Refusal
from reliquary.queueing.model.events import AccessChange, AwaitDisk, ChangeAccess, ChangeQueue, DeleteQueue
from reliquary.queueing.model.security.principals import ANONYMOUS, MANAGER, Principal
from reliquary.queueing.model.security.rights import ManagerRight, QueueRight
from reliquary.queueing.model.state import State
from reliquary.views.administration import Administrator, NotDone
from reliquary.views.pages import PageWanted
from reliquary.views.queues import QUEUE
from tests.client.labels import LABEL
from tests.queueing.manager_harness import Bench

M = TypeVar("M")


class Paint(Event, frozen=True):
    """An event of a protocol, which has no user."""

    to: int
    queue: str


[WRITE] = LABEL.acts
PAINTED = replace(
    LABEL,
    acts=(
        replace(WRITE, verb="paint", event=Paint, parameters=(), needs=ManagerRight.SET_MACHINE_PROPERTIES),
    ),
)


class Tint(Event, frozen=True):
    """An event that is made with a field of the record."""

    to: int
    queue: str
    label: str


TINTED = replace(PAINTED, acts=(replace(PAINTED.act("paint"), verb="tint", event=Tint, fields=("label",)),))


class ClosedQueueBench:
    """A manager with one queue, both closed to unknown users, and the events that it was asked.

    A protocol answers `Paint`.
    """

    def __init__(self, painted: Done = Done(True)) -> None:  # noqa: B008 - a value
        self.bench = Bench("orders")
        for place, right in (("", ManagerRight.GENERIC_ALL), ("orders", QueueRight.GENERIC_ALL)):
            self.bench.ask(ChangeAccess(0, place, AccessChange.DENY, ANONYMOUS.user, int(right)))
        self.painted = painted
        self.asked: list[Event] = []

    @property
    def state(self) -> State:
        return self.bench.state

    def machine(self, kind: type[M]) -> M:
        raise AssertionError(f"no label needs a {kind}")

    async def ask(self, make: Callable[[int], Event]) -> object:
        event = make(7)
        self.asked.append(event)
        return self.painted if isinstance(event, Paint | Tint) else self.bench.ask(event)

    def administrator(self, by: Principal = MANAGER) -> Administrator:
        return Administrator(self, self.ask, by)


def refused(asking: Coroutine[Any, Any, object]) -> tuple[HResult, str]:
    with pytest.raises(Refusal) as why:
        asyncio.run(asking)
    return why.value.status, str(why.value)


def test_what_is_listed_and_shown_is_on_disk() -> None:
    closed = ClosedQueueBench()
    [listed] = asyncio.run(closed.administrator().list_records(LABEL, empty=True))
    assert closed.asked == [AwaitDisk(7)]
    assert asyncio.run(closed.administrator().show_record(LABEL, "orders")) == listed
    assert closed.asked == [AwaitDisk(7)] * 2
    assert (listed.queue, listed.label) == ("orders", "")


def test_pages_of_a_noun_are_on_disk_and_join_to_its_list() -> None:
    """A queue is placed by its path name, a label by its number in the list."""
    closed = ClosedQueueBench()
    closed.bench.create("bills")
    asked = closed.administrator()
    for noun in (QUEUE, LABEL):
        filters = {"empty": True} if noun is LABEL else {}
        whole = asyncio.run(asked.list_records(noun, **filters))
        first = asyncio.run(asked.list_page(noun, PageWanted(limit=1), **filters))
        rest = asyncio.run(asked.list_page(noun, PageWanted(first.next), **filters))
        assert (first.records + rest.records, rest.next) == (whole, "")
    assert closed.asked == [AwaitDisk(7)] * 6


def test_a_noun_that_needs_no_right_shows_each_user_the_permitted_records() -> None:
    stranger = ClosedQueueBench().administrator(ANONYMOUS)
    assert "orders" not in {each.name for each in asyncio.run(stranger.list_records(QUEUE))}
    assert "orders" not in {
        each.name for each in asyncio.run(stranger.list_page(QUEUE, PageWanted())).records
    }
    status, why = refused(stranger.show_record(QUEUE, "orders"))
    assert status is HResult.ACCESS_DENIED
    assert "GET_QUEUE_PROPERTIES" in why


def test_an_act_is_asked_in_the_name_of_the_user_and_then_shown() -> None:
    closed = ClosedQueueBench()
    after = asyncio.run(closed.administrator().act_on(LABEL, "orders", "write", {"text": "rush"}))
    assert after.label == "rush"
    assert closed.asked == [ChangeQueue(7, "orders", {"label": "rush"}, by=MANAGER), AwaitDisk(7)]
    status, _ = refused(closed.administrator(ANONYMOUS).act_on(LABEL, "orders", "write", {"text": "x"}))
    assert status is HResult.ACCESS_DENIED
    assert closed.asked[2:] == [ChangeQueue(7, "orders", {"label": "x"}, by=ANONYMOUS)]


def test_an_event_of_a_protocol_is_submitted_after_the_right_and_the_key_were_checked() -> None:
    closed = ClosedQueueBench()
    status, _ = refused(closed.administrator(ANONYMOUS).act_on(PAINTED, "orders", "paint", {}))
    assert status is HResult.ACCESS_DENIED
    assert refused(closed.administrator().act_on(PAINTED, "nothing", "paint", {})) == (
        HResult.QUEUE_NOT_FOUND,
        "nothing has no label, for it does not exist",
    )
    assert closed.asked == []
    asyncio.run(closed.administrator().act_on(PAINTED, "orders", "paint", {}))
    assert closed.asked == [Paint(7, "orders"), AwaitDisk(7)]


def test_a_record_that_an_act_removes_is_returned_as_it_was() -> None:
    closed = ClosedQueueBench()

    async def removed(make: Callable[[int], Event]) -> object:
        answer = await closed.ask(make)
        if isinstance(closed.asked[-1], Paint):
            closed.bench.ask(DeleteQueue(0, "orders"))
        return answer

    removing = Administrator(closed, removed)
    gone = asyncio.run(removing.act_on(PAINTED, "orders", "paint", {}))
    assert gone.queue == "orders"
    assert refused(removing.show_record(PAINTED, "orders"))[0] is HResult.QUEUE_NOT_FOUND


def test_what_a_protocol_did_not_do_is_not_done() -> None:
    closed = ClosedQueueBench(painted=Done(False, "the paint is dry"))
    with pytest.raises(NotDone, match="the paint is dry"):
        asyncio.run(closed.administrator().act_on(PAINTED, "orders", "paint", {}))


def test_nothing_is_shown_to_a_user_without_the_right() -> None:
    closed = ClosedQueueBench()
    stranger = closed.administrator(ANONYMOUS)
    assert refused(stranger.list_records(LABEL))[0] is HResult.ACCESS_DENIED
    assert refused(stranger.list_page(LABEL, PageWanted()))[0] is HResult.ACCESS_DENIED
    assert refused(stranger.show_record(LABEL, "orders"))[0] is HResult.ACCESS_DENIED
    assert closed.asked == []


def test_a_key_that_names_nothing_is_refused_as_declared() -> None:
    assert refused(ClosedQueueBench().administrator().show_record(LABEL, "nothing")) == (
        HResult.QUEUE_NOT_FOUND,
        "nothing has no label, for it does not exist",
    )


def test_an_event_is_made_with_the_fields_of_the_record_that_it_needs() -> None:
    closed = ClosedQueueBench()
    asyncio.run(closed.administrator().act_on(TINTED, "orders", "tint", {}))
    assert closed.asked[0] == Tint(7, "orders", "")
