"""Tests events of the directory: what an administrator writes holds at once."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.directory.events import (
    CheckDirectoryOnline,
    DeleteDirectoryObject,
    DirectoryServersFound,
    ImportDirectory,
    WriteDirectory,
)
from reliquary.queueing.directory.operations import ONLINE_TIMER
from reliquary.queueing.directory.results import DirectoryResult
from reliquary.queueing.model.directory.connection import Connection
from reliquary.queueing.model.directory.objects import ManagerObject, ObjectKind, QueueObject, Site
from tests.queueing.directory.harness import NORTH, attach, detach, find, integrated, notified
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import durable


def test_what_is_written_of_the_manager_itself_holds_at_once() -> None:
    bench = integrated(".\\shop")
    own, shop = bench.state.identity().identifier, bench.queue(".\\shop").record.identifier
    bench.ask(WriteDirectory(0, ManagerObject(identifier=own, routing_server=True), ("routing_server",)))
    bench.ask(WriteDirectory(0, QueueObject(identifier=shop, label="till"), ("label",)))
    assert bench.state.identity().routing_server
    assert bench.queue(".\\shop").record.settings.label == "till"
    live = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == live


def test_a_manager_apart_is_not_changed_by_the_directory() -> None:
    bench = Bench(".\\shop")
    shop = bench.queue(".\\shop").record
    subject = QueueObject(identifier=shop.identifier, pathname="A\\shop", label="till")
    bench.ask(ImportDirectory(0, (subject,)))
    assert bench.queue(".\\shop").record == shop


def test_an_import_is_announced_and_taken() -> None:
    bench = integrated(".\\shop")
    shop = find(bench, ObjectKind.QUEUE, bench.queue(".\\shop").record.identifier).subject
    subject = QueueObject(
        identifier=shop.identifier,
        pathname=shop.pathname,
        label="till",
        transactional=True,
        full_path=shop.full_path,
    )
    assert bench.ask(ImportDirectory(0, (subject, Site(identifier=NORTH, name="north")))).succeeded
    assert notified(bench)[-1] == ("queue-update", shop.pathname)
    settings = bench.queue(".\\shop").record.settings
    assert (settings.label, settings.transactional) == ("till", False), "one of them is fixed"


def test_an_import_that_is_refused_or_not_connected_changes_nothing() -> None:
    bench = integrated()
    before = durable(bench.state)
    refused = bench.ask(ImportDirectory(0, (Site(identifier=NORTH, name="north"), Site(name="x"))))
    assert refused.status is HResult.INVALID_PARAMETER
    assert durable(bench.state) == before
    detach(bench)
    answer = bench.ask(ImportDirectory(0, (Site(identifier=NORTH, name="north"),)))
    assert answer.result is DirectoryResult.NOT_CONNECTED


def test_an_integrated_manager_stays_in_the_directory() -> None:
    bench = integrated()
    own = bench.state.identity().identifier
    answer = bench.ask(DeleteDirectoryObject(0, ObjectKind.QUEUE_MANAGER, own))
    assert answer.why == "this manager is in the directory as long as it is integrated with it"


def test_the_switch_holds_until_it_is_taken_back_also_over_a_restart() -> None:
    bench = integrated()
    assert detach(bench).succeeded
    assert bench.state.directory.offline
    assert ONLINE_TIMER in bench.timers
    bench.restart()
    assert bench.state.identity().directory_detached
    assert bench.state.directory.offline
    assert attach(bench).succeeded
    assert bench.state.directory.connection is Connection.ONLINE
    assert ONLINE_TIMER not in bench.timers


def test_a_repeated_word_is_written_once() -> None:
    bench = integrated()
    detach(bench)
    said = len(bench.facts)
    detach(bench)
    assert len(bench.facts) == said


def test_a_manager_apart_can_lose_its_registry_and_have_it_back() -> None:
    bench = Bench()
    detach(bench)
    assert bench.ask(CheckDirectoryOnline(0)).result is DirectoryResult.NOT_CONNECTED
    attach(bench)
    assert bench.ask(CheckDirectoryOnline(0)).result is DirectoryResult.OBJECT_NOT_FOUND
    assert bench.state.directory.connection is Connection.APART


@pytest.mark.spec("DM-086")
def test_the_list_of_servers_is_kept() -> None:
    bench = integrated()
    bench.handle(DirectoryServersFound(("dc1", "dc2")))
    assert bench.state.identity().directory_servers == ("dc1", "dc2")
    said = len(bench.facts)
    bench.handle(DirectoryServersFound(("dc1", "dc2")))
    assert len(bench.facts) == said
    bench.restart()
    assert bench.state.identity().directory_servers == ("dc1", "dc2")
