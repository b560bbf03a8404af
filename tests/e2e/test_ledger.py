"""The ledger detects each way to break a promise, and nothing that may happen is blamed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.ledger import Change, Ledger, Order, Shown, Taking


def one(number: int) -> Shown:
    return Shown(f"p/{number}", "p", number)


def bodies(*numbers: int) -> tuple[str, ...]:
    return tuple(f"p/{number}" for number in numbers)


@pytest.fixture
def ledger() -> Ledger:
    """Return a ledger with messages 1 to 4 in the queue a, and an empty queue b."""
    ledger = Ledger("a", "b")
    send(ledger, 1, 2, 3, 4)
    return ledger


def send(ledger: Ledger, *numbers: int) -> None:
    ledger.confirm(ledger.begin(Change(into={"a": bodies(*numbers)})), numbers)


def receive(ledger: Ledger, *numbers: int) -> None:
    ledger.receive(ledger.ask(Taking("a", len(numbers))), list(map(one, numbers)))


def restart(ledger: Ledger, *in_a: int, in_b: tuple[int, ...] = ()) -> None:
    ledger.take_stock({"a": list(map(one, in_a)), "b": list(map(one, in_b))})


# What may happen


def test_a_message_may_be_received_before_its_sender_is_notified(ledger: Ledger) -> None:
    change = ledger.begin(Change(into={"a": bodies(5, 6)}))
    receive(ledger, 1, 2, 3, 4, 5)
    ledger.confirm(change, [5, 6])
    restart(ledger, 6)


@pytest.mark.parametrize("left", [(1, 2, 3, 4), (2, 3, 4), (3, 4)])
def test_a_receive_on_its_way_took_some_or_none(ledger: Ledger, left: tuple[int, ...]) -> None:
    ledger.ask(Taking("a", 2))
    restart(ledger, *left)
    receive(ledger, *left)
    ledger.close()


@pytest.mark.parametrize("left", [(1, 2, 3, 4), (3, 4)])
def test_an_acknowledgement_on_its_way_is_done_or_not(ledger: Ledger, left: tuple[int, ...]) -> None:
    ledger.hold("a", [one(1), one(2)])
    ledger.begin(Change(out={"a": bodies(1, 2)}))
    restart(ledger, *left)
    receive(ledger, *left)
    ledger.close()


def test_a_batch_on_its_way_can_be_taken_by_a_receive_on_its_way(ledger: Ledger) -> None:
    ledger.begin(Change(into={"a": bodies(5, 6)}))
    ledger.ask(Taking("a", 5))
    restart(ledger, 6)
    receive(ledger, 6)
    ledger.close()


def test_what_was_held_comes_back(ledger: Ledger) -> None:
    ledger.hold("a", [one(1), one(2)])
    restart(ledger, 1, 2, 3, 4)
    ledger.hold("a", [one(1)])


def move(ledger: Ledger, **how: bool) -> Change:
    ledger.hold("a", [one(1)])
    return ledger.begin(Change({"a": bodies(1)}, {"b": bodies(1)}, "T", **how))


def test_a_transaction_on_its_way_is_done_or_not(ledger: Ledger) -> None:
    move(ledger)
    restart(ledger, 1, 2, 3, 4)
    move(ledger)
    restart(ledger, 2, 3, 4, in_b=(1,))


def test_a_prepared_transaction_is_listed_until_it_is_decided(ledger: Ledger) -> None:
    change = move(ledger, two_phase=True, prepared=True)
    assert ledger.unfinished(["T"]) == [change]
    ledger.abort(change)
    restart(ledger, 1, 2, 3, 4)


# What may not


def second_delivery(ledger: Ledger) -> None:
    receive(ledger, 1)
    receive(ledger, 1)


def return_after_a_receive(ledger: Ledger) -> None:
    receive(ledger, 1)
    restart(ledger, 1, 2, 3, 4)


def return_after_an_acknowledgement(ledger: Ledger) -> None:
    ledger.hold("a", [one(1)])
    ledger.confirm(ledger.begin(Change(out={"a": bodies(1)})))
    restart(ledger, 1, 2, 3, 4)


def return_after_it_was_missing(ledger: Ledger) -> None:
    ledger.ask(Taking("a", 1))
    restart(ledger, 2, 3, 4)
    restart(ledger, 1, 2, 3, 4)


def lock_that_does_not_lock(ledger: Ledger) -> None:
    ledger.hold("a", [one(1)])
    receive(ledger, 1)


def stranger(ledger: Ledger) -> None:
    receive(ledger, 5)


def loss(ledger: Ledger) -> None:
    restart(ledger, 1, 2, 4)


def loss_of_more_than_was_asked_for(ledger: Ledger) -> None:
    ledger.ask(Taking("a", 1))
    restart(ledger, 3, 4)


def loss_from_the_middle(ledger: Ledger) -> None:
    ledger.ask(Taking("a", 1))
    restart(ledger, 1, 3, 4)


def loss_of_what_was_held(ledger: Ledger) -> None:
    ledger.hold("a", [one(1)])
    restart(ledger, 2, 3, 4)


def half_a_batch(ledger: Ledger) -> None:
    ledger.begin(Change(into={"a": bodies(5, 6)}))
    restart(ledger, 1, 2, 3, 4, 6)


def half_an_acknowledgement(ledger: Ledger) -> None:
    ledger.hold("a", [one(1), one(2)])
    ledger.begin(Change(out={"a": bodies(1, 2)}))
    restart(ledger, 2, 3, 4)


def half_a_transaction(ledger: Ledger) -> None:
    move(ledger)
    restart(ledger, 1, 2, 3, 4, in_b=(1,))


def other_half_of_a_transaction(ledger: Ledger) -> None:
    move(ledger)
    restart(ledger, 2, 3, 4)


def copy_in_a_queue(ledger: Ledger) -> None:
    restart(ledger, 1, 1, 2, 3, 4)


def new_lookup_id(ledger: Ledger) -> None:
    ledger.take_stock({"a": [one(1), one(2), one(3), one(4)._replace(lookup_id=9)], "b": []})


def lookup_id_of_another(ledger: Ledger) -> None:
    receive(ledger, 1)
    ledger.confirm(ledger.begin(Change(into={"a": bodies(5)})), [1])


def wrong_order(ledger: Ledger) -> None:
    restart(ledger, 1, 3, 2, 4)


def prepared_and_forgotten(ledger: Ledger) -> None:
    move(ledger, two_phase=True, prepared=True)
    ledger.unfinished([])


def committed_and_forgotten(ledger: Ledger) -> None:
    move(ledger, two_phase=True, prepared=True, commits=True)
    ledger.unfinished([])
    restart(ledger, 1, 2, 3, 4)


def committed_by_none(ledger: Ledger) -> None:
    move(ledger, two_phase=True)
    ledger.unfinished([])
    restart(ledger, 2, 3, 4, in_b=(1,))


def prepared_by_none(ledger: Ledger) -> None:
    ledger.unfinished(["U"])


BREACHES: dict[Callable[[Ledger], None], str] = {
    second_delivery: "is gone and came back",
    return_after_a_receive: "is gone and came back",
    return_after_an_acknowledgement: "is gone and came back",
    return_after_it_was_missing: "is gone and came back",
    lock_that_does_not_lock: "is held and was delivered again",
    stranger: "was never there",
    loss: "lost 1 messages, of which receives on their way explain 0",
    loss_of_more_than_was_asked_for: "lost 2 messages, of which receives on their way explain 1",
    loss_from_the_middle: "from behind its head",
    loss_of_what_was_held: "lost 1 messages, of which receives on their way explain 0",
    half_a_batch: "lost 1 messages, of which receives on their way explain 0",
    half_an_acknowledgement: "half of a change",
    half_a_transaction: "half of a change",
    other_half_of_a_transaction: "b lost 1 messages",
    copy_in_a_queue: "more than once",
    new_lookup_id: "had lookup id 4",
    lookup_id_of_another: "given twice",
    wrong_order: "out of order",
    prepared_and_forgotten: "forgot what it prepared",
    committed_and_forgotten: "is lost",
    committed_by_none: "it happened",
    prepared_by_none: "not prepared",
}


@pytest.mark.parametrize(
    ("breach", "found"), BREACHES.items(), ids=lambda each: getattr(each, "__name__", "")
)
def test_a_broken_promise_is_found(ledger: Ledger, breach: Callable[[Ledger], None], found: str) -> None:
    with pytest.raises(AssertionError, match=found):
        breach(ledger)


def test_an_order_is_per_lane() -> None:
    order = Order()
    order.see([one(2), Shown("q/1", "q", 1)])
    with pytest.raises(AssertionError, match="out of order"):
        order.see([one(1)])
