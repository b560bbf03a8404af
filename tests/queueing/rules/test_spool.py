"""Tests of large bodies: stored as they arrive, owned by one message, and deleted with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import StoreDamage, UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND
from reliquary.base.turn import Turn
from reliquary.queueing.model import events
from reliquary.queueing.model.events import (
    DropSpool,
    FlowControl,
    MoveMessage,
    PieceStored,
    PurgeQueue,
    SendMessages,
    StorePiece,
)
from reliquary.queueing.model.message import (
    BODY_LIMIT,
    Acknowledgement,
    Delivery,
    Message,
    MessageClass,
    StoredBody,
    size_of,
)
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.tables import PIECES, SPOOLS, piece_key
from reliquary.queueing.model.travel.transfer import (
    ArrivalJudged,
    BatchArrived,
    BatchJudged,
    BodiesUnwanted,
    MessageArrived,
    MessagesReserved,
    Outcome,
    ReservationsEnded,
    ReservationWanted,
)
from reliquary.queueing.rules import spool
from tests.queueing.exchange import Exchange, carriers
from tests.queueing.manager_harness import NOON, Bench, message
from tests.queueing.state_checks import check, durable, every, walk

PARTS = (b"one ", b"two ", b"three")
WHOLE = b"".join(PARTS)


def store(bench: Bench, *parts: bytes) -> StoredBody:
    """Return a loose body of these pieces."""
    body = StoredBody(0, 0, 0)
    for data in parts or PARTS:
        answer = bench.ask(StorePiece(0, body.spool, data))
        assert type(answer) is PieceStored, answer
        assert answer.status is HResult.OK
        body = StoredBody(answer.spool, answer.size, answer.pieces)
    return body


def large(bench: Bench, *parts: bytes, **attributes: Any) -> Message:
    """Return a message whose body has just been stored."""
    return message(stored_body=store(bench, *parts), **attributes)


def send(bench: Bench, queue: str = "orders", *parts: bytes, **attributes: Any) -> StoredBody:
    """Send a message with a large body."""
    sent = large(bench, *parts, **attributes)
    answer = bench.ask(SendMessages(0, queue, (sent,)))
    assert answer.status is HResult.OK, answer
    assert sent.stored_body is not None
    return sent.stored_body


def rows(bench: Bench) -> tuple[int, int]:
    """Return the numbers of notes and of pieces on the disk."""
    return len(every(bench.state, SPOOLS)), len(every(bench.state, PIECES))


# -- pieces


def test_each_piece_is_answered_with_what_is_there_by_now() -> None:
    bench = Bench()
    first = bench.ask(StorePiece(0, 0, b"one "))
    assert (first.pieces, first.size) == (1, 4)
    second = bench.ask(StorePiece(0, first.spool, memoryview(b"two")))
    assert second == PieceStored(HResult.OK, "", first.spool, 2, 7)
    assert [spool.read_piece(bench.state, first.spool, index) for index in range(2)] == [b"one ", b"two"]
    check(bench.state)


def test_the_answer_to_a_piece_need_not_wait_for_the_disk() -> None:
    turn: Turn = Bench().handle(StorePiece(1, 0, b"one"))
    assert turn.facts
    assert all(fact.volatile for fact in turn.facts)
    assert not turn.waits


def test_a_spool_has_a_number_that_none_had_before() -> None:
    bench = Bench()
    numbers = {store(bench).spool, store(bench).spool}
    bench.restart()
    numbers.add(store(bench).spool)
    bench.flush()
    bench.restart(crash=True)
    numbers.add(store(bench).spool)
    assert len(numbers) == 4


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda _: StorePiece(0, 0, b""), f"a piece has 1 to {spool.PIECE_LIMIT} bytes, this one has 0"),
        (
            lambda _: StorePiece(0, 0, bytes(spool.PIECE_LIMIT + 1)),
            f"a piece has 1 to {spool.PIECE_LIMIT} bytes, this one has {spool.PIECE_LIMIT + 1}",
        ),
        (lambda _: StorePiece(0, 999, b"x"), "there is no body 999 that pieces could be added to"),
        (
            lambda bench: StorePiece(0, send(bench).spool, b"x"),
            "that pieces could be added to",
        ),
    ],
    ids=["empty", "too large", "unknown", "a message's"],
)
def test_a_piece_that_cannot_be_kept_is_refused_and_nothing_changes(wrong: Any, why: str) -> None:
    bench = Bench()
    event = wrong(bench)
    before = rows(bench)
    answer = bench.ask(event)
    assert answer.status is HResult.INVALID_PARAMETER
    assert why in answer.why
    assert rows(bench) == before
    check(bench.state)


@pytest.mark.spec("HR-098")
def test_a_body_never_gets_larger_than_a_message_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "BODY_LIMIT", 10)
    bench = Bench()
    body = store(bench, b"12345", b"67890")
    answer = bench.ask(StorePiece(0, body.spool, b"x"))
    assert answer.status is HResult.INVALID_PARAMETER
    assert answer.why == "a body has at most 10 bytes, this one would have 11"
    assert bench.state.messages.bodies.loose[body.spool] == body
    assert BODY_LIMIT == 100_000_000


@pytest.mark.spec("DM-187")
def test_loose_pieces_count_against_the_managers_quota() -> None:
    bench = Bench(quota=2)
    body = store(bench, bytes(1000), bytes(1000))
    answer = bench.ask(StorePiece(0, 0, bytes(100)))
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert answer.why.startswith("the manager's quota is 2 kilobytes")
    bench.handle(DropSpool(body.spool))
    assert bench.ask(StorePiece(0, 0, bytes(100))).status is HResult.OK


def test_a_throttled_manager_takes_no_piece() -> None:
    bench = Bench()
    bench.handle(FlowControl(throttled=True))
    answer = bench.ask(StorePiece(0, 0, b"x"))
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert "until its store has caught up" in answer.why
    assert rows(bench) == (0, 0)


def test_a_manager_that_is_stopped_takes_no_piece_and_lets_bodies_go() -> None:
    bench = Bench()
    body = store(bench)
    bench.stop()
    assert bench.ask(StorePiece(0, body.spool, b"x")).status is HResult.SERVICE_NOT_AVAILABLE
    bench.handle(DropSpool(body.spool))
    assert rows(bench) == (0, 0)


# -- loose bodies that no message needs


@pytest.mark.parametrize("way", ["event", "signal"])
def test_a_loose_body_that_is_not_wanted_goes(way: str) -> None:
    bench = Bench()
    kept, dropped = store(bench), store(bench)
    if way == "event":
        bench.handle(DropSpool(dropped.spool))
    else:
        bench.manager.on_signal(BodiesUnwanted((dropped.spool, dropped.spool, 999)), bench.now)
    assert list(bench.state.messages.bodies.loose) == [kept.spool]
    assert rows(bench) == (1, 3)
    check(bench.state)


def test_the_body_of_a_message_is_not_dropped() -> None:
    bench = Bench()
    body = send(bench)
    bench.handle(DropSpool(body.spool))
    bench.manager.on_signal(BodiesUnwanted((body.spool,)), bench.now)
    assert bench.bodies() == [WHOLE]


def test_a_piece_that_is_not_there_is_refused_with_its_number() -> None:
    bench = Bench()
    body = store(bench)
    with pytest.raises(UsageError, match=f"the large body {body.spool} has no piece 3"):
        spool.read_piece(bench.state, body.spool, 3)


# -- messages


def test_a_message_takes_its_body_and_is_received_whole() -> None:
    bench = Bench()
    body = send(bench, label="large")
    assert bench.state.messages.bodies.loose == {}
    check(bench.state)
    [delivered] = bench.receive("orders").messages
    assert (delivered.message.body, delivered.message.stored_body) == (WHOLE, None)
    assert delivered.message.label == "large"
    assert delivered.position.spool == body.spool
    assert rows(bench) == (0, 0)
    check(bench.state)


def test_what_a_message_with_a_large_body_counts_is_all_of_it() -> None:
    bench = Bench()
    sent = large(bench)
    assert size_of(sent) == size_of(message(WHOLE))
    bench.ask(SendMessages(0, "orders", (sent,)))
    assert bench.queue().total_bytes == size_of(sent)


@pytest.mark.spec("DM-188")
def test_a_queue_without_room_refuses_a_large_body_which_stays_loose() -> None:
    bench = Bench()
    bench.create("small", quota=1)
    sent = large(bench, bytes(2000))
    assert bench.ask(SendMessages(0, "small", (sent,))).status is HResult.INSUFFICIENT_RESOURCES
    assert sent.spool in bench.state.messages.bodies.loose
    check(bench.state)


REFUSED: dict[str, Callable[[Bench], tuple[Message, ...]]] = {
    "another message's": lambda bench: (message(stored_body=send(bench)),),
    "unknown": lambda _: (message(stored_body=StoredBody(999, 1, 1)),),
    "twice in one request": lambda bench: (large(bench),) * 2,
    "of another size": lambda bench: (message(stored_body=StoredBody(store(bench).spool, 12, 3)),),
    "beside a body": lambda bench: (message(b"body", stored_body=store(bench)),),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_message_whose_large_body_is_not_there_for_it_is_refused(case: str) -> None:
    bench = Bench()
    messages = REFUSED[case](bench)
    before = durable(bench.state)
    answer = bench.ask(SendMessages(0, "orders", messages))
    assert answer.status is HResult.INVALID_PARAMETER
    assert "body" in answer.why
    assert durable(bench.state) == before
    check(bench.state)


def test_a_large_body_from_another_manager_is_refused_too() -> None:
    bench = Bench()
    arrived = MessageArrived("carrier", (1, 1), "orders", message(stored_body=StoredBody(999, 1, 1)))
    turn = bench.manager.on_signal(arrived, bench.now)
    assert turn.signals == (
        ArrivalJudged("carrier", (1, 1), Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE),
    )


def test_a_large_body_is_not_sent_in_a_transaction() -> None:
    bench = Bench()
    bench.create("orders-tx", transactional=True)
    sent = large(bench)
    answer = bench.ask(SendMessages(0, "orders-tx", (sent,), bench.begin()))
    assert answer.status is HResult.INVALID_PARAMETER
    assert "not sent in a transaction" in answer.why
    check(bench.state)


def test_a_large_body_goes_to_one_queue() -> None:
    bench = Bench("one", "two")
    both = "DIRECT=OS:.\\private$\\one,DIRECT=OS:.\\private$\\two"
    answer = bench.ask(SendMessages(0, both, (large(bench),)))
    assert answer.status is HResult.INVALID_PARAMETER
    assert "goes to one queue" in answer.why
    check(bench.state)


def test_a_large_body_counts_where_a_way_takes_only_so_much() -> None:
    bench = Bench(carriers=carriers())
    sent = large(bench, bytes(70_000))
    answer = bench.ask(SendMessages(0, "MULTICAST=234.1.1.1:8001", (sent,)))
    assert answer.status is HResult.INVALID_PARAMETER
    assert "at most" in answer.why


# -- batches and holds


BATCH = UUID(int=9)


def bring(exchange: Exchange, *messages: Message) -> BatchJudged:
    """Return the answer to a carrier about a batch."""
    exchange.say(BatchArrived("manual_carrier", 5, ("orders",) * len(messages), messages, BATCH, by=MANAGER))
    check(exchange.state)
    judged = exchange.manual_carrier.received[-1]
    assert isinstance(judged, BatchJudged)
    return judged


@pytest.mark.parametrize("delivery", Delivery)
def test_a_batch_takes_its_large_bodies(delivery: Delivery) -> None:
    exchange = Exchange()
    messages = [large(exchange, delivery=delivery), message(b"small"), large(exchange, b"more")]
    assert bring(exchange, *messages).outcome is Outcome.DELIVERED
    assert exchange.bodies() == [WHOLE, b"small", b"more"]
    assert exchange.state.messages.bodies.loose == {}


def test_a_transactional_queue_keeps_even_an_express_message_with_its_body() -> None:
    exchange = Exchange(None, "other")
    exchange.create("orders", transactional=True)
    assert bring(exchange, large(exchange, delivery=Delivery.EXPRESS)).outcome is Outcome.DELIVERED
    exchange.flush()
    exchange.restart(crash=True)
    assert exchange.bodies() == [WHOLE]
    check(exchange.state)


def test_a_batch_that_refers_to_no_body_of_its_own_is_refused_as_a_whole() -> None:
    exchange = Exchange()
    body = send(exchange)
    loose = large(exchange)
    judged = bring(exchange, message(b"small"), loose, message(stored_body=body))
    assert judged.outcome is Outcome.REFUSED
    assert "another message's" in judged.why
    assert exchange.bodies() == [WHOLE]
    assert list(exchange.state.messages.bodies.loose) == [loose.spool]
    exchange.say(BodiesUnwanted((loose.spool, body.spool)))
    assert exchange.bodies() == [WHOLE]
    assert rows(exchange) == (0, 3)


def test_the_body_of_a_message_that_a_batch_leaves_out_goes() -> None:
    exchange = Exchange()
    late = large(exchange, sent_time=NOON // SECOND - 10, time_to_reach_queue=1)
    assert bring(exchange, late, message(b"small")).outcome is Outcome.DELIVERED
    assert exchange.bodies() == [b"small"]
    assert rows(exchange) == (0, 0)


def hold(exchange: Exchange) -> Message:
    """Return a message that a carrier holds."""
    exchange.say(ReservationWanted("manual_carrier", (1, 7), ("orders",), 1, 1_000_000))
    [held] = [each for each in exchange.manual_carrier.received if isinstance(each, MessagesReserved)][
        -1
    ].messages
    return held


@pytest.mark.parametrize("restarted", [False, True])
def test_a_held_message_is_read_piece_by_piece_until_its_outcome_is_known(restarted: bool) -> None:
    exchange = Exchange()
    send(exchange)
    held = hold(exchange)
    assert (held.body, held.stored_body is None) == (b"", False)
    if restarted:
        exchange.restart()
    assert held.stored_body is not None
    indexes = range(held.stored_body.pieces)
    assert tuple(spool.read_piece(exchange.state, held.spool, index) for index in indexes) == PARTS
    exchange.say(ReservationsEnded("manual_carrier", ((1, 7),), Outcome.DELIVERED))
    assert rows(exchange) == (0, 0)
    check(exchange.state)
    with pytest.raises(UsageError, match="or its message is gone"):
        spool.read_piece(exchange.state, held.spool, 0)


# -- copies and ends


@pytest.mark.spec("DM-049")
def test_a_copy_in_the_journal_shares_the_body_and_the_last_one_takes_it_along() -> None:
    bench = Bench()
    send(bench, positive_journaling=True)
    assert rows(bench) == (0, 3)
    check(bench.state)
    assert bench.receive("orders").messages[0].message.body == WHOLE
    assert bench.bodies("system$;journal") == [WHOLE]
    assert rows(bench) == (0, 3)
    bench.restart()
    assert bench.receive("system$;journal").messages[0].message.body == WHOLE
    assert rows(bench) == (0, 0)
    check(bench.state)


def test_a_message_keeps_its_body_when_it_is_moved() -> None:
    bench = Bench("orders", "orders;later")
    send(bench)
    [position] = walk(bench.queue())
    moved = bench.ask(MoveMessage(0, "orders", position.lookup_id, "orders;later"))
    assert moved.status is HResult.OK
    check(bench.state)
    assert bench.bodies("orders;later") == [WHOLE]


@pytest.mark.spec("DM-050")
def test_a_dead_letter_keeps_its_body() -> None:
    bench = Bench()
    send(bench, negative_journaling=True)
    bench.ask(PurgeQueue(0, "orders"))
    assert bench.bodies("system$;deadletter") == [WHOLE]
    check(bench.state)
    bench.ask(PurgeQueue(0, "system$;deadletter"))
    assert rows(bench) == (0, 0)


@pytest.mark.parametrize("kept", [True, False])
def test_a_message_that_comes_too_late_takes_its_body_along(kept: bool) -> None:
    bench = Bench()
    late = large(bench, negative_journaling=kept, sent_time=NOON // SECOND - 10, time_to_reach_queue=1)
    assert bench.ask(SendMessages(0, "orders", (late,))).status is HResult.IO_TIMEOUT
    assert bench.state.messages.bodies.loose == {}
    assert bench.bodies("system$;deadletter") == ([WHOLE] if kept else [])
    assert rows(bench) == (0, 3 if kept else 0)
    check(bench.state)


def test_an_acknowledgement_does_not_bring_a_large_body_back() -> None:
    bench = Bench("orders", "admin")
    send(
        bench,
        acknowledgements=(Acknowledgement.NEG_RECEIVE,),
        administration_queue="DIRECT=OS:.\\private$\\admin",
    )
    bench.ask(PurgeQueue(0, "orders"))
    [news] = bench.receive("admin").messages
    assert news.message.message_class == MessageClass.NACK_QUEUE_PURGED
    assert news.message.body == b""
    assert rows(bench) == (0, 0)


def test_large_and_small_messages_are_read_together() -> None:
    bench = Bench()
    for number in range(6):
        bench.send("orders", b"%d" % number)
        send(bench, "orders", b"large ", b"%d" % number)
    expected = [body for number in range(6) for body in (b"%d" % number, b"large %d" % number)]
    bench.restart()  # nothing is in the cache: neighbours are read as a range
    found = bench.ask(events.BrowseMessages(0, "orders")).messages
    assert [each.message.body for each in found] == expected
    positions = walk(bench.queue())
    unread = bench.state.messages.get_all(positions, whole=False)
    assert [each.body for each in unread[1::2]] == [b""] * 6
    assert [each.spool for each in unread] == [position.spool for position in positions]


def test_a_bit_that_rots_in_a_piece_is_found() -> None:
    bench = Bench()
    body = send(bench)
    bench.flush()
    bench.disk.flip_bit(PIECES.name, piece_key(body.spool, 1), 200)
    with pytest.raises(StoreDamage, match=r"pieces row .* fails its checksum"):
        bench.bodies()


# -- crashes


def test_pieces_of_a_process_that_ended_are_gone_at_the_next_start() -> None:
    bench = Bench()
    store(bench)
    bench.flush()
    bench.restart(crash=True, start=False)
    assert rows(bench) == (1, 3)
    bench.start()
    assert rows(bench) == (0, 0)
    check(bench.state)
    bench.restart()
    assert rows(bench) == (0, 0)


def test_a_stored_message_has_its_body_after_a_crash_and_loose_ones_are_gone() -> None:
    bench = Bench()
    store(bench)
    send(bench)
    bench.flush()
    bench.restart(crash=True)
    assert bench.bodies() == [WHOLE]
    assert rows(bench) == (0, 3)
    check(bench.state)


@pytest.mark.spec("DM-046")
def test_an_express_message_works_while_we_live_and_leaves_nothing_behind() -> None:
    bench = Bench()
    for _ in range(2):
        send(bench, delivery=Delivery.EXPRESS)
    bench.flush()
    check(bench.state)
    assert bench.receive("orders").messages[0].message.body == WHOLE
    assert rows(bench) == (1, 3)
    bench.restart()
    assert bench.bodies() == []
    assert rows(bench) == (0, 0)
    check(bench.state)


def steps(bench: Bench) -> Iterator[list[bytes]]:
    """Yield after each batch: a body comes, is stored with its message, and is deleted."""
    number = 0
    for data in PARTS:
        number = bench.ask(StorePiece(0, number, data)).spool
        yield []
    body = bench.state.messages.bodies.loose[number]
    bench.ask(SendMessages(0, "orders", (message(stored_body=body),)))
    yield [WHOLE]
    bench.receive("orders")
    yield []


@pytest.mark.parametrize("seed", range(40))
def test_a_message_that_survives_a_crash_has_its_whole_body_and_nothing_else_stays(seed: int) -> None:
    bench = Bench(seed=seed)
    bench.flush()
    reported: list[list[bytes]] = [[]]
    for bodies in steps(bench):
        reported.append(bodies)
        bench.manager.settle()
        bench.disk.apply(bench.rows.take())
    survivor = bench.disk.crash(bench.chance)
    bench.disk = survivor
    bench._build()
    bench.start()
    assert bench.bodies() == reported[survivor.kept]
    assert rows(bench) == (0, 3 if bench.bodies() else 0)
    check(bench.state)
