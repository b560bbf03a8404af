"""Tests queries that publish batches as records, and as a noun, for one user."""

from __future__ import annotations

from reliquary.base.time import SECOND, as_text
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.security.rights import MANAGER_LIST
from reliquary.views.writers import WRITER, WriterInfo, writer, writers
from tests.queueing.manager_harness import NOON, Bench
from tests.queueing.security.users import ALICE, BOB
from tests.queueing.staging.writing import publish, write
from tests.views.viewing import view_of


def test_the_ledger_is_shown_with_what_waits() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a", b"b"), writer="w")
    bench.advance(5)
    publish(bench, write(bench, b"c", batch=1), batch=1, writer="v")
    write(bench, b"d", b"e", b"f", batch=2)
    write(bench, b"g", query="nothing yet")
    assert list(writers(view_of(bench.state))) == [
        WriterInfo(
            query="query", writers=("v", "w"), batch=1, rows=1, total=3,
            published=as_text(NOON + 5 * SECOND), waiting=3,
        )
    ]  # fmt: skip


def test_each_user_sees_its_own() -> None:
    bench = Bench()
    bench.state.access.first_list = MANAGER_LIST
    publish(bench, query="hers", by=ALICE)
    for by, shown in ((ALICE, 1), (BOB, 0), (MANAGER, 1)):
        assert len(list(writers(view_of(bench.state, by)))) == shown


def test_the_writers_of_the_user_of_the_view_are_listed() -> None:
    bench = Bench()
    bench.state.access.first_list = MANAGER_LIST
    publish(bench, query="hers", by=ALICE)
    [listed] = WRITER.listing.records(view_of(bench.state, ALICE))
    assert listed.query == "hers"
    assert [listed] == list(writers(view_of(bench.state, ALICE)))
    assert list(WRITER.listing.records(view_of(bench.state, BOB))) == []


def test_a_writer_is_shown_to_its_user() -> None:
    bench = Bench()
    bench.state.access.first_list = MANAGER_LIST
    publish(bench, query="hers", by=ALICE, spread="two managers")
    shown = writer(view_of(bench.state, ALICE), "hers")
    assert shown is not None
    assert (shown.batch, shown.spread) == (0, "two managers")
    assert writer(view_of(bench.state, BOB), "hers") is None
    assert writer(view_of(bench.state, ALICE), "his") is None
