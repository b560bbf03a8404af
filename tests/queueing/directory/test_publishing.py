"""Tests that the manager and its public queues are converted to directory objects and back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reliquary.queueing.directory.publishing import (
    is_published,
    manager_object,
    queue_object,
    take_manager,
    take_queue,
)
from tests.queueing.manager_harness import COMPUTER, Bench


@pytest.mark.spec("DM-020")
def test_only_a_public_queue_itself_is_for_the_directory() -> None:
    bench = Bench("orders", ".\\shop", ".\\shop;retry")
    shown = [each.record.pathname for each in bench.state.queues.values() if is_published(each.record)]
    assert shown == [f"{COMPUTER}\\shop"]


@pytest.mark.spec("DM-003", "DM-020")
def test_the_directory_shows_what_the_queue_and_the_manager_have() -> None:
    bench = Bench()
    bench.create(".\\shop", label="till", quota=9)
    identity, record = bench.state.identity(), bench.queue(".\\shop").record
    shown = queue_object(record, identity.identifier)
    assert shown.settings == record.settings
    assert (shown.identifier, shown.queue_manager) == (record.identifier, identity.identifier)
    assert manager_object(identity).computer_name == COMPUTER


@pytest.mark.spec("DM-256")
def test_what_comes_back_is_taken_but_for_the_names() -> None:
    bench = Bench(".\\shop")
    identity, shop = bench.state.identity(), bench.queue(".\\shop")
    take_manager(bench.state, replace(manager_object(identity), computer_name="X", quota=3))
    assert bench.state.identity() == replace(identity, quota=3)
    shown = replace(queue_object(shop.record, identity.identifier), label="till", pathname="X\\y")
    before = shop.record
    take_queue(bench.state, shop, shown)
    assert shop.record == replace(before, settings=replace(before.settings, label="till"))


def test_what_is_unchanged_is_not_written_again() -> None:
    bench = Bench(".\\shop")
    identity, shop = bench.state.identity(), bench.queue(".\\shop")
    said = len(bench.state.draft.take().facts)
    take_manager(bench.state, manager_object(identity))
    take_queue(bench.state, shop, queue_object(shop.record, identity.identifier))
    assert said == len(bench.state.draft.take().facts) == 0
