"""Tests how the consumers of a stream are opened and moved at several managers."""

from __future__ import annotations

import pytest

from reliquary.spark.access import Access, Gone
from reliquary.spark.cursors import Cursors
from reliquary.spark.managers import Managers
from reliquary.spark.offsets import QueueKey, QueueOffset
from reliquary.spark.positions import EARLIEST, LATEST, Word
from tests.spark.feed_double import World, Worlds

NORTH, SOUTH = QueueKey("north", "orders"), QueueKey("south", "orders")


@pytest.fixture
def worlds() -> Worlds:
    worlds = Worlds({name: World() for name in ("north", "south")})
    for world in worlds.by_name.values():
        world.create("orders")
        world.send("orders", 5)
    return worlds


def cursors_of(worlds: Worlds, gone: Gone = Gone.SKIP) -> Cursors:
    accesses = [Access("", name=name) for name in worlds.by_name]
    return Cursors(Managers(accesses, gone, worlds.connect, lambda _: None, lambda: 0.0), "lake")


def cursor(worlds: Worlds, manager: str) -> int:
    return worlds.by_name[manager].queues["orders"].consumers["lake"]


@pytest.mark.parametrize(("at", "start"), [(EARLIEST, 0), (LATEST, 6), (3, 3)])
def test_a_query_begins_where_a_new_consumer_is_opened(worlds: Worlds, at: int | Word, start: int) -> None:
    place = cursors_of(worlds).begin(NORTH, at, mark=6)
    assert (place.id, cursor(worlds, "north")) == (start, start)


def test_a_query_that_begins_at_the_end_passes_what_an_older_consumer_kept(worlds: Worlds) -> None:
    cursors = cursors_of(worlds)
    cursors.open(NORTH, EARLIEST)
    assert cursors.begin(NORTH, LATEST, mark=6).id == 6
    assert cursor(worlds, "north") == 0, "it moves when the first batch is settled"


def test_consumers_move_only_in_queues_whose_start_is_sound(worlds: Worlds) -> None:
    cursors = cursors_of(worlds)
    starts = {key: QueueOffset(cursors.begin(key, EARLIEST, 6).incarnation, 4) for key in (NORTH, SOUTH)}
    cursors.settle({NORTH: starts[NORTH], SOUTH: starts[SOUTH]._replace(id=3)}, starts)
    assert (cursor(worlds, "north"), cursor(worlds, "south")) == (4, 0)


def test_a_manager_that_was_away_gets_the_move_later(worlds: Worlds) -> None:
    cursors = cursors_of(worlds)
    places = {key: QueueOffset(cursors.begin(key, EARLIEST, 6).incarnation, 4) for key in (NORTH, SOUTH)}
    worlds.by_name["south"].away = True
    cursors.move(places)
    worlds.by_name["south"].away = False
    assert (cursor(worlds, "north"), cursor(worlds, "south")) == (4, 0)
    worlds.by_name["north"].queues["orders"].consumers["lake"] = 1  # a second request would change it
    cursors.move(places)
    assert (cursor(worlds, "north"), cursor(worlds, "south")) == (1, 4)


def test_a_queue_that_was_created_anew_keeps_its_consumer(worlds: Worlds) -> None:
    cursors = cursors_of(worlds)
    place = cursors.begin(NORTH, EARLIEST, 6)
    worlds.by_name["north"].create("orders")
    worlds.by_name["north"].queues["orders"].consumers["lake"] = 0
    cursors.move({NORTH: place._replace(id=4)})
    assert cursor(worlds, "north") == 0
