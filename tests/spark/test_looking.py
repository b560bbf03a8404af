"""Tests what managers answer about their queues."""

from __future__ import annotations

from typing import Any

from reliquary.spark.access import Access, Gone
from reliquary.spark.looking import feeds_of, look
from reliquary.spark.managers import Managers
from reliquary.spark.offsets import QueueKey
from tests.spark.feed_double import World, Worlds


def client_of(world: World) -> Any:
    return world.connect(Access(""))


def test_queues_that_are_missing_are_distinguished() -> None:
    world = World()
    world.create("orders")
    feeds, missing = feeds_of(client_of(world), ["orders", "parts", "inv*"], "lake")
    assert ([feed.queue for feed in feeds], missing) == (["orders"], ["parts"])


def test_every_manager_that_answers_is_looked_at() -> None:
    worlds = Worlds({name: World() for name in ("north", "west", "south")})
    for name in ("north", "south"):
        worlds.by_name[name].create("orders")
    worlds.by_name["west"].away = True
    accesses = [Access("", name=name) for name in worlds.by_name]
    managers = Managers(accesses, Gone.SKIP, worlds.connect, lambda _: None, lambda: 0.0)
    found = look(managers, ["north", "west", "south"], ["orders", "parts"], "")
    assert sorted(found.feeds) == [QueueKey("north", "orders"), QueueKey("south", "orders")]
    assert found.missing == [QueueKey("north", "parts"), QueueKey("south", "parts")]
    assert found.managers == ["north", "south"]
    by_manager = found.by_manager(["north", "west", "south"])
    assert by_manager == {"north": ["orders"], "west": [], "south": ["orders"]}
    assert found.incarnations[QueueKey("south", "orders")] == "inc-1"
