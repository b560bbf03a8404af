"""Tests that every kind of contradiction between rows on disk is found."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from reliquary.queueing.model import tables
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.travel.transfer import ReservationWanted
from reliquary.sim.audit import Contents, audit, compare, contents
from reliquary.sim.history import Turned, Violation
from reliquary.sim.ledger import Ledger
from tests.queueing.manager_harness import Bench
from tests.sim.written_history import NOW, Nothing


def busy() -> Bench:
    """Return a manager with each kind of row on its disk."""
    bench = Bench("orders", "ledger")
    bench.send("orders", b"a", b"b", time_to_be_received=60)
    bench.send("orders", b"c", positive_journaling=True)
    bench.send("ledger", b"d")
    bench.manager.on_signal(ReservationWanted("httpr", (1, 1), ("ledger",), 1, 1), bench.now)
    bench.flush()
    return bench


def ledger_of(bench: Bench) -> Ledger:
    facts = tuple(bench.facts)
    return Ledger.of([Turned(0, 1, 1, Nothing(), facts, (), NOW)], 1)


def orders(bench: Bench) -> int:
    return bench.queue("orders").number


def test_what_the_manager_wrote_adds_up() -> None:
    bench = busy()
    rows = contents(bench.disk)
    assert (len(rows.positions), len(rows.messages), len(rows.expiry)) == (5, 4, 2)
    audit(rows)
    compare(rows, ledger_of(bench))


def _count_one_more(rows: Contents, number: int) -> None:
    rows.counters[number] = msgspec.structs.replace(rows.counters[number], count=4)


def _count_other_bytes(rows: Contents, number: int) -> None:
    rows.counters[number] = msgspec.structs.replace(rows.counters[number], size=1)


def _raise_the_floors(rows: Contents, number: int) -> None:
    floors = tuple(tables.lane_start(lane + 1) for lane in range(tables.LANES))
    rows.counters[number] = msgspec.structs.replace(rows.counters[number], floors=floors)


def _lose_a_message(rows: Contents, number: int) -> None:
    rows.messages.popitem()


def _keep_a_message_too_many(rows: Contents, number: int) -> None:
    rows.messages[3] = Message()
    rows.messages[77] = Message()


def _share_wrongly(rows: Contents, number: int) -> None:
    for message in rows.shares:
        rows.shares[message] = 3


def _forget_a_deadline(rows: Contents, number: int) -> None:
    rows.expiry.pop()


def _invent_a_deadline(rows: Contents, number: int) -> None:
    rows.expiry.add((1, number, 1))


def _hold_what_is_not_there(rows: Contents, number: int) -> None:
    rows.reservations[b"httpr"] = tables.Reservation(number, (1,))


def _hold_twice(rows: Contents, number: int) -> None:
    rows.reservations[b"httpr"] = next(iter(rows.reservations.values()))


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (_count_one_more, "counters of queue"),
        (_count_other_bytes, "counters of queue"),
        (_raise_the_floors, "below the floors"),
        (_lose_a_message, "without a message"),
        (_keep_a_message_too_many, "nothing shows"),
        (_share_wrongly, "shares"),
        (_forget_a_deadline, "expiry rows"),
        (_invent_a_deadline, "expiry rows"),
        (_hold_what_is_not_there, "held messages that are missing"),
        (_hold_twice, "held twice"),
    ],
)
def test_rows_that_do_not_fit_are_found(harm: Callable[[Contents, int], None], why: str) -> None:
    bench = busy()
    rows = contents(bench.disk)
    harm(rows, orders(bench))
    with pytest.raises(Violation, match=why):
        audit(rows)


def test_numbers_that_were_not_reserved_are_found() -> None:
    rows = contents(busy().disk)
    wrong = tables.Sequence(1, rows.sequence.expiry_floor)
    with pytest.raises(Violation, match="beyond what was reserved"):
        audit(Contents(**{name: getattr(rows, name) for name in rows.__slots__} | {"sequence": wrong}))


def test_a_message_of_the_facts_that_is_not_on_disk_is_a_loss() -> None:
    bench = busy()
    ledger = ledger_of(bench)
    bench.receive("orders")
    bench.flush()
    with pytest.raises(Violation, match="loss"):
        compare(contents(bench.disk), ledger)


def test_a_message_without_a_fact_is_found() -> None:
    bench = busy()
    ledger = ledger_of(bench)
    bench.send("ledger", b"e")
    bench.flush()
    with pytest.raises(Violation, match="no fact names"):
        compare(contents(bench.disk), ledger)


def test_the_messages_of_a_prepared_transaction_are_hidden_and_kept() -> None:
    bench = busy()
    transaction = bench.begin()
    bench.send("ledger", b"x", transaction=transaction)
    from reliquary.queueing.model.events import PrepareTransaction

    bench.ask(PrepareTransaction(0, transaction))
    bench.flush()
    rows = contents(bench.disk)
    assert len(rows.uncommitted) == 1
    assert len(rows.committed) == len(rows.positions) - 1
    audit(rows)
    compare(rows, ledger_of(bench))
