"""Messages are numbered and sent: the window, what asks for acknowledgements, what cannot be written."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.wsrm.codec.values import LAST_NUMBER, Envelope
from reliquary.protocols.wsrm.mapping import envelope_of
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source import sending
from reliquary.queueing.model.events import PurgeQueue
from reliquary.queueing.model.message import Message, MessageClass, ObjectId
from tests.protocols.wsrm.source.source_bench import FIRST, SHOP, SourceBench


def opened(*words: str, window: int = 64, **attributes: Any) -> SourceBench:
    bench = SourceBench(settings=WsrmSettings(peers=(PeerSettings(address="*", window=window),)))
    bench.put(*words, **attributes)
    bench.open()
    return bench


def test_numbers_begin_with_one_and_have_no_gaps() -> None:
    bench = opened("a", "b", "c")
    bench.acknowledge((1, 1))
    assert (bench.numbers, bench.words) == ([2, 3], ["b", "c"])
    bench.put("d")
    assert bench.numbers == [2, 3, 4]


def test_the_first_message_of_a_connection_goes_alone() -> None:
    assert opened("a", "b", "c").numbers == [1]


@pytest.mark.parametrize("window", [1, 3, 8])
def test_no_more_are_unacknowledged_than_the_window(window: int) -> None:
    bench = opened(*"abcdefghijkl", window=window)
    bench.acknowledge((1, 1))
    assert bench.numbers == list(range(2, 2 + window))
    second = bench.take()[0]
    bench.answer(second, bench.acknowledgement((1, 2)))
    assert bench.numbers == [2 + window]


def test_the_message_that_fills_the_window_asks_for_an_acknowledgement() -> None:
    """WCF does so too: AckRequested is in the message that fills the window or the quota."""
    bench = opened(*"abcdefgh", window=3)
    assert bench.sent()[0].ack_requests == (FIRST,)
    bench.acknowledge((1, 1))
    assert [each.ack_requests for each in bench.sent()] == [(), (), (FIRST,)]
    bench.acknowledge((1, 4), buffer=2)
    assert [each.ack_requests for each in bench.sent()] == [(), (FIRST,)]


def test_no_message_goes_further_ahead_than_the_peer_can_hold() -> None:
    """The quota of WCF counts messages in flight; a gap also delays messages that are a window behind it."""
    bench = opened(*"abcdefghijkl")
    bench.acknowledge((1, 1), buffer=4)
    assert bench.numbers == [2, 3, 4, 5]
    bench.acknowledge((1, 1), (3, 5), buffer=4)
    assert bench.numbers == [2]  # again; 6 would be four behind it
    bench.acknowledge((1, 5), buffer=4)
    assert bench.numbers == [6, 7, 8, 9]


def test_a_message_is_related_to_the_one_it_answers() -> None:
    asked = ObjectId(UUID(int=5), 77)
    bench = opened("a", correlation=asked)
    [message] = bench.sent()
    assert message.relates_to == bench.wsrm.message_id_of(asked)
    assert opened("a").sent()[0].relates_to == ""


def test_what_cannot_be_written_is_refused_and_gets_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def picky(message: Message, *args: object, **kwargs: object) -> Envelope:
        if b"bad" in message.body:
            raise UsageError("it is bad")
        return envelope_of(message, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(sending, "envelope_of", picky)
    bench = opened("bad", "good", negative_journaling=True)
    assert (bench.numbers, bench.words) == ([1], ["good"])
    dead = bench.queue("system$;deadletter").order.first()
    assert dead is not None
    assert dead.reason is MessageClass.NACK_COULD_NOT_ENCRYPT
    assert bench.warnings[0].why == rf"message {bench.state.manager.lineage}\1: it is bad"


def test_what_cannot_be_written_any_more_ends_the_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    def picky(*args: object, **kwargs: object) -> Envelope:
        raise UsageError("it is bad")

    bench = opened("a")
    bench.acknowledge()
    monkeypatch.setattr(sending, "envelope_of", picky)
    bench.advance(2)
    assert bench.waiting() == 0
    bench.advance(4)
    assert bench.kinds() == ["CloseSequence"]


def test_a_message_that_leaves_before_it_has_a_number_is_not_sent() -> None:
    bench = opened("a", "b")
    [post] = bench.take()
    bench.ask(PurgeQueue(0, SHOP))
    bench.fail(post)  # with the connection, the manager takes back what it handed out
    bench.put("c")
    bench.advance(1)
    bench.acknowledge((1, 1))
    assert (bench.numbers, bench.words) == ([2], ["c"])


def test_a_message_that_leaves_after_it_has_a_number_is_sent_until_it_is_there() -> None:
    bench = opened("a", "b")
    bench.acknowledge((1, 1))
    bench.ask(PurgeQueue(0, SHOP))
    bench.fail(bench.take()[0])
    assert bench.waiting() == 0
    bench.put("c")
    bench.advance(1)
    assert (bench.numbers, bench.words) == ([2], ["b"])
    bench.acknowledge((1, 1))
    bench.advance(2)
    assert (bench.numbers, bench.words) == ([2], ["b"])
    bench.acknowledge((1, 2))
    assert (bench.numbers, bench.words) == ([3], ["c"])


def test_a_sequence_ends_with_the_last_number() -> None:
    bench = opened("a")
    bench.acknowledge((1, 1))
    row = bench.sequence.row
    bench.sequence.row = type(row)(
        **{f: getattr(row, f) for f in row.__struct_fields__} | {"last": LAST_NUMBER - 1}
    )
    bench.put("b", "c")
    assert bench.numbers == [LAST_NUMBER]
    bench.acknowledge((1, 1), (LAST_NUMBER, LAST_NUMBER))
    assert bench.kinds() == ["CloseSequence"]
    assert bench.waiting() == 1


def test_a_sequence_of_which_all_messages_left_ends_after_its_idle_time() -> None:
    bench = opened("a", "b")
    bench.acknowledge((1, 1))
    bench.ask(PurgeQueue(0, SHOP))
    bench.fail(bench.take()[0])
    assert bench.sequence.flights[2].lookup_id == 0
    assert bench.sequence.is_orphaned
    bench.advance(300)
    assert bench.kinds() == ["CloseSequence"]
