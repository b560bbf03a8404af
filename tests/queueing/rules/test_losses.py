"""Tests of copies that cannot be kept: each gives a fact, a lasting counter and a warning."""

from __future__ import annotations

from reliquary.base.turn import Warn
from reliquary.queueing.model.events import ChangeQueue, DeleteQueue, PurgeQueue
from reliquary.queueing.model.facts import CopyLost
from reliquary.queueing.model.tables import Copy
from reliquary.queueing.rules.losses import by_word
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, durable

DEAD = "system$;deadletter"


def a_full_journal() -> Bench:
    bench = Bench("other")
    bench.create("orders", journaling=True, journal_quota=0)
    bench.send("orders", b"1", b"2", b"3")
    return bench


def test_each_loss_is_a_fact_with_its_reason() -> None:
    bench = a_full_journal()
    bench.receive("orders")
    lost = [fact for fact in bench.facts if isinstance(fact, CopyLost)]
    assert lost == [CopyLost(bench.queue().number, Copy.JOURNAL, "the journal's quota is 0 kilobytes")]
    assert not lost[0].volatile


def test_one_warning_stands_for_all_losses_of_a_turn() -> None:
    bench = a_full_journal()
    bench.receive("orders", count=2)
    bench.receive("orders")
    what = "copies not kept (journal)"
    why = "the journal's quota is 0 kilobytes"
    about = "BENCH\\private$\\orders"
    assert bench.warnings == [Warn(about, what, why, 2), Warn(about, what, why, 1)]


def test_losses_are_counted_by_kind_and_survive_a_crash() -> None:
    bench = a_full_journal()
    bench.ask(ChangeQueue(0, DEAD, {"quota": 0}))
    bench.receive("orders")
    bench.send("orders", b"4", negative_journaling=True)
    bench.ask(PurgeQueue(0, "orders"))
    assert by_word(bench.queue().counts.lost) == {"journal": 1, "dead-letter": 1}
    bench.flush()
    live = durable(bench.state)
    bench.restart(crash=True, start=False)
    assert durable(bench.state) == live
    assert by_word(bench.queue().counts.lost) == {"journal": 1, "dead-letter": 1}


def test_the_losses_of_a_queue_survive_the_queue() -> None:
    bench = a_full_journal()
    bench.receive("orders", count=3)
    bench.ask(DeleteQueue(0, "orders"))
    assert by_word(bench.state.totals.lost) == {"journal": 3}
    bench.restart()
    assert by_word(bench.state.totals.lost) == {"journal": 3}
    check(bench.state)


def test_the_loss_of_an_express_message_is_counted_permanently_too() -> None:
    bench = Bench()
    bench.ask(ChangeQueue(0, DEAD, {"quota": 0}))
    bench.send("orders", b"1", negative_journaling=True)
    bench.ask(PurgeQueue(0, "orders"))
    bench.restart()
    assert by_word(bench.queue().counts.lost) == {"dead-letter": 1}


def test_every_kind_of_copy_has_a_name() -> None:
    counts = tuple(range(1, len(Copy) + 1))
    assert by_word(counts) == {
        "journal": 1,
        "source-journal": 2,
        "dead-letter": 3,
        "acknowledgement": 4,
        "report": 5,
    }
    assert by_word(()) == {}
