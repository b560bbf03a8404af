"""Tests of the directory operations, with the directory connected and not connected."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from reliquary.base.hresult import HResult
from reliquary.base.time import MINUTE, later
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.directory import operations
from reliquary.queueing.directory.events import (
    CreateDirectoryObject,
    DeleteDirectoryObject,
    ReadDirectory,
    ReadDirectoryBegin,
    ReadDirectoryEnd,
    ReadDirectoryNext,
    WriteDirectory,
)
from reliquary.queueing.directory.operations import ONLINE_TIMER, QUERY_LEASE, QUERY_LIMIT
from reliquary.queueing.directory.queries import Filter, Operator, SortOrder
from reliquary.queueing.directory.results import DirectoryResult
from reliquary.queueing.model.directory.connection import Connection
from reliquary.queueing.model.directory.objects import (
    ManagerObject,
    ObjectKind,
    QueueObject,
    RoutingLink,
    Site,
)
from reliquary.queueing.model.facts import ManagerNamed
from tests.queueing.directory.harness import (
    NORTH,
    OTHER,
    add,
    add_sites,
    detach,
    find,
    integrated,
    notified,
)
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import durable


def out_of_reach(bench: Bench) -> None:
    """The directory goes away, and the manager has not noticed yet."""
    apply(bench.state, ManagerNamed(replace(bench.state.identity(), directory_detached=True)))


# -- create, delete, write


@pytest.mark.spec("DM-238", "DM-239")
def test_a_public_queue_is_announced_before_it_is_created() -> None:
    bench = integrated()
    made = add(bench, QueueObject(pathname="OTHER\\orders"))
    assert made.result is DirectoryResult.SUCCESS
    assert notified(bench) == [("queue-creation", "OTHER\\orders")]
    assert find(bench, ObjectKind.QUEUE, made.subject.identifier).subject == made.subject


@pytest.mark.spec("DM-238")
def test_what_is_no_queue_is_not_announced() -> None:
    bench = integrated()
    add(bench, Site(name="north"))
    assert notified(bench) == []


@pytest.mark.spec("DM-239", "DM-244")
def test_only_the_attributes_of_the_list_are_published() -> None:
    bench = integrated()
    subject = Site(identifier=NORTH, name="north", foreign_site=True)
    bench.ask(CreateDirectoryObject(0, subject, ("name",)))
    assert find(bench, ObjectKind.SITE, NORTH).subject.foreign_site is False
    unknown = bench.ask(CreateDirectoryObject(0, subject, ("colour",)))
    assert (unknown.result, unknown.status) == (DirectoryResult.ATTRIBUTE_NOT_FOUND, HResult.PROPERTY)


@pytest.mark.spec("DM-241", "DM-242")
def test_a_public_queue_is_announced_before_it_is_deleted() -> None:
    bench = integrated()
    made = add(bench, QueueObject(pathname="OTHER\\orders")).subject
    assert bench.ask(DeleteDirectoryObject(0, ObjectKind.QUEUE, made.identifier)).succeeded
    assert notified(bench)[-1] == ("queue-deletion", "OTHER\\orders")
    assert find(bench, ObjectKind.QUEUE, made.identifier).result is DirectoryResult.OBJECT_NOT_FOUND


@pytest.mark.spec("DM-253", "DM-254")
def test_a_write_is_announced_when_it_succeeded_and_only_then() -> None:
    """T71, a public queue is written: an update is reported if it succeeded."""
    bench = integrated()
    made = add(bench, QueueObject(pathname="OTHER\\orders")).subject
    add(bench, ManagerObject(identifier=OTHER, computer_name="OTHER"))
    before = len(notified(bench))
    bench.ask(WriteDirectory(0, QueueObject(identifier=made.identifier, label="new"), ("label",)))
    bench.ask(WriteDirectory(0, ManagerObject(identifier=OTHER, quota=7), ("quota",)))
    assert notified(bench)[before:] == [("queue-update", "OTHER\\orders"), ("queue-manager-update", "OTHER")]
    bench.ask(WriteDirectory(0, QueueObject(identifier=NORTH, label="new"), ("label",)))
    detach(bench)
    bench.ask(WriteDirectory(0, QueueObject(identifier=made.identifier, label="newer"), ("label",)))
    assert len(notified(bench)) == before + 2


OPERATIONS: dict[str, Any] = {
    "create": CreateDirectoryObject(0, Site(name="new")),
    "delete": DeleteDirectoryObject(0, ObjectKind.SITE, NORTH),
    "write": WriteDirectory(0, Site(identifier=NORTH, name="new")),
    "read": ReadDirectory(0, ObjectKind.SITE),
}


@pytest.mark.spec("DM-240", "DM-242", "DM-248", "DM-253", "DM-078")
@pytest.mark.parametrize("event", OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_without_a_directory_says_so_and_one_timer_runs(event: Any) -> None:
    """T67, the directory cannot be reached: offline, and one timer."""
    bench = integrated()
    add_sites(bench)
    out_of_reach(bench)
    before = durable(bench.state).directory
    assert bench.ask(event).result is DirectoryResult.NOT_CONNECTED
    assert bench.state.directory.offline
    due = bench.timers[ONLINE_TIMER]
    assert due == later(bench.now, MINUTE)
    bench.advance(10)
    bench.ask(event)
    assert bench.timers[ONLINE_TIMER] == due, "a timer that runs is not set again"
    assert durable(bench.state).directory == before


@pytest.mark.spec("DM-014")
def test_a_manager_without_integration_is_not_offline_and_watches_nothing() -> None:
    bench = Bench()
    out_of_reach(bench)
    assert bench.ask(ReadDirectory(0, ObjectKind.SITE)).result is DirectoryResult.NOT_CONNECTED
    assert bench.state.directory.connection is Connection.APART
    assert ONLINE_TIMER not in bench.timers


# -- read


@pytest.mark.spec("DM-243")
def test_a_read_finds_the_first_object_that_the_filters_let_through() -> None:
    bench = integrated()
    add_sites(bench)
    costly = (Filter("actual_cost", Operator.GREATER_THAN, 1),)
    assert bench.ask(ReadDirectory(0, ObjectKind.ROUTING_LINK, costly)).subject.actual_cost == 5
    assert bench.ask(ReadDirectory(0, ObjectKind.ROUTING_LINK)).subject.actual_cost == 1
    none = (Filter("actual_cost", Operator.GREATER_THAN, 9),)
    assert (
        bench.ask(ReadDirectory(0, ObjectKind.ROUTING_LINK, none)).result is DirectoryResult.OBJECT_NOT_FOUND
    )
    assert bench.ask(ReadDirectory(0, ObjectKind.SITE, attributes=("full_path",))).subject.name == ""


@pytest.mark.spec("DM-245", "DM-247")
def test_without_a_directory_the_managers_own_queues_are_known() -> None:
    """T68, reads while offline: known objects are found."""
    bench = integrated(".\\shop")
    add_sites(bench)
    detach(bench)
    shop = bench.queue(".\\shop").record
    answer = find(bench, ObjectKind.QUEUE, shop.identifier)
    assert (answer.result, answer.subject.pathname) == (DirectoryResult.SUCCESS, shop.pathname)
    assert find(bench, ObjectKind.QUEUE, OTHER).result is DirectoryResult.OBJECT_NOT_FOUND
    assert find(bench, ObjectKind.SITE, NORTH).result is DirectoryResult.NOT_CONNECTED


@pytest.mark.spec("DM-246", "DM-247")
def test_without_a_directory_the_manager_knows_itself() -> None:
    bench = integrated()
    detach(bench)
    identity = bench.state.identity()
    answer = find(bench, ObjectKind.QUEUE_MANAGER, identity.identifier, attributes=("computer_name",))
    assert answer.subject == ManagerObject(
        identifier=identity.identifier, computer_name=identity.computer_name
    )
    assert find(bench, ObjectKind.QUEUE_MANAGER, OTHER).result is DirectoryResult.NOT_CONNECTED


@pytest.mark.spec("DM-248")
def test_a_forced_read_asks_the_directory_and_changes_no_belief() -> None:
    bench = integrated(".\\shop")
    out_of_reach(bench)
    shop = bench.queue(".\\shop").record.identifier
    assert find(bench, ObjectKind.QUEUE, shop, forced=True).result is DirectoryResult.NOT_CONNECTED
    assert bench.state.directory.connection is Connection.ONLINE
    assert ONLINE_TIMER not in bench.timers


# -- queries


def begin(bench: Bench, **given: Any) -> Any:
    return bench.ask(ReadDirectoryBegin(0, ObjectKind.ROUTING_LINK, **given))


def following(bench: Bench, handle: int) -> Any:
    return bench.ask(ReadDirectoryNext(0, handle))


@pytest.mark.spec("DM-249", "DM-250", "DM-251")
def test_a_query_hands_out_its_results_in_order_until_there_is_no_more() -> None:
    """T70, a filtered and sorted query: the rows in order, then the end."""
    bench = integrated()
    add_sites(bench)
    cheap = (Filter("actual_cost", Operator.LESS_THAN, 9),)
    handle = begin(
        bench, filters=cheap, attributes=("actual_cost",), order=(SortOrder(1, ascending=False),)
    ).handle
    assert following(bench, handle).subject == RoutingLink(identifier=UUID(int=15), actual_cost=5)
    assert following(bench, handle).subject.actual_cost == 1
    for _ in range(2):
        end = following(bench, handle)
        assert (end.result, end.status) == (DirectoryResult.END_OF_DATA, HResult.OK)
        assert end.subject is None


@pytest.mark.spec("DM-249")
def test_a_query_shows_the_directory_as_it_was_when_it_began() -> None:
    bench = integrated()
    add_sites(bench)
    handle = begin(bench).handle
    for cost in (1, 5, 9):
        bench.ask(DeleteDirectoryObject(0, ObjectKind.ROUTING_LINK, UUID(int=10 + cost)))
    assert [following(bench, handle).subject.actual_cost for _ in range(3)] == [1, 5, 9]


@pytest.mark.spec("DM-252")
def test_a_query_that_has_ended_is_not_known_any_more() -> None:
    bench = integrated()
    handle = begin(bench).handle
    assert bench.ask(ReadDirectoryEnd(0, handle)).succeeded
    for event in (ReadDirectoryNext, ReadDirectoryEnd):
        answer = bench.ask(event(0, handle))
        assert (answer.status, answer.result) == (HResult.INVALID_HANDLE, DirectoryResult.GENERIC_ERROR)
        assert answer.why == f"the query {handle} is not known: it has ended, or was never begun"
    assert not any(name == operations.QUERY_TIMER for name, _ in bench.timers)


def test_a_query_that_is_not_used_ends_by_itself() -> None:
    bench = integrated()
    add_sites(bench)
    handle = begin(bench).handle
    lease = QUERY_LEASE / 1_000_000
    bench.advance(lease - 1)
    assert following(bench, handle).succeeded
    bench.advance(lease - 1)
    assert following(bench, handle).succeeded
    bench.advance(lease)
    assert following(bench, handle).status is HResult.INVALID_HANDLE
    assert bench.state.directory.queries == {}


def test_the_number_of_open_queries_is_limited() -> None:
    bench = integrated()
    for _ in range(QUERY_LIMIT):
        assert begin(bench).succeeded
    refused = begin(bench)
    assert (refused.status, refused.why) == (HResult.DS_ERROR, f"{QUERY_LIMIT} queries are open already")


def test_a_query_without_a_directory_is_not_begun_and_not_gone_on_with() -> None:
    bench = integrated()
    handle = begin(bench).handle
    detach(bench)
    assert begin(bench).result is DirectoryResult.NOT_CONNECTED
    assert following(bench, handle).result is DirectoryResult.NOT_CONNECTED
    assert bench.ask(ReadDirectoryEnd(0, handle)).succeeded
