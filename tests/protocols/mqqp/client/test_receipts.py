"""Messages of other managers that an application holds."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.protocols.mqqp.client.receipts import COUNTED, REJECTED
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge, EndReceive, HandleReturned
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    CloseQueue,
    EndRead,
    LookUpMessage,
    ReceiveMessages,
    Seek,
)
from reliquary.queueing.model.security.principals import Principal, user_sid
from tests.protocols.mqqp.client.two_managers import FAR, Silence, TwoManagers, bodies_of


def acknowledgements(two: TwoManagers) -> list[Acknowledge]:
    return [each.acknowledge for each in two.asked(EndReceive)]


def held(two: TwoManagers, count: int = 1, **parts: Any) -> Any:
    answer = two.receive(hold=60, count=count, **parts)
    assert answer.receipt
    return answer


def test_held_messages_are_locked_there_and_nothing_is_ended() -> None:
    two = TwoManagers(b"a", b"b", b"c")
    answer = held(two, 2)
    assert (bodies_of(answer), two.bodies) == ([b"a", b"b"], [b"c"])
    assert acknowledgements(two) == []
    assert len(two.link.receipts[answer.receipt].held) == 2


@pytest.mark.parametrize("delete", [True, False])
def test_all_of_a_receipt_is_ended(delete: bool) -> None:
    two = TwoManagers(b"a", b"b")
    receipt = held(two, 2).receipt
    answer = two.ask(EndRead(0, receipt, delete))
    assert (answer.status, answer.why) == (HResult.OK, "")
    assert acknowledgements(two) == [Acknowledge.ACK if delete else Acknowledge.NACK] * 2
    assert two.bodies == ([] if delete else [b"a", b"b"])
    assert two.here.client.taken == (2 if delete else 0)
    two.advance(3)
    assert two.is_idle


def test_single_messages_are_ended_and_the_receipt_stays_until_the_last() -> None:
    two = TwoManagers(b"a", b"b", b"c")
    answer = held(two, 3)
    first, second, third = (each.position.lookup_id for each in answer.messages)
    end = EndRead(0, answer.receipt, delete=True, lookup_ids=(second, second))
    assert two.ask(end).status is HResult.OK
    assert two.ask(end).status is HResult.TRANSACTION_SEQUENCE
    give = EndRead(0, answer.receipt, delete=False, lookup_ids=(first, third))
    assert two.ask(give).status is HResult.OK
    assert two.bodies == [b"a", b"c"]
    assert two.ask(give).status is HResult.INVALID_HANDLE
    two.advance(3)
    assert two.is_idle


def test_a_receipt_is_ended_once() -> None:
    two = TwoManagers(b"a")
    receipt = held(two).receipt
    assert two.ask(EndRead(0, receipt, delete=True)).status is HResult.OK
    assert two.ask(EndRead(0, receipt, delete=True)).status is HResult.INVALID_HANDLE


def test_what_is_no_receipt_is_refused() -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    answer = two.ask(EndRead(0, handle, delete=True))
    assert answer.status is HResult.INVALID_HANDLE


def test_options_that_mqqp_cannot_express_are_named_in_the_answer() -> None:
    two = TwoManagers(b"a", b"b")
    answer = two.ask(EndRead(0, held(two).receipt, delete=True, reject=True))
    assert (answer.status, answer.why) == (HResult.OK, REJECTED)
    assert two.bodies == [b"b"]
    answer = two.ask(EndRead(0, held(two).receipt, delete=False, unseen=True))
    assert (answer.status, answer.why) == (HResult.OK, COUNTED)
    assert two.bodies == [b"b"]


def test_a_hold_ends_with_its_time() -> None:
    two = TwoManagers(b"a", b"b")
    receipt = held(two, 2).receipt
    two.advance(59)
    assert two.bodies == []
    two.advance(1)
    assert two.bodies == [b"a", b"b"]
    assert acknowledgements(two) == [Acknowledge.NACK] * 2
    assert two.ask(EndRead(0, receipt, delete=True)).status is HResult.INVALID_HANDLE
    two.advance(3)
    assert two.is_idle


def test_a_hold_without_a_time_ends_with_the_handle() -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    assert bodies_of(two.ask(ReceiveMessages(0, handle, hold=FOREVER_WAIT))) == [b"a"]
    two.advance(1_000_000)
    assert two.bodies == []
    two.ask(CloseQueue(0, handle))
    assert two.bodies == [b"a"]
    assert two.is_idle


def test_a_named_queue_stays_open_as_long_as_something_is_held() -> None:
    two = TwoManagers(b"a")
    receipt = held(two).receipt
    two.advance(30)
    assert two.ask(EndRead(0, receipt, delete=True)).status is HResult.OK
    two.advance(3)
    assert two.is_idle


def test_a_message_is_looked_up_and_held() -> None:
    two = TwoManagers(b"a", b"b")
    answer = two.ask(LookUpMessage(0, FAR, 0, Seek.LAST, peek=False, hold=seconds(60)))
    assert (bodies_of(answer), two.bodies) == ([b"b"], [b"a"])
    assert two.ask(EndRead(0, answer.receipt, delete=False)).status is HResult.OK
    assert two.bodies == [b"a", b"b"]


def test_a_peek_that_asks_for_a_hold_holds_nothing() -> None:
    two = TwoManagers(b"a")
    answer = two.ask(LookUpMessage(0, FAR, 0, Seek.FIRST, peek=True, hold=seconds(60)))
    assert (bodies_of(answer), answer.receipt) == ([b"a"], 0)
    assert two.here.state.open.remote == {}


def test_a_receive_that_finds_nothing_has_no_receipt() -> None:
    two = TwoManagers()
    assert two.receive(hold=60).status is HResult.IO_TIMEOUT
    assert two.here.state.open.remote == {}


# -- a receive that ends an older receipt


def test_a_receive_first_removes_what_an_older_receipt_holds() -> None:
    two = TwoManagers(b"a", b"b", b"c")
    first = held(two)
    second = held(two, acknowledge=first.receipt)
    assert bodies_of(second) == [b"b"]
    assert two.methods[-3:] == ["StartReceive2", "EndReceive", "StartReceive2"]
    assert two.ask(EndRead(0, first.receipt, delete=True)).status is HResult.INVALID_HANDLE
    assert bodies_of(two.receive(acknowledge=second.receipt)) == [b"c"]
    two.advance(3)
    assert two.is_idle


def test_a_receipt_that_is_not_known_fails_the_receive() -> None:
    two = TwoManagers(b"a")
    answer = two.receive(acknowledge=99, hold=5)
    assert (answer.status, "receipt is not known" in answer.why) == (HResult.INVALID_HANDLE, True)
    assert (two.methods, two.here.state.open.remote) == ([], {})


def test_a_receipt_of_another_user_fails_the_receive() -> None:
    two = TwoManagers(b"a", b"b")
    identity = two.here.state.identity().identifier
    anna, boris = (Principal(user_sid(identity, name)) for name in ("anna", "boris"))
    receipt = two.ask(ReceiveMessages(0, FAR, hold=seconds(60), by=anna)).receipt
    assert two.ask(ReceiveMessages(0, FAR, acknowledge=receipt, by=boris)).status is HResult.INVALID_HANDLE
    assert two.ask(ReceiveMessages(0, FAR, acknowledge=receipt, by=anna)).status is HResult.OK


def test_a_receipt_that_cannot_be_ended_fails_the_receive() -> None:
    two = TwoManagers(b"a", b"b")
    receipt = held(two).receipt
    two.script[EndReceive] = HandleReturned(NO_HANDLE, 0xC00E0051)
    answer = two.receive(acknowledge=receipt, hold=5)
    assert answer.status is HResult.TRANSACTION_SEQUENCE
    assert two.here.state.open.remote == {}


def test_an_application_that_leaves_while_its_receipt_is_ended_receives_nothing() -> None:
    two = TwoManagers(b"a", b"b")
    receipt = held(two).receipt
    two.stalled = True
    caller = two.begin(ReceiveMessages(0, FAR, acknowledge=receipt, hold=seconds(5)))
    two.leave(caller)
    two.stalled = False
    two.move()
    assert two.answer_to(caller).status is HResult.OPERATION_CANCELLED
    assert two.bodies == [b"b"]
    two.advance(3)
    assert two.is_idle


# -- failures


@pytest.mark.spec("QP-076")
def test_a_failure_is_reported_and_the_other_messages_are_ended_nevertheless() -> None:
    two = TwoManagers(b"a", b"b")
    receipt = held(two, 2).receipt
    two.script[EndReceive] = lambda _: (
        HandleReturned(NO_HANDLE, 7) if len(two.asked(EndReceive)) == 1 else None
    )
    answer = two.ask(EndRead(0, receipt, delete=True))
    assert (answer.status, "0x00000007" in answer.why) == (HResult.ERROR, True)
    assert len(two.asked(EndReceive)) == 2
    assert two.link.reads == {}


@pytest.mark.parametrize("silence", Silence)
def test_an_end_whose_response_is_lost_says_that_the_outcome_is_unknown(silence: Silence) -> None:
    two = TwoManagers(b"a")
    receipt = held(two).receipt
    two.script[EndReceive] = silence
    caller = two.begin(EndRead(0, receipt, delete=True))
    assert two.answer_to(caller) is None
    two.lose()
    answer = two.answer_to(caller)
    assert answer.status is HResult.OUTCOME_UNKNOWN
    assert answer.why.startswith("far may have removed the messages or not")
    assert two.bodies == ([b"a"] if silence is Silence.BEFORE else [])
    assert two.here.client.doubts == {}
    assert two.is_idle


def test_a_receive_behind_an_end_whose_response_is_lost_does_not_begin() -> None:
    two = TwoManagers(b"a", b"b")
    receipt = held(two).receipt
    two.script[EndReceive] = Silence.AFTER
    caller = two.begin(ReceiveMessages(0, FAR, acknowledge=receipt, hold=seconds(5)))
    two.lose()
    assert two.answer_to(caller).status is HResult.OUTCOME_UNKNOWN
    assert two.is_idle
    assert two.bodies == [b"b"]


def test_messages_that_were_to_go_back_are_back_when_the_link_is_lost() -> None:
    two = TwoManagers(b"a")
    receipt = held(two).receipt
    two.script[EndReceive] = Silence.BEFORE
    caller = two.begin(EndRead(0, receipt, delete=False))
    two.lose()
    assert two.answer_to(caller).status is HResult.OK
    assert two.bodies == [b"a"]


def test_a_message_that_cannot_be_given_back_ends_the_link() -> None:
    two = TwoManagers(b"a")
    held(two)
    two.script[EndReceive] = 0x1C00001A
    two.advance(60)
    assert two.ended == [1]
    assert two.bodies == [b"a"]
    assert two.is_idle


def test_an_application_that_leaves_while_it_ends_a_receipt_changes_nothing() -> None:
    two = TwoManagers(b"a")
    receipt = held(two).receipt
    two.stalled = True
    caller = two.begin(EndRead(0, receipt, delete=True))
    two.leave(caller)
    two.stalled = False
    two.move()
    assert (two.answer_to(caller).status, two.bodies) == (HResult.OK, [])


def test_no_client_has_to_wait_for_the_end_of_a_receipt() -> None:
    two = TwoManagers(b"a")
    receipt = held(two).receipt
    two.here.handle(EndRead(0, receipt, delete=False))
    two.move()
    assert two.bodies == [b"a"]
    assert two.here.client.waiting == {}
