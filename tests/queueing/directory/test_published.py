"""Tests that names of other managers are resolved by the directory, and used for sending."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.directory.published import computer_name, published_queue, resolve_list
from reliquary.queueing.model.directory.objects import DistributionList, ManagerObject, QueueObject
from reliquary.queueing.model.events import Access, GetQueuePath, OpenQueue
from reliquary.queueing.rules.destinations import find
from tests.queueing.answers import everything
from tests.queueing.directory.harness import OTHER, add, attach, detach, integrated
from tests.queueing.manager_harness import Bench

SALES, LIST = UUID(int=77), UUID(int=78)


def with_another_manager() -> Bench:
    """Return a directory with the manager OTHER, its queue sales, and a list of both managers' queues."""
    bench = integrated("orders")
    add(bench, ManagerObject(identifier=OTHER, computer_name="OTHER"))
    add(
        bench,
        QueueObject(identifier=SALES, queue_manager=OTHER, pathname="OTHER\\sales", base_priority=4),
    )
    members = (f"PUBLIC={SALES}", "DIRECT=OS:.\\private$\\orders", f"public={SALES}")
    add(bench, DistributionList(identifier=LIST, name="all", format_names=members))
    return bench


def test_what_the_directory_does_not_know_is_nothing() -> None:
    state = Bench().state
    assert (resolve_list(state, LIST), published_queue(state, SALES)) == (None, None)
    assert computer_name(state, OTHER) == ""


@pytest.mark.spec("DM-169", "DM-171", "DM-172")
def test_a_public_queue_elsewhere_is_sent_to_with_its_base_priority() -> None:
    bench = with_another_manager()
    assert bench.send(f"PUBLIC={SALES}", b"one").status is HResult.OK
    queue = find(bench.state, f"PUBLIC={SALES}")
    assert queue is not None
    assert queue.record.outgoing is not None
    assert queue.record.settings.base_priority == 4


@pytest.mark.spec("DM-169")
def test_a_public_queue_that_the_directory_puts_here_and_is_not_is_not_found() -> None:
    bench = with_another_manager()
    lost = UUID(int=79)
    own = bench.state.identity()
    add(bench, QueueObject(identifier=lost, queue_manager=own.identifier, pathname="BENCH\\lost"))
    before = everything(bench.state)
    assert bench.send(f"PUBLIC={lost}", b"one").status is HResult.QUEUE_NOT_FOUND
    assert everything(bench.state) == before


@pytest.mark.spec("DM-159", "DM-319")
def test_a_distribution_list_sends_a_copy_to_each_of_its_queues() -> None:
    bench = with_another_manager()
    opened = bench.ask(OpenQueue(0, f"DL={LIST}", Access.SEND))
    assert bench.send(opened.handle, b"one").status is HResult.OK
    assert bench.bodies("orders") == [b"one"]
    assert len(bench.state.names.outgoing) == 1


@pytest.mark.spec("DM-159", "DM-169", "DM-260", "DM-261")
def test_without_a_directory_nothing_elsewhere_is_known() -> None:
    bench = with_another_manager()
    detach(bench)
    for name in (f"DL={LIST}", f"DL={UUID(int=99)}"):
        assert bench.send(name, b"one").status is HResult.ILLEGAL_FORMATNAME
        assert bench.ask(OpenQueue(0, name, Access.SEND)).status is HResult.ILLEGAL_FORMATNAME
    assert bench.send(f"PUBLIC={SALES}", b"one").status is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    assert bench.ask(GetQueuePath(0, f"PUBLIC={SALES}")).status is HResult.ILLEGAL_FORMATNAME
    attach(bench)
    assert bench.send(f"DL={LIST}", b"one").status is HResult.OK


@pytest.mark.spec("DM-260", "DM-261")
def test_the_path_of_a_queue_elsewhere_comes_from_the_directory() -> None:
    bench = with_another_manager()
    answer = bench.ask(GetQueuePath(0, f"PUBLIC={SALES}"))
    assert (answer.status, answer.path, answer.machine) == (HResult.OK, "OTHER\\sales", "OTHER")
    answer = bench.ask(GetQueuePath(0, f"PRIVATE={OTHER}\\1"))
    assert (answer.status, answer.path, answer.machine) == (HResult.OK, "", "OTHER")
