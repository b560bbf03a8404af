"""What readers of feeds ask, and how it is answered."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.restoration import Restoration
from reliquary.queueing.feed.events import LookAtFeeds, OpenConsumer, ReadFeed
from reliquary.queueing.model import events
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.security.principals import EVERYONE
from reliquary.queueing.model.security.rights import QueueRight
from reliquary.queueing.model.travel.transfer import Outcome
from reliquary.wire.security import Ace, AceKind, SecurityDescriptor, encode_descriptor
from tests.queueing.exchange import Exchange
from tests.queueing.feed.harness import bodies, dropped, mark, moved, opened
from tests.queueing.manager_harness import Bench
from tests.queueing.security.users import ALICE
from tests.queueing.state_checks import durable, walk

AWAY = r"DIRECT=OS:elsewhere\private$\orders"
DEAD = "system$;deadxact"


def looked(bench: Bench, *names: str, **more: Any) -> list[str]:
    return [view.queue for view in bench.ask(LookAtFeeds(0, names, **more)).feeds]


# -- which feeds


def test_a_look_returns_mark_cursor_and_totals() -> None:
    bench = Bench()
    bench.send("orders", b"abc", b"def")
    opened(bench, at=1)
    bench.receive("orders")
    [view] = bench.ask(LookAtFeeds(0, ("orders",), "lake")).feeds
    queue = bench.queue()
    assert (view.queue, view.incarnation) == ("orders", str(queue.record.identifier))
    assert (view.mark, view.cursor) == (bench.state.numbers.sequence, 1)
    assert (view.messages, view.bytes) == (1, walk(queue)[0].size)
    bench.receive("orders")
    [view] = bench.ask(LookAtFeeds(0, ("orders",), "nobody")).feeds
    assert (view.cursor, view.messages, view.bytes) == (None, 1, queue.feed.retained_size)


def test_a_look_changes_nothing_that_is_kept() -> None:
    bench = Bench()
    opened(bench)
    before = durable(bench.state)
    turn = bench.handle(LookAtFeeds(7, ("orders",)))
    assert turn.facts == ()
    assert durable(bench.state) == before


def test_what_arrives_in_the_turn_of_a_look_comes_after_its_mark() -> None:
    """The turn goes on with work that was put off: here, messages of a transaction that was refused."""
    bench = Exchange()
    opened(bench, DEAD)
    transaction = bench.begin()
    bench.send(AWAY, b"a", b"b", b"c", transaction=transaction, negative_journaling=True)
    bench.ask(events.CommitTransaction(0, transaction))
    bench.patient = True
    bench.end(Outcome.REFUSED, MessageClass.NACK_ACCESS_DENIED)
    bench.restart()
    first = mark(bench, DEAD)
    assert len(bench.turns[-1].facts) == 2, "the other two messages move in the turn of the look"
    assert bodies(bench, until=first, queue=DEAD) == [b"a"]
    assert bodies(bench, after=first, queue=DEAD) == [b"b", b"c"]


def test_what_is_reported_of_a_feed_waits_for_all_that_came_before() -> None:
    """The report waits whatever else happens in the turn: work for express messages alone would not wait."""
    bench = Bench()
    opened(bench)
    for asked in (
        LookAtFeeds(1, ("orders",)),
        ReadFeed(2, "orders", 0, 0, 10),
        OpenConsumer(3, "orders", "lake"),
    ):
        assert bench.handle(asked).waits


def test_a_pattern_finds_the_queues_of_applications_without_regard_to_case() -> None:
    bench = Bench("orders", "Orders2", "invoices", "orders;late", ".\\orders")
    bench.send(AWAY, b"x")
    assert looked(bench, "ORD*") == ["orders", "Orders2"]
    assert looked(bench, "*") == [".\\orders", "invoices", "orders", "Orders2"]
    assert looked(bench, "orders;*") == ["orders;late"]
    assert looked(bench, ".\\*") == [".\\orders"]
    assert looked(bench, "inv*", "orders", "*oice*") == ["invoices", "orders"]
    assert looked(bench, "nothing*") == []


def test_a_pattern_with_many_stars_takes_no_longer() -> None:
    bench = Bench("a" * 100, "abcabc")
    assert looked(bench, "*a" * 40 + "*b") == []
    assert looked(bench, "*a" * 40 + "*") == ["a" * 100]
    assert looked(bench, "a**b*c*a*c") == looked(bench, "*bc*bc") == ["abcabc"]
    assert looked(bench, "abc*abcabc") == looked(bench, "*ca*ab*") == []


def test_system_queues_and_journals_are_read_when_they_are_named() -> None:
    names = ["orders;journal", "system$;deadletter", "system$;journal"]
    assert looked(Bench(), *names) == names


def test_patterns_leave_out_what_may_not_be_read_and_names_are_refused() -> None:
    bench = Bench("open", "shut")
    denied = Ace(AceKind.DENIED, int(QueueRight.PEEK_MESSAGE), EVERYONE)
    nothing = SecurityDescriptor(owner=ALICE.user, dacl=(denied,))
    bench.ask(events.ChangeQueue(0, "shut", {"security": encode_descriptor(nothing)}))
    assert looked(bench, "*", by=ALICE) == ["open"]
    assert looked(bench, "*") == ["open", "shut"]
    refused = bench.ask(LookAtFeeds(0, ("open", "shut"), by=ALICE))
    assert refused.status is HResult.ACCESS_DENIED
    assert "shut" in refused.why


# -- consumers


def test_a_consumer_that_exists_is_left_as_it_is() -> None:
    bench = Bench()
    bench.send("orders", b"x")
    assert opened(bench, at=1) == 1
    bench.send("orders", b"y")
    turn = bench.handle(OpenConsumer(5, "orders", "lake", 0))
    assert turn.facts == ()
    assert bench.answer_to(5).cursor == 1


def test_a_consumer_moves_forward_and_never_back() -> None:
    bench = Bench()
    bench.send("orders", *[b"x"] * 9)
    opened(bench, at=0)
    assert moved(bench, 5).status is HResult.OK
    assert moved(bench, 2).status is HResult.OK
    assert bench.queue().feed.consumers["lake"].cursor == 5


def test_no_consumer_moves_beyond_the_mark_it_got() -> None:
    """A number in there may still become a message's."""
    bench = Bench()
    opened(bench)
    bench.send("orders", b"x")
    refused = moved(bench, bench.state.numbers.sequence)
    assert refused.status is HResult.INVALID_PARAMETER
    assert "look at the feed first" in refused.why
    mark(bench)
    assert moved(bench, bench.state.numbers.sequence).status is HResult.OK


def test_a_dropped_consumer_is_not_known_any_more() -> None:
    bench = Bench()
    opened(bench)
    assert dropped(bench).status is HResult.OK
    again = dropped(bench)
    assert (again.status, again.why) == (HResult.OBJECT_NOT_FOUND, "orders has no consumer 'lake'")
    assert moved(bench, 0).status is HResult.DATA_LOST


# -- refusals


ASKED = {
    "look": lambda queue: LookAtFeeds(0, (queue,)),
    "open": lambda queue: OpenConsumer(0, queue, "audit"),
    "read": lambda queue: ReadFeed(0, queue, 0, 0, 10),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_only_local_queues_have_feeds(ask: Any) -> None:
    bench = Bench()
    bench.send(AWAY, b"x")
    before = durable(bench.state)
    assert bench.ask(ask("nowhere")).status is HResult.QUEUE_NOT_FOUND
    away = bench.ask(ask(AWAY))
    assert away.status is HResult.INVALID_PARAMETER
    assert "have no feed" in away.why
    closed = bench.ask(ask("system$;order-ack"))
    assert (closed.status, "only the manager itself" in closed.why) == (HResult.ACCESS_DENIED, True)
    assert durable(bench.state) == before


def test_moves_and_drops_of_a_missing_queue_are_refused() -> None:
    bench = Bench()
    assert moved(bench, 0, "nowhere").status is HResult.QUEUE_NOT_FOUND
    assert dropped(bench, "nowhere").status is HResult.QUEUE_NOT_FOUND


@pytest.mark.parametrize("at", [-1, 10**9])
def test_a_place_that_no_feed_has_is_refused(at: int) -> None:
    bench = Bench()
    refused = bench.ask(OpenConsumer(0, "orders", "lake", at))
    assert refused.status is HResult.INVALID_PARAMETER
    assert bench.ask(ReadFeed(0, "orders", 0, at, 10)).status is HResult.INVALID_PARAMETER
    assert bench.queue().feed.consumers == {}


def test_what_is_before_the_cursor_is_lost() -> None:
    bench = Bench()
    bench.send("orders", *[b"x"] * 5)
    opened(bench, at=3)
    refused = bench.ask(ReadFeed(0, "orders", 2, 5, 10, "lake"))
    assert refused.status is HResult.DATA_LOST
    assert refused.why == (
        "'lake' has read orders up to 3, and what came before is not kept: begin after 3, not after 2"
    )
    assert bench.ask(ReadFeed(0, "orders", 3, 5, 10, "lake")).status is HResult.OK


def test_a_consumer_reads_no_further_than_the_mark_it_got() -> None:
    bench = Bench()
    cursor = opened(bench)
    bench.send("orders", b"x")
    refused = bench.ask(ReadFeed(0, "orders", cursor, bench.state.numbers.sequence, 10, "lake"))
    assert refused.status is HResult.INVALID_PARAMETER
    until = mark(bench)
    assert len(bench.ask(ReadFeed(0, "orders", cursor, until, 10, "lake")).positions) == 1


def test_a_consumer_that_is_not_known_has_lost_what_came() -> None:
    bench = Bench()
    refused = bench.ask(ReadFeed(0, "orders", 0, 0, 10, "lake"))
    assert refused.status is HResult.DATA_LOST
    assert "has no consumer 'lake'" in refused.why


def test_another_queue_under_an_old_name_is_another_queue() -> None:
    bench = Bench()
    was = str(bench.queue().record.identifier)
    opened(bench)
    assert bench.ask(ReadFeed(0, "orders", 0, 0, 10, incarnation=was)).status is HResult.OK
    bench.ask(events.DeleteQueue(0, "orders"))
    bench.create("orders")
    refused = bench.ask(ReadFeed(0, "orders", 0, 0, 10, "lake", was))
    assert refused.status is HResult.OTHER_QUEUE
    assert was in refused.why
    assert looked(bench, "orders") == ["orders"]
    assert bench.queue().feed.consumers == {}


@pytest.mark.parametrize("limit", [0, 10_001])
def test_a_read_that_is_too_small_or_too_large_is_refused(limit: int) -> None:
    refused = Bench().ask(ReadFeed(0, "orders", 0, 0, limit))
    assert refused.why == f"one read gives 1 to 10000 messages, not {limit}"


def test_a_long_feed_is_read_in_pieces() -> None:
    bench = Bench()
    bench.send("orders", *[b"x"] * 5)
    until = mark(bench)
    first = bench.ask(ReadFeed(0, "orders", 0, until, 3))
    assert (len(first.positions), first.more, first.reached) == (3, True, 3)
    rest = bench.ask(ReadFeed(0, "orders", first.reached, until, 3))
    assert (len(rest.positions), rest.more, rest.reached) == (2, False, until)
    assert rest.queue == bench.queue().number


def test_after_a_restore_a_queue_has_another_incarnation_and_its_numbers_go_on_above() -> None:
    bench = Bench()
    bench.send("orders", b"a")
    before = bench.ask(OpenConsumer(0, "orders", "lake"))
    bench.restoration = Restoration(UUID(int=9))
    bench.restart()
    refused = bench.ask(ReadFeed(0, "orders", 0, 0, 10, "lake", before.incarnation))
    assert refused.status is HResult.OTHER_QUEUE
    assert refused.why.startswith("the store was restored from a backup: ")
    after = bench.ask(OpenConsumer(0, "orders", "lake"))
    assert after.incarnation == f"{before.incarnation}@{bench.now}"  # two restores of one backup differ
    bench.send("orders", b"b")
    last = bench.ask(OpenConsumer(0, "orders", "lake")).mark
    assert last > before.mark
    read = bench.ask(ReadFeed(0, "orders", before.mark, last, 10, "lake", after.incarnation))
    assert len(read.positions) == 1
