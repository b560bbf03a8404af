"""A manager that does not answer fails the query, is waited for, or is left out for a while."""

from __future__ import annotations

from threading import Event

import pytest

from reliquary.client.errors import OutcomeUnknown, QueueNotFound, ServerUnreachable
from reliquary.client.feed import FeedClient
from reliquary.spark.access import Access, Gone
from reliquary.spark.managers import LEFT_ALONE, PAUSE, Managers
from tests.spark.feed_double import World, Worlds


class Ground:
    """Two managers, and a clock that moves with each wait and each look."""

    def __init__(self, gone: Gone, *names: str) -> None:
        self.worlds = Worlds({name: World() for name in names or ("north", "south")})
        self.waited: list[float] = []
        self.now = 100.0
        self.seen: list[Access] = []
        accesses = [Access(f"http://{name}", name=name) for name in self.worlds.by_name]
        self.managers = Managers(accesses, gone, self.connect, self.wait, lambda: self.now)

    def connect(self, access: Access) -> FeedClient:
        self.seen.append(access)
        client: FeedClient = self.worlds.connect(access)
        return client

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        if len(self.waited) == 3:
            for world in self.worlds.by_name.values():
                world.away = False


def feeds(client: FeedClient) -> str:
    client.feeds([])
    return "answered"


@pytest.mark.parametrize("gone", Gone)
def test_a_manager_that_answers_is_asked_once(gone: Gone) -> None:
    ground = Ground(gone)
    for way in (ground.managers.ask, ground.managers.insist, ground.managers.offer):
        assert way("north", feeds) == "answered"
    assert ground.waited == []
    assert ground.managers.names == ("north", "south")
    assert ground.managers.away == ()
    ground.managers.close()


@pytest.mark.parametrize("way", ["ask", "insist", "offer"])
def test_by_default_the_query_fails(way: str) -> None:
    ground = Ground(Gone.FAIL)
    ground.worlds.by_name["south"].away = True
    with pytest.raises(ServerUnreachable):
        getattr(ground.managers, way)("south", feeds)


@pytest.mark.parametrize(("gone", "way"), [(Gone.WAIT, "ask"), (Gone.WAIT, "insist"), (Gone.SKIP, "insist")])
def test_a_query_can_wait_for_a_manager(gone: Gone, way: str) -> None:
    ground = Ground(gone)
    ground.worlds.by_name["south"].away = True
    assert getattr(ground.managers, way)("south", feeds) == "answered"
    assert ground.waited == [PAUSE] * 3


def test_the_error_of_another_manager_ends_the_wait_for_one() -> None:
    ground = Ground(Gone.WAIT, "north", "south")
    ground.worlds.by_name["south"].away = True
    waits = Event()

    def ask(name: str) -> str:
        return ground.managers.insist(name, feeds if name == "south" else fail)

    def fail(client: FeedClient) -> str:
        waits.wait()
        client.feeds(["missing"])
        return ""

    ground.managers._wait = lambda _: waits.set()  # the manager never answers
    with pytest.raises(QueueNotFound):
        ground.managers.together.ask(["north", "south"], str, ask)


def test_a_manager_that_is_skipped_is_left_alone_for_a_while() -> None:
    ground = Ground(Gone.SKIP)
    ground.worlds.by_name["south"].away = True
    assert ground.managers.ask("south", feeds) is None
    assert list(ground.managers.away) == ["south"]
    assert ground.managers.ask("north", feeds) == "answered"
    ground.worlds.by_name["south"].away = False
    ground.now += LEFT_ALONE - 1
    assert ground.managers.ask("south", feeds) is None
    assert ground.managers.offer("south", feeds) is None
    ground.now += 1
    assert ground.managers.ask("south", feeds) == "answered"
    assert list(ground.managers.away) == []
    assert ground.waited == []


def test_a_manager_that_takes_long_to_fail_is_left_alone_for_twice_as_long() -> None:
    ground = Ground(Gone.SKIP)
    asked = []

    def slow(client: FeedClient) -> None:
        asked.append(ground.now)
        ground.now += 60
        raise ServerUnreachable

    ground.managers.ask("south", slow)
    for _ in range(24):
        ground.now += 5
        ground.managers.ask("south", slow)
    assert asked == [100, 100 + 60 + 120]


def test_no_call_waits_for_a_manager_that_was_silent_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reliquary.spark.managers.GLANCE", 0.0)
    ground = Ground(Gone.SKIP)
    ground.worlds.by_name["south"].away = True
    assert ground.managers.ask("south", feeds) is None
    ground.now += LEFT_ALONE
    answers = Event()
    asked = []

    def hanging(client: FeedClient) -> None:
        asked.append(client)
        answers.wait()

    for _ in range(3):
        assert ground.managers.ask("south", hanging) is None
        assert ground.managers.offer("south", hanging) is None
    assert list(ground.managers.away) == ["south"]
    answers.set()
    ground.managers._attempts["south"].ended.wait()
    assert len(asked) == 1, "one attempt at a time"
    ground.worlds.by_name["south"].away = False
    assert ground.managers.ask("south", feeds) == "answered", "what it answered to the attempt is old"
    assert list(ground.managers.away) == []


def test_an_error_is_an_answer() -> None:
    ground = Ground(Gone.SKIP)
    ground.worlds.by_name["south"].away = True
    ground.managers.ask("south", feeds)
    ground.worlds.by_name["south"].away = False
    ground.now += LEFT_ALONE
    with pytest.raises(QueueNotFound):
        ground.managers.ask("south", lambda client: client.feeds(["missing"]))
    assert list(ground.managers.away) == []


@pytest.mark.parametrize("gone", [Gone.WAIT, Gone.SKIP])
@pytest.mark.parametrize("error", [ServerUnreachable, OutcomeUnknown])
def test_what_can_be_done_later_waits_for_no_client(gone: Gone, error: type[ServerUnreachable]) -> None:
    def silent(client: FeedClient) -> None:
        raise error

    ground = Ground(gone)
    assert ground.managers.offer("south", silent) is None
    assert ground.waited == []


def test_only_a_manager_that_can_be_skipped_is_not_waited_for_while_it_restarts() -> None:
    assert [each.patience for each in Ground(Gone.SKIP).seen] == [0.0, 0.0]
    assert [each.patience for each in Ground(Gone.WAIT).seen] == [None, None]


def test_errors_name_the_manager_where_there_are_several() -> None:
    assert Ground(Gone.FAIL).managers.called("south", "orders") == "orders at south"
    assert Ground(Gone.FAIL, "only").managers.called("only", "orders") == "orders"
