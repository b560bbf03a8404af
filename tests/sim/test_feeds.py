"""Tests readers of feeds, the messages that they must get, and that a broken feed is found."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.feed.events import FeedRead
from reliquary.queueing.feed.facts import ConsumerDropped, ConsumerPlaced
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import Consumer
from reliquary.queueing.staging.facts import StagePublished
from reliquary.sim.administrators import MessageMover
from reliquary.sim.feeds import Arrivals, FeedReader, _ReaderPosition, check_feeds
from reliquary.sim.history import Violation
from reliquary.sim.readers import PlainReceiver, TrialReceiver
from reliquary.sim.senders import Producer
from tests.sim.simulated_server import SimulatedServer
from tests.sim.written_history import ORDERS, OTHER, Story, moved, position, removed, stored

LAKE = "lake"


def opened(queue: int = ORDERS) -> ConsumerPlaced:
    return ConsumerPlaced(queue, LAKE, Consumer(0, 0, 0))


def story(*given: int, whole: bool = True) -> Story:
    """Return a story in which messages 1 and 2 came, and a reader was given these, each under its
    own number.
    """
    reported = Story()
    reported.turn(opened())
    reported.turn(stored(1, 2))
    reported.turn(stored(3), lost=True)
    reported.turn(removed(1))
    reported.turn(ConsumerDropped(ORDERS, LAKE))
    reported.history.feeds[ORDERS, LAKE] = {place: (number, number) for place, number in enumerate(given)}
    if whole:
        reported.history.read_to_the_end.add((ORDERS, LAKE))
    return reported


# -- what is owed


def test_a_reader_that_got_each_message_once_has_all_that_it_must_get() -> None:
    check_feeds(story(1, 2).history)
    check_feeds(story(1, whole=False).history)


@pytest.mark.parametrize("given", [(1,), ()])
def test_a_message_that_was_never_given_is_found(given: tuple[int, ...]) -> None:
    with pytest.raises(Violation, match="was never given"):
        check_feeds(story(*given).history)


@pytest.mark.parametrize("given", [(1, 2, 2), (1, 2, 3)])
def test_a_message_that_was_given_twice_or_never_was_is_found(given: tuple[int, ...]) -> None:
    with pytest.raises(Violation, match="never came into"):
        check_feeds(story(*given, whole=False).history)


def test_a_site_that_never_went_is_found() -> None:
    reported = Story()
    reported.turn(opened())
    with pytest.raises(Violation, match="still active"):
        check_feeds(reported.history)


def test_only_what_becomes_visible_is_owed_and_each_time_it_does() -> None:
    arrivals = Arrivals()
    late, put_off = position(5, due=9), position(1, due=9)
    for fact in (
        stored(8), opened(), opened(OTHER), stored(1, 2), stored(3, express=True), stored(5, due=9),
        facts.PositionsDelayed(ORDERS, (put_off,)), facts.PositionsDue(ORDERS, (late, put_off)),
        moved(2), facts.PositionMoved(OTHER, ORDERS, position(2), removed(2).reason),
        facts.PositionCopied(OTHER, position(7)), StagePublished("q", 1, OTHER, (position(9),)),
    ):  # fmt: skip
        arrivals.apply(fact)
    assert arrivals.owed[ORDERS, LAKE].rows == [(1, 1), (2, 2), (5, 5), (2, 2)]
    assert arrivals.owed[OTHER, LAKE].rows == [(2, 2), (7, 7), (9, 9)]


# -- who reads


def test_a_reader_reads_feeds_while_others_work_and_closes_them_in_the_end() -> None:
    server = SimulatedServer()
    reader = FeedReader(LAKE, server.context)
    applications = [
        kind(kind.__name__, server.context) for kind in (Producer, PlainReceiver, TrialReceiver, MessageMover)
    ]
    server.rounds(reader, *applications, turns=600)
    assert {"OpenConsumer", "LookAtFeeds", "ReadFeed", "MoveConsumer", "TrimFeed"} <= server.events()
    server.context.finishing = True
    server.play(reader)
    check_feeds(server.history)
    assert sum(map(len, server.history.feeds.values())) > 50
    state = server.process.manager.state
    assert not any(queue.feed.consumers or queue.feed.retained for queue in state.queues.values())


def page(*positions: Position, reached: int = 9) -> FeedRead:
    return FeedRead(HResult.OK, "", ORDERS, positions, False, reached)


@pytest.mark.parametrize(
    ("second", "what"),
    [
        (page(position(1), position(2)), "is another now, or gone"),
        (page(position(1), position(2), position(3)), "came to queue 1 when 5 was read already"),
        (page(position(2), position(1)), "is no page"),
        (page(position(1), position(1)), "is no page"),
        (page(position(1), position(2), reached=1), "is no page"),
    ],
)
def test_a_page_that_does_not_fit_to_what_was_given_before_is_found(second: FeedRead, what: str) -> None:
    reader = FeedReader(LAKE, SimulatedServer().context)
    place = _ReaderPosition("", 0, 0, 0)
    first = page(position(1), position(4)) if "another" in what else page(position(1), position(2))
    reader._remember(place, first, 0, 0)
    place.read = 5
    with pytest.raises(Violation, match=what):
        reader._remember(place, second, 0 if second.positions[0].lookup_id < 2 else 1, 0)
