"""What managers answer about their queues."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier
from typing import Any

from reliquary.spark.access import Access
from reliquary.spark.looking import feeds_of, look
from reliquary.spark.offsets import QueueKey
from tests.spark.feed_double import World


def client_of(world: World) -> Any:
    return world.connect(Access(""))


def test_queues_that_are_missing_are_distinguished() -> None:
    world = World()
    world.create("orders")
    feeds, missing = feeds_of(client_of(world), ["orders", "parts", "inv*"], "lake")
    assert ([feed.queue for feed in feeds], missing) == (["orders"], ["parts"])


def test_every_manager_that_answers_is_looked_at() -> None:
    worlds = {"north": World(), "south": World()}
    for world in worlds.values():
        world.create("orders")

    def ask(manager: str, work: Callable[[Any], Any], /) -> Any:
        return work(client_of(worlds[manager])) if manager in worlds else None

    found = look(ask, ["north", "west", "south"], ["orders", "parts"], "")
    assert sorted(found.feeds) == [QueueKey("north", "orders"), QueueKey("south", "orders")]
    assert found.missing == [QueueKey("north", "parts"), QueueKey("south", "parts")]
    assert found.managers == ["north", "south"]
    by_manager = found.by_manager(["north", "west", "south"])
    assert by_manager == {"north": ["orders"], "west": [], "south": ["orders"]}
    assert found.incarnations[QueueKey("south", "orders")] == "inc-1"


def test_no_manager_waits_for_the_answer_of_another_one() -> None:
    together = Barrier(3)

    def ask(manager: str, work: Callable[[Any], Any], /) -> Any:
        together.wait()  # for ever, if they are asked one after the other
        return work(client_of(World()))

    found = look(ask, ["north", "west", "south"], ["*"], "", at_once=True)
    assert found.managers == ["north", "west", "south"]
