"""The network: what it carries, what it loses, and what its users then know."""

from __future__ import annotations

from functools import partial

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND
from reliquary.queueing.events import FOREVER_WAIT, BrowseMessages, CallerGone, PurgeQueue, ReceiveMessages
from reliquary.sim.network import NOTHING
from reliquary.sim.weather import Weather
from tests.sim.theatre import Theatre


def test_a_call_is_answered_with_the_turn_that_answered_it() -> None:
    theatre = Theatre()
    outcome = theatre.ask(lambda to: BrowseMessages(to, "orders"))
    assert outcome.answer.status is HResult.OK
    assert isinstance(theatre.history.turns[outcome.turn].event, BrowseMessages)


def test_calls_on_one_line_keep_their_order() -> None:
    theatre = Theatre()
    theatre.weather.slowest_network = SECOND
    paths = ("orders", "inbox", "ledger")
    heard = [theatre.call(partial(purge, path)) for path in paths]
    theatre.until(lambda: all(heard))
    events = [each.event for each in theatre.history.turns if isinstance(each.event, PurgeQueue)]
    assert tuple(event.path for event in events) == paths


def purge(path: str, to: int) -> PurgeQueue:
    return PurgeQueue(to, path)


def test_a_request_that_is_lost_never_arrives_and_its_sender_learns_nothing() -> None:
    theatre = Theatre()
    theatre.weather.request_lost = 1.0
    assert theatre.ask(lambda to: PurgeQueue(to, "orders")) == NOTHING
    assert "PurgeQueue" not in theatre.events()


def test_an_answer_that_is_lost_leaves_its_sender_in_the_dark() -> None:
    theatre = Theatre()
    theatre.weather.answer_lost = 1.0
    assert theatre.ask(lambda to: PurgeQueue(to, "orders")) == NOTHING
    assert "PurgeQueue" in theatre.events()


def test_a_cut_ends_a_wait_and_the_server_mostly_hears_of_it() -> None:
    theatre = Theatre()
    theatre.weather.cut = 1.0
    for _ in range(10):
        assert theatre.ask(lambda to: ReceiveMessages(to, "orders", timeout=FOREVER_WAIT)) == NOTHING
    theatre.until(lambda: theatre.process.idle)
    gone = [each for each in theatre.history.turns if isinstance(each.event, CallerGone)]
    assert 4 < len(gone) <= 10


def test_whoever_waits_when_the_power_goes_learns_nothing() -> None:
    theatre = Theatre()
    heard = theatre.call(lambda to: ReceiveMessages(to, "orders", timeout=FOREVER_WAIT))
    theatre.until(lambda: bool(theatre.process.manager.state.callers))
    theatre.process.cut_power()
    theatre.until(lambda: bool(heard))
    assert heard == [NOTHING]


def test_nobody_answers_while_the_server_is_down() -> None:
    theatre = Theatre(weather=Weather())
    theatre.process.cut_power()
    assert theatre.ask(lambda to: BrowseMessages(to, "orders")) == NOTHING
