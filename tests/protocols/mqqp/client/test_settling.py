"""The second half of a receive: the server removes the message, then the application has it."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.protocols.mqqp.client.facts import DoubtEnded, MessageDoubted
from reliquary.protocols.mqqp.client.phases import TaskPhase
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge, EndReceive, HandleReturned
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.model.events import (
    CloseQueue,
    EndRead,
    LookUpMessage,
    PeekMessage,
    ReceiveMessages,
    Seek,
)
from tests.protocols.mqqp.client.two_managers import FAR, Silence, TwoManagers, bodies_of


def from_second_on(two: TwoManagers, silence: Silence) -> None:
    """The first end of a read is answered, the next ones are not."""
    two.script[EndReceive] = lambda _: silence if len(two.asked(EndReceive)) > 1 else None


@pytest.mark.spec("QP-152")
def test_a_message_is_delivered_when_its_removal_is_confirmed() -> None:
    two = TwoManagers(b"a")
    two.script[EndReceive] = Silence.AFTER
    caller = two.begin(ReceiveMessages(0, two.open()))
    assert (two.answer_to(caller), two.bodies) == (None, [])
    assert [task.phase for task in two.link.tasks.values()] == [TaskPhase.SETTLING]


@pytest.mark.mqqp("T38")
@pytest.mark.parametrize("notices", ["a broken connection", "the time of the call"])
def test_a_lost_confirmation_delivers_a_removed_message_once(notices: str) -> None:
    two = TwoManagers(b"a")
    two.script[EndReceive] = Silence.AFTER
    caller = two.begin(ReceiveMessages(0, FAR))
    if notices == "the time of the call":
        two.advance(60)
        assert two.ended == [1]
    else:
        two.lose()
    assert bodies_of(two.answer_to(caller)) == [b"a"]
    del two.script[EndReceive]
    assert two.receive().status is HResult.IO_TIMEOUT
    assert two.here.client.taken == 1
    assert len(two.here.client.doubts) == 1
    two.advance(3600)
    assert two.here.client.doubts == {}


@pytest.mark.mqqp("T39")
@pytest.mark.parametrize("hold", [0, 60])
def test_a_lost_acknowledgement_delivers_once_though_the_message_comes_back(hold: float) -> None:
    two = TwoManagers(b"a", b"b")
    two.script[EndReceive] = Silence.BEFORE
    caller = two.begin(ReceiveMessages(0, FAR))
    two.lose()
    assert bodies_of(two.answer_to(caller)) == [b"a"]
    assert two.bodies == [b"a", b"b"]
    del two.script[EndReceive]
    assert bodies_of(two.receive(hold=hold)) == [b"b"]
    assert two.bodies == []
    assert two.here.client.doubts == {}


@pytest.mark.mqqp("T39")
def test_the_memory_is_on_disk_before_the_application_has_the_message() -> None:
    two = TwoManagers(b"a")
    two.script[EndReceive] = Silence.BEFORE
    caller = two.begin(ReceiveMessages(0, FAR))
    two.lose()
    turn = next(
        each for each in two.here.turns if any(isinstance(fact, MessageDoubted) for fact in each.facts)
    )
    assert [getattr(effect, "to", None) for effect in turn.effects].count(caller) == 1
    two.here.flush()
    two.restart(crash=True)
    del two.script[EndReceive]
    assert two.receive().status is HResult.IO_TIMEOUT
    assert two.bodies == []
    assert [fact for turn in two.here.turns for fact in turn.facts if isinstance(fact, DoubtEnded)] != []
    two.here.flush()
    two.restart()
    assert two.here.client.doubts == {}


@pytest.mark.mqqp("T39")
@pytest.mark.parametrize("hold", [0, 60])
def test_a_message_that_comes_by_a_second_link_before_the_first_is_found_lost_is_delivered_once(
    hold: float,
) -> None:
    two = TwoManagers(b"a", b"b")
    two.script[EndReceive] = Silence.BEFORE
    caller = two.begin(ReceiveMessages(0, two.open()))
    first = two.link.number
    two.notice(first)  # only the server knows: it has given the message back
    assert (two.answer_to(caller), two.bodies) == (None, [b"a", b"b"])
    del two.script[EndReceive]
    assert bodies_of(two.receive(hold=hold)) == [b"b"]
    assert bodies_of(two.answer_to(caller)) == [b"a"]
    assert (two.ended, two.bodies) == ([first], [])
    assert two.here.client.doubts == {}


def test_a_message_that_was_given_back_may_come_by_another_link_before_that_is_confirmed() -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    receipt = two.receive(handle, hold=60).receipt
    two.script[EndReceive] = Silence.AFTER
    two.begin(EndRead(0, receipt, delete=False))
    del two.script[EndReceive]
    assert bodies_of(two.receive()) == [b"a"]
    assert two.ended == []
    assert two.here.client.locked == {}


def test_a_message_that_is_known_is_dropped_by_every_receive_and_shown_by_every_peek() -> None:
    for request, found in (
        (ReceiveMessages(0, FAR, count=5), [b"b"]),
        (LookUpMessage(0, FAR, 0, Seek.FIRST, peek=False), [b"b"]),
        (PeekMessage(0, FAR), [b"a"]),
    ):
        two = TwoManagers(b"a", b"b")
        two.script[EndReceive] = Silence.BEFORE
        two.begin(ReceiveMessages(0, FAR))
        two.lose()
        del two.script[EndReceive]
        assert bodies_of(two.ask(request)) == found


def test_a_waiting_receive_goes_on_waiting_behind_a_message_that_is_known() -> None:
    two = TwoManagers(b"a")
    two.script[EndReceive] = Silence.BEFORE
    two.begin(ReceiveMessages(0, FAR))
    two.lose()
    del two.script[EndReceive]
    caller = two.begin_receiving(timeout=9)
    assert two.answer_to(caller) is None
    two.send(b"b")
    assert bodies_of(two.answer_to(caller)) == [b"b"]


def test_a_message_of_another_queue_or_of_another_identifier_is_not_dropped() -> None:
    two = TwoManagers(b"a")
    two.there.create("other")
    two.script[EndReceive] = Silence.AFTER
    two.begin(ReceiveMessages(0, FAR))
    two.lose()
    del two.script[EndReceive]
    two.there.send("other", b"o")
    two.there.send("orders", b"a")
    assert bodies_of(two.receive(r"DIRECT=OS:far\private$\other")) == [b"o"]
    assert bodies_of(two.receive()) == [b"a"]


def test_after_its_time_a_message_is_delivered_again() -> None:
    two = TwoManagers(b"a", settings=MqqpSettings(seed=b"x", memory=seconds(10)))
    two.script[EndReceive] = Silence.BEFORE
    two.begin(ReceiveMessages(0, FAR))
    two.lose()
    del two.script[EndReceive]
    two.advance(10)
    assert bodies_of(two.receive()) == [b"a"]


@pytest.mark.spec("QP-076")
@pytest.mark.mqqp("T33")
@pytest.mark.parametrize("status", [0xC00E0051, 0x400E03E9, 0xC00E0999, 0x00000001])
def test_a_message_that_the_server_does_not_remove_is_not_delivered(status: int) -> None:
    two = TwoManagers(b"a")
    two.script[EndReceive] = HandleReturned(NO_HANDLE, status)
    answer = two.receive()
    assert answer.status is not HResult.OK
    assert "far" in answer.why
    assert two.here.client.doubts == {}


def test_a_fault_that_carries_a_status_is_that_status() -> None:
    two = TwoManagers(b"a")
    two.script[EndReceive] = 0xC00E0051
    assert two.receive().status is HResult.TRANSACTION_SEQUENCE
    assert two.link.reads == {}


def test_any_other_fault_leaves_the_outcome_open_so_the_link_is_closed() -> None:
    two = TwoManagers(b"a")
    two.script[EndReceive] = 0x1C00001A
    assert bodies_of(two.receive()) == [b"a"]
    assert two.ended == [1]
    assert two.bodies == [b"a"]
    del two.script[EndReceive]
    assert two.receive().status is HResult.IO_TIMEOUT


def test_of_several_messages_those_are_delivered_whose_removal_is_confirmed_or_open() -> None:
    two = TwoManagers(b"a", b"b", b"c")
    from_second_on(two, Silence.BEFORE)
    caller = two.begin(ReceiveMessages(0, FAR, count=3))
    two.lose()
    assert bodies_of(two.answer_to(caller)) == [b"a", b"b"]
    assert two.bodies == [b"b", b"c"]
    two.script.clear()
    assert bodies_of(two.receive(count=3)) == [b"c"]


def test_of_several_messages_those_are_not_delivered_that_the_server_keeps() -> None:
    two = TwoManagers(b"a", b"b", b"c")
    two.script[EndReceive] = lambda _: (
        HandleReturned(NO_HANDLE, 5) if len(two.asked(EndReceive)) == 2 else None
    )
    assert bodies_of(two.receive(count=3)) == [b"a", b"c"]


def test_an_application_that_leaves_gets_what_is_being_removed_and_gives_the_others_back() -> None:
    two = TwoManagers(b"a", b"b", b"c")
    handle = two.open()
    two.stalled = True
    caller = two.begin(ReceiveMessages(0, handle, count=3))
    two.carry_until(EndReceive)
    two.leave(caller)
    two.stalled = False
    two.move()
    ends = [each.acknowledge for each in two.asked(EndReceive)]
    assert ends == [Acknowledge.ACK, Acknowledge.NACK, Acknowledge.NACK]
    assert (bodies_of(two.answer_to(caller)), two.bodies) == ([b"a"], [b"b", b"c"])
    assert (two.link.tasks, two.link.reads) == ({}, {})


def doubtful(*bodies: bytes) -> TwoManagers:
    """Return a bench whose first message was delivered, and is still on its server."""
    two = TwoManagers(*bodies)
    two.script[EndReceive] = Silence.BEFORE
    two.begin(ReceiveMessages(0, FAR))
    two.lose()
    two.script.clear()
    return two


def test_a_known_message_that_the_server_does_not_remove_stays_known() -> None:
    two = doubtful(b"a", b"b")
    two.script[EndReceive] = HandleReturned(NO_HANDLE, 0xC00E0051)
    assert two.receive().status is HResult.TRANSACTION_SEQUENCE
    assert len(two.here.client.doubts) == 1


def test_an_application_that_leaves_while_a_known_message_is_removed_receives_nothing() -> None:
    two = doubtful(b"a", b"b")
    two.stalled = True
    caller = two.begin_receiving()
    two.carry_until(EndReceive)
    two.leave(caller)
    two.stalled = False
    two.move()
    assert two.answer_to(caller).status is HResult.OPERATION_CANCELLED
    assert two.bodies == [b"b"]
    assert two.here.client.doubts == {}


@pytest.mark.parametrize("silence", [None, *Silence])
def test_a_queue_that_is_closed_while_a_message_is_removed_still_delivers_it(silence: Silence | None) -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    two.stalled = True
    caller = two.begin(ReceiveMessages(0, handle))
    two.carry_until(EndReceive)
    closer = two.begin(CloseQueue(0, handle))
    if silence is not None:
        two.script[EndReceive] = silence
    two.stalled = False
    two.move()
    assert two.answer_to(closer).status is HResult.OK
    assert bodies_of(two.answer_to(caller)) == [b"a"]
    assert len(two.here.client.doubts) == (silence is not None)
    assert two.is_idle
