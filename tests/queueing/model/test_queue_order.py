"""Queues by name: a page begins where the last one ended, even if queues are created and deleted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reliquary.queueing.model.events import CreateQueue, DeleteQueue
from reliquary.views import queues
from tests.queueing.manager_harness import Bench

NAMES = st.lists(st.text("abAB", min_size=1, max_size=3), unique_by=str.casefold, max_size=12)


def listed(bench: Bench, after: str = "") -> list[str]:
    return [
        each.name for each in queues.queues(bench.state, after=after) if not each.name.startswith("system$")
    ]


@given(NAMES, NAMES)
def test_the_order_is_that_of_the_names_whenever_it_is_asked(before: list[str], later: list[str]) -> None:
    bench = Bench("orders")
    made = {"orders"}
    for name in before:
        bench.ask(CreateQueue(0, name))
        made.add(name)
    assert listed(bench) == sorted(made, key=str.casefold)
    for name in later:
        if name.casefold() in {each.casefold() for each in made}:
            bench.ask(DeleteQueue(0, name))
            made = {each for each in made if each.casefold() != name.casefold()}
        else:
            bench.ask(CreateQueue(0, name))
            made.add(name)
    assert listed(bench) == sorted(made, key=str.casefold)


def test_pages_follow_each_other_while_queues_come_and_go() -> None:
    bench = Bench("a", "b", "c", "d")
    found = queues.queues(bench.state)
    first = next(found)
    while first.name != "a":
        first = next(found)
    bench.ask(DeleteQueue(0, "a"))
    bench.ask(DeleteQueue(0, "b"))
    bench.ask(CreateQueue(0, "bb"))
    assert listed(bench, after=first.pathname) == ["bb", "c", "d"]
    assert next(found).name == "c"
    assert listed(bench, after="zzz") == []


def test_a_manager_that_is_not_looked_at_keeps_no_order() -> None:
    bench = Bench("a", "b")
    assert bench.state.names.in_order._keys is None
    assert len(listed(bench)) == 2
    assert bench.state.names.in_order._keys
