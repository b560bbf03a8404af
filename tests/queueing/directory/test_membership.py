"""Tests that public queues get directory objects, change them and delete them."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.directory import membership
from reliquary.queueing.directory.results import DirectoryResult, answer_of
from reliquary.queueing.model.directory.objects import ObjectKind, QueueObject
from reliquary.queueing.model.events import ChangeQueue, CreateQueue, DeleteQueue
from tests.queueing.directory.harness import OTHER, add, attach, detach, find, integrated, notified
from tests.queueing.manager_harness import COMPUTER, Bench
from tests.queueing.state_checks import durable

SHOP = f"{COMPUTER}\\shop"


def in_directory(bench: Bench) -> list[str]:
    return [queue.pathname for queue in bench.state.directory.every(QueueObject)]


@pytest.mark.spec("DM-142", "DM-143", "DM-238")
def test_a_public_queue_enters_the_directory_and_has_its_identifier() -> None:
    """T09, a public queue is created: it has a directory object and its identifier."""
    bench = integrated()
    made = bench.create(".\\shop", label="till").queue
    assert notified(bench) == [("queue-creation", SHOP)]
    [found] = bench.state.directory.every(QueueObject)
    assert (found.identifier, found.label) == (made.identifier, "till")
    assert found.queue_manager == bench.state.identity().identifier
    assert (made.full_path, made.directory_path) == (found.full_path, found.directory_path)
    assert made.full_path.startswith("CN=shop,CN=msmq,")
    live = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == live


def test_a_private_queue_and_a_subqueue_do_not() -> None:
    bench = integrated("orders", ".\\shop")
    bench.create(".\\shop;retry")
    assert in_directory(bench) == [SHOP]


@pytest.mark.spec("DM-144")
def test_nothing_is_reported_to_the_directory_when_it_is_to_be_skipped() -> None:
    """T10, a public queue without the directory: the directory is not called."""
    bench = integrated()
    assert bench.ask(CreateQueue(0, ".\\shop", skip_directory=True)).status is HResult.OK
    assert (in_directory(bench), notified(bench)) == ([], [])
    assert bench.ask(DeleteQueue(0, ".\\shop")).status is HResult.OK, "it was never there"


@pytest.mark.spec("DM-143")
def test_a_queue_that_the_directory_refuses_is_not_made() -> None:
    """T11, the directory refuses: a failure; no queue."""
    bench = integrated()
    add(bench, QueueObject(pathname=SHOP))
    before = durable(bench.state)
    assert bench.create(".\\shop").status is HResult.OBJECT_EXISTS
    detach(bench)
    assert bench.create(".\\other").status is HResult.NO_DS
    after = durable(bench.state)
    assert (after.queues, after.directory) == (before.queues, before.directory)


@pytest.mark.spec("DM-143")
def test_a_queue_whose_paths_cannot_be_read_is_made_nevertheless(monkeypatch: pytest.MonkeyPatch) -> None:
    """AN-18: only a failed creation fails; unread directory paths stay empty."""
    bench = integrated()

    def fails(*_: Any, **__: Any) -> Any:
        return answer_of(DirectoryResult.GENERIC_ERROR)

    monkeypatch.setattr(membership, "read", fails)
    made = bench.create(".\\shop")
    assert (made.status, made.queue.full_path) == (HResult.OK, "")
    assert in_directory(bench) == [SHOP]


@pytest.mark.spec("DM-157", "DM-241")
def test_a_public_queue_leaves_the_directory_when_it_is_deleted() -> None:
    bench = integrated(".\\shop", ".\\shop;retry")
    assert bench.ask(DeleteQueue(0, ".\\shop")).status is HResult.OK
    assert in_directory(bench) == []
    assert notified(bench)[-1] == ("queue-deletion", SHOP)


@pytest.mark.spec("DM-157")
def test_a_queue_that_cannot_leave_is_deleted_here_and_the_caller_is_notified() -> None:
    bench = integrated(".\\shop")
    bench.send(".\\shop", b"a", b"b")
    detach(bench)
    answer = bench.ask(DeleteQueue(0, ".\\shop"))
    assert (answer.status, answer.count) == (HResult.NO_DS, 2)
    assert answer.why.startswith("the queue is deleted here, and the directory still has it")
    assert bench.state.find(bench.state.parse(".\\shop")) is None


def test_a_delete_that_skips_the_directory_leaves_the_object() -> None:
    bench = integrated(".\\shop")
    assert bench.ask(DeleteQueue(0, ".\\shop", skip_directory=True)).status is HResult.OK
    assert in_directory(bench) == [SHOP]


@pytest.mark.spec("DM-253", "DM-254")
def test_a_change_is_written_to_the_directory() -> None:
    bench = integrated(".\\shop")
    bench.advance(5)
    changed = bench.ask(ChangeQueue(0, ".\\shop", {"label": "till"})).queue
    found = find(bench, ObjectKind.QUEUE, changed.identifier).subject
    assert (found.label, found.modify_time) == ("till", changed.modify_time)
    assert notified(bench)[-1] == ("queue-update", SHOP)


def test_a_public_queue_does_not_change_while_the_directory_is_away() -> None:
    bench = integrated("orders", ".\\shop")
    detach(bench)
    before = bench.queue(".\\shop").record
    assert bench.ask(ChangeQueue(0, ".\\shop", {"label": "till"})).status is HResult.NO_DS
    assert bench.queue(".\\shop").record == before
    assert bench.ask(ChangeQueue(0, "orders", {"label": "till"})).status is HResult.OK
    attach(bench)
    assert bench.ask(ChangeQueue(0, ".\\shop", {"label": "till"})).status is HResult.OK


def test_a_queue_that_the_directory_does_not_have_changes_here_alone() -> None:
    bench = integrated()
    bench.ask(CreateQueue(0, ".\\shop", skip_directory=True))
    assert bench.ask(ChangeQueue(0, ".\\shop", {"label": "till"})).queue.settings.label == "till"


def test_without_integration_a_public_queue_is_known_here_alone() -> None:
    bench = Bench(".\\shop")
    detach(bench)
    assert bench.ask(ChangeQueue(0, ".\\shop", {"label": "till"})).status is HResult.OK
    assert bench.ask(DeleteQueue(0, ".\\shop")).status is HResult.OK
    assert in_directory(bench) == []
    assert OTHER not in bench.state.names.by_identifier
