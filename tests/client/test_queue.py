"""Tests queues over both transports: send, receive, peek, browse, look up, move, open."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from reliquary import (
    AccessDenied,
    AsyncManager,
    BadRequest,
    Manager,
    NotFound,
    OutgoingMessage,
    Queue,
    QueueDeleted,
    QueueNotFound,
    QuotaExceeded,
    SharingViolation,
)
from tests.client.conftest import Play


@pytest.fixture
def orders(qm: Manager) -> Queue:
    return qm.create_queue("orders")


def texts(queue: Queue) -> list[str]:
    return [message.text for message in queue.browse()]


def test_what_is_sent_is_received_once(orders: Queue) -> None:
    sent = orders.send("hello", label="greeting")
    message = orders.receive()
    assert message is not None
    assert (message.id, message.lookup_id) == (sent.id, sent.lookup_id)
    assert (message.text, message.label, message.priority) == ("hello", "greeting", 3)
    assert orders.receive() is None


def test_every_field_makes_the_journey(orders: Queue) -> None:
    first = orders.send(b"")
    orders.send(
        b"\x00\xff",
        label="l",
        priority=7,
        expires=timedelta(hours=1),
        reach=60,
        journal=True,
        deadletter=True,
        correlation=first.id,
        tag=9,
        body_type=8,
        extension=b"\x01",
        response_queue="answers",
        administration_queue="reports",
    )
    message = orders.receive()
    assert message is not None
    assert message.body == b"\x00\xff"
    assert (message.label, message.priority, message.expires, message.reach) == ("l", 7, 3600, 60)
    assert (message.durable, message.journal, message.deadletter) == (True, True, True)
    assert (message.correlation, message.tag, message.body_type) == (first.id, 9, 8)
    assert (message.extension, message.response_queue) == (b"\x01", "answers")
    assert (message.administration_queue, message.message_class, message.transaction) == ("reports", "", None)
    assert message.source == message.id.partition("\\")[0]


def test_a_message_knows_when_it_came(orders: Queue) -> None:
    orders.send("now")
    message = orders.peek()
    assert message is not None
    assert message.arrived.tzinfo is UTC
    assert abs(message.arrived - message.sent) < timedelta(seconds=2)
    assert message.arrived > datetime(2024, 1, 1, tzinfo=UTC)


def test_an_express_message_says_so(orders: Queue) -> None:
    orders.send("quick", durable=False)
    message = orders.receive()
    assert message is not None
    assert not message.durable


def test_a_higher_priority_comes_first(orders: Queue) -> None:
    orders.send("later")
    orders.send("first", priority=7)
    assert texts(orders) == ["first", "later"]


def test_many_go_in_one_request_and_keep_their_order(orders: Queue) -> None:
    sent = orders.send_many(["a", b"b", OutgoingMessage(body=b"c", label="own")], label="all")
    assert len({each.id for each in sent}) == 3
    assert [(each.text, each.label) for each in orders.receive_many(10)] == [
        ("a", "all"),
        ("b", "all"),
        ("c", "all"),
    ]
    assert orders.send_many([]) == []


def test_many_are_stored_whole_or_not_at_all(orders: Queue) -> None:
    with pytest.raises(BadRequest, match="0 to 7, not 9"):
        orders.send_many(["good", OutgoingMessage(body=b"bad", priority=9)])
    assert texts(orders) == []


def test_receive_many_takes_what_is_there_up_to_the_count(orders: Queue) -> None:
    orders.send_many(["a", "b", "c"])
    assert [message.text for message in orders.receive_many(2, timeout=5)] == ["a", "b"]
    assert [message.text for message in orders.receive_many(2, timeout=5)] == ["c"]
    assert orders.receive_many(2) == []


def test_a_receive_that_waits_gets_what_comes(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders = await qm.create_queue("orders")
        waiting = asyncio.ensure_future(orders.receive(timeout=None))
        while not (await orders.info()).readers_waiting:
            pass
        await orders.send("at last")
        message = await waiting
        assert message is not None
        assert message.text == "at last"

    play(scene)


def test_a_wait_ends_without_a_message(orders: Queue) -> None:
    assert orders.receive(timeout=0.01) is None
    assert orders.peek(timeout=0.01) is None


def test_a_peek_leaves_the_message(orders: Queue) -> None:
    orders.send("stays")
    first, second = orders.peek(), orders.peek()
    assert first is not None
    assert first == second
    assert orders.info().messages == 1


def test_browse_shows_all_in_order_over_many_pages(orders: Queue) -> None:
    orders.send_many([str(number) for number in range(250)])
    assert texts(orders) == [str(number) for number in range(250)]
    tenth = orders.receive_many(10)[-1]
    assert next(orders.browse(after=tenth.lookup_id + 1)).text == "11"


def test_lookup_finds_a_message_and_its_neighbours(orders: Queue) -> None:
    places = [sent.lookup_id for sent in orders.send_many(["a", "b", "c"])]

    def text(lookup_id: int, seek: str, receive: bool = False) -> str | None:
        message = orders.lookup(lookup_id, seek, receive=receive)  # type: ignore[arg-type]
        return None if message is None else message.text

    assert text(places[1], "current") == "b"
    assert text(places[1], "next") == "c"
    assert text(places[1], "previous") == "a"
    assert text(0, "first") == "a"
    assert text(0, "last") == "c"
    assert text(places[2], "next") is None
    assert text(places[1], "current", receive=True) == "b"
    assert text(places[1], "current") is None
    assert texts(orders) == ["a", "c"]


def test_a_message_moves_into_a_subqueue(qm: Manager, orders: Queue) -> None:
    orders.send("poison")
    message = orders.peek()
    assert message is not None
    qm.queue("orders;retry")
    with pytest.raises(QueueNotFound):
        orders.move(message, "nowhere")
    qm.create_queue("aside")
    orders.move(message, "aside")
    assert texts(orders) == []
    assert texts(qm.queue("aside")) == ["poison"]


def test_a_journal_says_why_a_message_is_there(qm: Manager) -> None:
    audited = qm.create_queue("audited", journaling=True)
    audited.send("seen")
    audited.receive()
    message = qm.queue("audited;journal").peek()
    assert message is not None
    assert (message.text, message.message_class) == ("seen", "ack-receive")


def test_a_reader_can_have_a_queue_for_itself(qm: Manager, orders: Queue) -> None:
    orders.send("mine")
    with orders.open(share="deny-receive") as alone:
        with pytest.raises(SharingViolation):
            orders.receive()
        message = alone.receive()
        assert message is not None
        assert message.text == "mine"
        with pytest.raises(AccessDenied):
            alone.send("not opened for this")
    assert orders.receive() is None


def test_a_queue_that_is_not_open_cannot_be_used_as_one(orders: Queue) -> None:
    with pytest.raises(BadRequest, match="not open"):
        orders.open().__exit__(None, None, None)


def test_a_block_of_a_deleted_queue_ends_without_an_error(qm: Manager, orders: Queue) -> None:
    with orders.open() as held:
        orders.delete()
        with pytest.raises(QueueDeleted):
            held.receive()
    with pytest.raises(QueueNotFound):
        orders.receive()


def test_a_purge_counts_and_empties(orders: Queue) -> None:
    orders.send_many(["a", "b"])
    assert orders.purge() == 2
    assert orders.info().messages == 0


def test_settings_can_be_changed_one_by_one(orders: Queue) -> None:
    assert orders.info().settings.quota is None
    changed = orders.change(quota=1, label="one kilobyte", privacy="body")
    assert (changed.settings.quota, changed.settings.label) == (1, "one kilobyte")
    with pytest.raises(QuotaExceeded, match="1 kilobytes"):
        orders.send(bytes(2000))
    assert orders.change(quota=None).settings.quota is None
    assert orders.info().settings.privacy == "body"
    orders.send(bytes(2000))


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        pytest.param({"priority": 8}, "0 to 7, not 8", id="priority"),
        pytest.param({"label": "x" * 250}, "249 characters", id="label"),
        pytest.param({"expires": -1}, "0 to 4294967295 seconds, not -1", id="expires"),
        pytest.param({"correlation": "x"}, "id of a message", id="correlation"),
        pytest.param({"tag": -1}, "not -1", id="tag"),
    ],
)
def test_a_value_outside_its_range_is_refused_and_changes_nothing(
    orders: Queue, options: dict[str, object], limit: str
) -> None:
    with pytest.raises(BadRequest, match=limit) as refused:
        orders.send("x", **options)  # type: ignore[arg-type]
    assert refused.value.code == "INVALID_PARAMETER"
    assert orders.info().messages == 0


@pytest.mark.parametrize("wrong", [-1, 10**9], ids=["negative", "years"])
def test_a_wait_outside_its_range_is_refused(orders: Queue, wrong: float) -> None:
    with pytest.raises(BadRequest, match="timeout is 0 to"):
        orders.receive(timeout=wrong)


def test_a_queue_shows_its_name(orders: Queue) -> None:
    assert repr(orders) == "<Queue orders>"


def test_a_message_that_waits_is_rejected(qm: Manager, orders: Queue) -> None:
    sent = orders.send("bad", deadletter=True)
    orders.reject(sent.lookup_id)
    assert orders.info().messages == 0
    (dead,) = qm.queue("system$;deadletter").browse()
    assert (dead.message_class, dead.origin) == ("nack-receive-rejected", "orders")
    with pytest.raises(NotFound):
        orders.reject(sent.lookup_id)


def test_a_word_that_is_no_acknowledgement_is_refused(orders: Queue) -> None:
    with pytest.raises(BadRequest, match="often"):
        orders.send("x", acknowledgements=("often",), administration_queue="news")  # type: ignore[arg-type]


def test_a_queue_may_refuse_to_give_what_its_journal_cannot_keep(qm: Manager) -> None:
    careful = qm.create_queue("careful", journaling=True, journal_required=True, journal_quota=0)
    careful.send("x")
    with pytest.raises(QuotaExceeded, match="journal is full"):
        careful.receive()
    assert careful.change(journal_required=False).settings.journal_required is False
    assert careful.receive() is not None
    assert careful.info().copies_lost == {"journal": 1}
    assert qm.info().copies_lost == {"journal": 1}


# -- delays and poison


def test_a_delayed_message_is_there_and_not_seen(orders: Queue) -> None:
    orders.send("later", delay=timedelta(hours=1))
    orders.send("now", delay=0)
    assert texts(orders) == ["now"]
    assert (orders.info().messages, orders.info().delayed) == (1, 1)


def test_a_delay_is_over_and_reported(orders: Queue) -> None:
    orders.send("soon", delay=0.01)
    message = orders.receive(timeout=60)
    assert message is not None
    assert (message.text, message.delay) == ("soon", 0.01)


def test_a_bad_delay_is_one_sentence(orders: Queue) -> None:
    with pytest.raises(BadRequest, match="delay is 0 to 4294967295 seconds, not -1"):
        orders.send("x", delay=-1)


def test_poison_is_put_aside_and_returned(qm: Manager) -> None:
    orders = qm.create_queue("orders", poison_limit=2)
    orders.send("bad")
    for tries in (1, 2):
        for message in orders.consume(1):
            assert (message.handed_out, message.aborted) == (tries, tries - 1)
            break
    assert texts(orders) == []
    [bad] = orders.poison().browse()
    assert (bad.handed_out, bad.aborted, bad.message_class) == (2, 2, "nack-receive-rejected")
    assert orders.return_poison(bad, 1) == 1
    assert orders.return_poison() == 0
    [back] = orders.browse()
    assert (back.handed_out, back.aborted, back.moved, back.message_class) == (0, 0, 1, "")


def test_a_queue_that_never_put_anything_aside_has_nothing_to_return(orders: Queue) -> None:
    assert orders.return_poison() == 0
    assert orders.info().settings.poison_limit == 0
    assert orders.change(poison_limit=3, retry_delay=5).settings.retry_delay == 5
    with pytest.raises(BadRequest, match="longer than the longest"):
        orders.change(retry_delay=5000)
