"""Tests of the ledger: which batches were published, and which query owns a writer's name."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.base.restoration import Restoration
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import Published
from reliquary.queueing.staging.events import ForgetWriter, PublishAnswer
from tests.queueing.manager_harness import Bench
from tests.queueing.staging.writing import publish, write
from tests.queueing.state_checks import check, durable


def test_the_ledger_says_what_was_published_last_and_how_much_in_all() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a", b"b", batch=4), batch=4, writer="w")
    bench.advance(5)
    publish(bench, write(bench, b"c", batch=7), batch=7, writer="w")
    known = Published(7, "w", 1, bench.now, 3)
    assert bench.state.staging.ledger == {"query": known}
    assert bench.state.staging.writers == {"w": "query"}
    bench.restart()
    assert bench.state.staging.ledger == {"query": known}
    assert bench.state.staging.writers == {"w": "query"}


def test_a_second_query_under_one_name_is_refused_unless_it_takes_over() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a"), writer="w")
    mine = write(bench, b"b", query="copy")
    before = durable(bench.state)
    answer = publish(bench, mine, query="copy", writer="w")
    assert answer.status is HResult.WRITER_TAKEN
    assert answer.why == (
        "query publishes as w, and copy is another query: give it another name, or let it take over when the"
        " other one has ended"
    )
    assert durable(bench.state) == before
    assert publish(bench, mine, query="copy", writer="w", take_over=True).messages == 1
    late = write(bench, b"c", batch=1)
    assert publish(bench, late, batch=1, writer="w").status is HResult.WRITER_TAKEN
    assert publish(bench, late, batch=0, writer="w").already
    assert publish(bench, late, batch=1).messages == 1
    assert bench.bodies() == [b"a", b"b", b"c"]
    check(bench.state)


def test_a_forgotten_query_begins_anew_and_its_names_are_free() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a", batch=5), batch=5, writer="w")
    assert bench.ask(ForgetWriter(0, query="query")).status is HResult.OK
    assert not bench.state.staging.ledger
    assert not bench.state.staging.writers
    assert publish(bench, write(bench, b"b"), writer="w") == PublishAnswer(HResult.OK, messages=1)
    check(bench.state)


def test_a_forgotten_name_is_free_and_the_query_is_still_known() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a"), writer="w")
    assert bench.ask(ForgetWriter(0, writer="w")).status is HResult.OK
    assert publish(bench, write(bench, b"b", query="copy"), query="copy", writer="w").messages == 1
    assert publish(bench, batch=0).already
    check(bench.state)


def test_what_is_not_known_cannot_be_forgotten() -> None:
    bench = Bench()
    for request, why in (
        (ForgetWriter(0, query="query"), "no query query has published anything"),
        (ForgetWriter(0, writer="w"), "no writer w has published anything"),
    ):
        answer = bench.ask(request)
        assert (answer.status, answer.why) == (HResult.OBJECT_NOT_FOUND, why)
    for request in (ForgetWriter(0), ForgetWriter(0, query="q", writer="w")):
        answer = bench.ask(request)
        assert answer.status is HResult.INVALID_PARAMETER
        assert answer.why == "either a query or a writer's name is forgotten: give one of them"


def test_the_longest_unused_query_is_forgotten_unless_it_has_a_name() -> None:
    bench = Bench(sizes=Sizes(queries=2))
    publish(bench, query="named", writer="w")
    for query in ("a", "b", "a", "c"):
        bench.advance(1)
        publish(bench, query=query, batch=int(bench.now))
    assert set(bench.state.staging.ledger) == {"named", "a", "c"}
    bench.restart()
    publish(bench, query="d")
    assert set(bench.state.staging.ledger) == {"named", "c", "d"}
    check(bench.state)


# -- the store was restored


def restored(bench: Bench, which: int = 9) -> None:
    """Let the store be one that was restored from a backup."""
    bench.restoration = Restoration(UUID(int=which))
    bench.restart()
    bench.restoration = None


def test_batches_that_a_restore_lost_stop_the_next_one_until_an_administrator_confirms() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a", batch=4), batch=4)
    restored(bench)
    late = write(bench, b"b", batch=7)
    before = durable(bench.state)
    refused = publish(bench, late, batch=7)
    assert refused.status is HResult.INVALID_PARAMETER
    assert refused.why.startswith("batches 5 to 6 of query were published after the backup")
    assert durable(bench.state) == before
    assert publish(bench, late, batch=7, take_over=True).messages == 1
    assert bench.state.staging.ledger["query"].era == bench.now  # two restores of one backup differ
    assert publish(bench, write(bench, b"c", batch=9), batch=9).messages == 1
    check(bench.state)


def test_the_batch_after_the_last_one_of_the_backup_is_published() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a", batch=4), batch=4)
    restored(bench)
    assert publish(bench, write(bench, b"a", batch=4), batch=4).already
    assert publish(bench, write(bench, b"b", batch=5), batch=5).messages == 1


def test_a_restored_store_does_not_take_a_later_batch_of_a_query_that_it_does_not_know() -> None:
    bench = Bench()
    publish(bench, write(bench, b"x", query="other"), query="other")
    restored(bench)
    late = write(bench, b"b", batch=3)
    before = durable(bench.state)
    refused = publish(bench, late, batch=3)
    assert refused.status is HResult.INVALID_PARAMETER
    assert "does not know query: if it published its batches 0 to 2 here, they are gone" in refused.why
    assert durable(bench.state) == before
    assert publish(bench, late, batch=3, take_over=True).messages == 1
    assert publish(bench, write(bench, b"c", batch=4), batch=4).messages == 1
    assert publish(bench, write(bench, b"d", query="new"), query="new").messages == 1, "it begins now"
    check(bench.state)


# -- rows that are spread over managers


def test_a_batch_that_comes_again_must_be_spread_as_before() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a", batch=4), batch=4, spread="two managers")
    bench.restart()
    again = write(bench, b"a", b"b", batch=4)
    before = durable(bench.state)
    refused = publish(bench, again, batch=4, spread="three managers")
    assert refused.status is HResult.INVALID_PARAMETER
    assert refused.why.startswith("batch 4 of query was published here when its rows were spread over")
    assert durable(bench.state) == before
    assert publish(bench, again, batch=4, spread="two managers").already
    assert publish(bench, batch=3, spread="three managers").already, "an older one is long done everywhere"
    assert publish(bench, write(bench, b"c", batch=5), batch=5, spread="three managers").messages == 1
    assert bench.bodies() == [b"a", b"c"]
    check(bench.state)


def test_a_query_that_is_forgotten_goes_on_in_the_restored_store_and_only_there() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a"))
    restored(bench)
    late = write(bench, b"d", batch=3)
    assert publish(bench, late, batch=3).status is HResult.INVALID_PARAMETER
    for query in ("query", "unknown"):
        assert bench.ask(ForgetWriter(0, query)).status is HResult.OK
    before = durable(bench.state)
    bench.restart()
    assert durable(bench.state) == before
    assert publish(bench, late, batch=3).messages == 1
    assert (
        publish(bench, write(bench, b"x", batch=7, query="unknown"), batch=7, query="unknown").messages == 1
    )
    assert bench.state.staging.released == {}
    assert publish(bench, late, batch=3).already
    assert bench.ask(ForgetWriter(0, "third")).status is HResult.OK
    bench.advance(1)
    restored(bench, 10)
    third = write(bench, b"y", batch=7, query="third")
    assert publish(bench, third, batch=7, query="third").status is HResult.INVALID_PARAMETER
    check(bench.state)
