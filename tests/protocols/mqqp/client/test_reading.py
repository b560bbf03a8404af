"""Tests the first half of a read: what the server is asked, and what becomes of its message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from reliquary.base.hresult import HResult
from reliquary.base.time import MILLISECOND, Duration, seconds
from reliquary.protocols.mqqp.client.phases import TaskPhase
from reliquary.protocols.mqqp.codec.qm2qm import (
    FOREVER,
    LAST,
    NO_HANDLE,
    Acknowledge,
    Action,
    CancelReceive,
    EndReceive,
    GetVersion,
    ReadDescriptor,
    ReadStarted2,
    Request,
    StartReceive,
    StartReceive2,
    StartReceiveByLookupId,
    VersionReturned,
)
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    BrowseMessages,
    LookUpMessage,
    OpenCursor,
    PeekMessage,
    Received,
    ReceiveMessages,
    Seek,
)
from reliquary.queueing.model.message import Message
from tests.protocols.mqqp.client.two_managers import FAR, Silence, TwoManagers, bodies_of
from tests.queueing.state_checks import walk


def descriptor(two: TwoManagers) -> ReadDescriptor:
    """Return the REMOTEREADDESC that went out last."""
    reads = [each for each in two.asked(Request) if isinstance(each, StartReceive2 | StartReceiveByLookupId)]
    assert reads[-1].read is not None
    return reads[-1].read


# -- receive and peek


@pytest.mark.spec("QP-015", "QP-040", "QP-041", "QP-070", "QP-071", "QP-151", "QP-152")
@pytest.mark.mqqp("T14")
def test_a_receive_is_two_calls_and_removes_the_message() -> None:
    two = TwoManagers(b"a", b"b")
    handle = two.open()
    answer = two.receive(handle)
    assert isinstance(answer, Received)
    assert (bodies_of(answer), answer.receipt, two.bodies) == ([b"a"], 0, [b"b"])
    assert two.methods[-2:] == ["StartReceive2", "EndReceive"]
    (ended,) = two.asked(EndReceive)
    assert ended.acknowledge is Acknowledge.ACK
    assert ended.handle != NO_HANDLE
    assert two.link.reads == {}


@pytest.mark.spec("QP-018", "QP-020", "QP-124", "QP-150")
@pytest.mark.mqqp("T12", "T26")
@pytest.mark.parametrize("old", [False, True])
def test_a_read_fills_what_the_client_sets_and_nothing_else(old: bool) -> None:
    two = TwoManagers(b"a")
    if old:
        two.script[GetVersion] = VersionReturned(5, 0, 0)
    handle = two.open()
    two.receive(handle, timeout=5)
    (request,) = two.asked(StartReceive) if old else two.asked(StartReceive2)
    number = two.link.remote.queue
    assert request.read is not None
    expected = ReadDescriptor(number, Action.RECEIVE, 5000, request.read.request, queue_again=number)
    assert request == (StartReceive(expected) if old else StartReceive2(expected, sequential=0))


@pytest.mark.spec("QP-049")
@pytest.mark.mqqp("T15")
def test_a_peek_is_one_call_and_the_message_stays() -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    for _ in range(2):
        assert bodies_of(two.ask(PeekMessage(0, handle))) == [b"a"]
    assert two.bodies == [b"a"]
    assert descriptor(two).action == Action.PEEK_CURRENT
    assert "EndReceive" not in two.methods
    assert two.link.reads == {}


@pytest.mark.spec("QP-017")
@pytest.mark.mqqp("T17")
@pytest.mark.parametrize(
    ("wait", "expected"),
    [
        (Duration(0), 0),
        (Duration(1), 1),
        (Duration(1000), 1),
        (Duration(1001), 2),
        (seconds(60), 60_000),
        (Duration((FOREVER - 1) * MILLISECOND), FOREVER - 1),
        (Duration(FOREVER * MILLISECOND), FOREVER - 1),
        (FOREVER_WAIT, FOREVER),
    ],
)
def test_a_wait_goes_out_in_milliseconds(wait: Duration, expected: int) -> None:
    two = TwoManagers()
    two.begin(ReceiveMessages(0, two.open(), timeout=wait))
    assert descriptor(two).timeout == expected


@pytest.mark.mqqp("T16", "T17")
def test_a_read_waits_at_the_server_and_not_here() -> None:
    two = TwoManagers()
    handle = two.open()
    first, second = two.begin_receiving(handle), two.begin_receiving(handle, timeout=5)
    third = two.begin(PeekMessage(0, handle, timeout=FOREVER_WAIT))
    two.advance(5)
    assert two.answer_to(second).status is HResult.IO_TIMEOUT
    assert two.answer_to(first) is None
    two.send(b"a", b"b")
    assert bodies_of(two.answer_to(first)) == [b"a"]
    assert len(bodies_of(two.answer_to(third))) == 1
    assert two.bodies == [b"b"]


def test_the_time_in_which_a_queue_is_opened_counts_as_waiting() -> None:
    two = TwoManagers()
    two.stalled = True
    two.begin(ReceiveMessages(0, FAR, timeout=seconds(10)))
    two.here.advance(4)
    two.stalled = False
    two.move()
    assert descriptor(two).timeout == 6000


def test_a_read_whose_time_is_over_when_the_queue_is_open_does_not_wait() -> None:
    two = TwoManagers()
    two.stalled = True
    caller = two.begin(ReceiveMessages(0, FAR, timeout=seconds(10)))
    two.here.advance(14)
    two.stalled = False
    two.move()
    assert descriptor(two).timeout == 0
    assert two.answer_to(caller).status is HResult.IO_TIMEOUT


def test_the_server_has_the_time_of_a_call_beside_the_wait() -> None:
    two = TwoManagers(settings=MqqpSettings(seed=b"x", call_time=seconds(7)))
    two.script[StartReceive2] = Silence.BEFORE
    handle = two.open()
    caller = two.begin_receiving(handle, timeout=10)
    two.advance(16)
    assert two.answer_to(caller) is None
    two.advance(1)
    assert two.answer_to(caller).status is HResult.REMOTE_MACHINE_NOT_AVAILABLE
    assert two.ended == [1]


@pytest.mark.spec("QP-021", "QP-143", "QP-148")
@pytest.mark.mqqp("T22")
def test_all_reads_that_wait_have_numbers_of_their_own() -> None:
    two = TwoManagers()
    handles = [two.open(), two.open()]
    for handle in handles * 3:
        two.begin_receiving(handle)
    numbers = [each.read.request for each in two.asked(StartReceive2) if each.read is not None]
    assert len(set(numbers)) == 6
    pending = [request for link in two.here.client.links.values() for request in link.reads]
    assert sorted(pending) == sorted(numbers) == sorted(two.here.client.requests)


@pytest.mark.spec("QP-022")
def test_the_number_of_a_read_is_kept_until_it_is_ended() -> None:
    two = TwoManagers(b"a")
    answer = two.receive(two.open(), hold=60)
    (request,) = two.here.client.requests
    assert request == descriptor(two).request
    two.here.client._last_number = request - 1
    assert two.here.client.next_request() != request
    assert answer.receipt


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_several_messages_come_in_their_order_and_only_the_first_is_waited_for(count: int) -> None:
    two = TwoManagers(b"a", b"b", b"c")
    answer = two.receive(two.open(), timeout=5, count=count)
    expected = [b"a", b"b", b"c"][:count]
    assert bodies_of(answer) == expected
    assert two.bodies == [b"a", b"b", b"c"][count:]
    waits = [each.read.timeout for each in two.asked(StartReceive2) if each.read is not None]
    assert waits[0] == 5000
    assert set(waits[1:]) <= {0}


def test_no_message_is_removed_before_all_have_come() -> None:
    two = TwoManagers(b"a", b"b")
    two.receive(two.open(), count=2)
    assert two.methods[-4:] == ["StartReceive2", "StartReceive2", "EndReceive", "EndReceive"]


def test_an_answer_has_a_limit_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reliquary.protocols.mqqp.client.reading.ANSWER_BYTES", 500)
    two = TwoManagers(b"a" * 200, b"b" * 200, b"c" * 200)
    assert len(bodies_of(two.receive(count=9))) == 2
    assert len(bodies_of(two.ask(BrowseMessages(0, FAR)))) == 1


# -- cursors


@pytest.mark.spec("QP-016", "QP-050", "QP-153")
@pytest.mark.mqqp("T19", "T20")
def test_a_cursor_goes_along_the_queue_there() -> None:
    two = TwoManagers(b"a", b"b", b"c")
    handle = two.open()
    cursor = two.ask(OpenCursor(0, handle)).handle
    ask = PeekMessage(0, handle, cursor=cursor)
    assert two.ask(replace(ask, next=True)).status is HResult.ILLEGAL_CURSOR_ACTION
    assert bodies_of(two.ask(ask)) == [b"a"]
    assert bodies_of(two.ask(replace(ask, next=True))) == [b"b"]
    assert descriptor(two).action == Action.PEEK_NEXT
    assert descriptor(two).cursor == two.link.cursors[cursor] != 0
    assert bodies_of(two.receive(handle, cursor=cursor, count=5)) == [b"b"]
    assert two.bodies == [b"a", b"c"]


# -- by LookupIdentifier

SEEKS: list[tuple[Seek, Callable[[list[int]], int], list[bytes], Action, Callable[[list[int]], int]]] = [
    (Seek.FIRST, lambda _: 77, [b"a"], Action.LOOKUP_PEEK_NEXT, lambda _: 0),
    (Seek.LAST, lambda _: 77, [b"c"], Action.LOOKUP_PEEK_PREVIOUS, lambda _: LAST),
    (Seek.CURRENT, lambda ids: ids[1], [b"b"], Action.LOOKUP_PEEK_CURRENT, lambda ids: ids[1]),
    (Seek.NEXT, lambda ids: ids[0], [b"b"], Action.LOOKUP_PEEK_NEXT, lambda ids: ids[0]),
    (Seek.PREVIOUS, lambda ids: ids[2], [b"b"], Action.LOOKUP_PEEK_PREVIOUS, lambda ids: ids[2]),
    (Seek.NEXT, lambda _: 0, [b"a"], Action.LOOKUP_PEEK_NEXT, lambda _: 0),
]


@pytest.mark.spec("QP-127", "QP-128")
@pytest.mark.mqqp("T31")
@pytest.mark.parametrize(("seek", "given", "found", "action", "place"), SEEKS)
@pytest.mark.parametrize("peek", [True, False])
def test_every_seek_finds_its_message(
    seek: Seek, given: Any, found: list[bytes], action: Action, place: Any, peek: bool
) -> None:
    two = TwoManagers(b"a", b"b", b"c")
    ids = [each.lookup_id for each in walk(two.there.queue())]
    answer = two.ask(LookUpMessage(0, two.open(), given(ids), seek, peek=peek))
    assert bodies_of(answer) == found
    assert (found[0] in two.bodies) is peek
    (request,) = two.asked(StartReceiveByLookupId)
    assert request.read is not None
    assert request.lookup_id == place(ids)
    assert request.read.action == action + (0 if peek else 0x10)
    assert (request.read.cursor, request.read.timeout, request.sequential) == (0, 0, 0)


@pytest.mark.spec("QP-129")
@pytest.mark.mqqp("T31")
@pytest.mark.parametrize("seek", [Seek.CURRENT, Seek.PREVIOUS])
def test_no_server_is_asked_for_the_lookup_identifier_0(seek: Seek) -> None:
    two = TwoManagers(b"a")
    answer = two.ask(LookUpMessage(0, two.open(), 0, seek))
    assert answer.status is HResult.MESSAGE_NOT_FOUND
    assert two.asked(StartReceiveByLookupId) == []


def test_a_message_that_is_not_there_is_not_found() -> None:
    two = TwoManagers(b"a")
    answer = two.ask(LookUpMessage(0, FAR, 99))
    assert (answer.status, answer.why) == (
        HResult.MESSAGE_NOT_FOUND,
        "far: the message does not exist in the queue",
    )


def test_a_queue_is_browsed_message_by_message() -> None:
    two = TwoManagers()
    two.there.send("orders", b"a", b"b", priority=5)
    two.there.send("orders", b"c", priority=3)
    handle = two.open(name=FAR)
    answer = two.ask(BrowseMessages(0, handle))
    assert bodies_of(answer) == [b"a", b"b", b"c"]
    ids = [each.position.lookup_id for each in answer.messages]
    assert [each.lookup_id for each in two.asked(StartReceiveByLookupId)] == [0, *ids]
    assert bodies_of(two.ask(BrowseMessages(0, handle, limit=2))) == [b"a", b"b"]
    assert bodies_of(two.ask(BrowseMessages(0, handle, after=ids[0]))) == [b"b", b"c"]
    assert bodies_of(two.ask(BrowseMessages(0, handle, after=ids[2]))) == []
    assert two.bodies == [b"a", b"b", b"c"]


def test_a_browse_that_would_never_end_is_refused() -> None:
    two = TwoManagers(b"a")
    two.script[StartReceiveByLookupId] = lambda request: two.truth(replace(request, lookup_id=0))
    answer = two.ask(BrowseMessages(0, FAR))
    assert answer.status is HResult.OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER


# -- what is no message


@pytest.mark.spec("QP-048", "QP-052")
@pytest.mark.mqqp("T33")
@pytest.mark.parametrize("status", [0xC00E001B, 0x400E03E9, 0xC00E0099, 0x00000001, 0x8007000E])
@pytest.mark.parametrize("request_", [ReceiveMessages(0, FAR), PeekMessage(0, FAR)])
def test_any_status_but_success_fails_a_read_and_its_handle_is_not_used(status: int, request_: Any) -> None:
    two = TwoManagers(b"a")
    two.script[StartReceive2] = lambda request: ReadStarted2(two.link.remote.session, request.read, 5, status)
    assert two.ask(request_).status is not HResult.OK
    assert two.asked(EndReceive) == []
    assert two.link.reads == {}


def test_a_fault_fails_a_read_as_a_status_does() -> None:
    two = TwoManagers(b"a")
    two.script[StartReceive2] = 0xC00E0007
    assert two.receive().status is HResult.INVALID_HANDLE
    assert two.link.reads == {}


@pytest.mark.mqqp("T43")
@pytest.mark.parametrize("hold", [0, 5])
def test_a_message_that_cannot_be_rebuilt_goes_back_and_the_read_fails(hold: float) -> None:
    two = TwoManagers(b"a")
    two.script[StartReceive2] = spoiled(two)
    answer = two.receive(hold=hold)
    assert answer.status is HResult.ERROR
    assert "cannot be read" in answer.why
    assert [each.acknowledge for each in two.asked(EndReceive)] == [Acknowledge.NACK]
    del two.script[StartReceive2]
    assert two.bodies == [b"a"]
    assert bodies_of(two.receive()) == [b"a"]
    two.advance(10)
    assert two.is_idle


def spoiled(two: TwoManagers) -> Callable[[Request], Any]:
    """Return the server's response with a packet that is cut off."""

    def play(request: Request) -> Any:
        response = two.truth(request)
        return replace(response, read=replace(response.read, packet=response.read.packet[:60]))

    return play


def test_a_peek_at_a_message_that_cannot_be_rebuilt_fails() -> None:
    two = TwoManagers(b"a")
    two.script[StartReceive2] = spoiled(two)
    assert two.ask(PeekMessage(0, FAR)).status is HResult.ERROR
    assert two.asked(EndReceive) == []


def test_messages_before_a_broken_one_are_delivered() -> None:
    two = TwoManagers(b"a", b"b")
    broken = spoiled(two)
    two.script[StartReceive2] = lambda request: (
        broken(request) if len(two.asked(StartReceive2)) == 2 else None
    )
    assert bodies_of(two.receive(count=2)) == [b"a"]
    assert two.bodies == [b"b"]


@pytest.mark.spec("QP-048")
@pytest.mark.parametrize("parts", [{"read": None}, {"handle": NO_HANDLE}])
def test_a_success_without_a_message_or_a_handle_fails_the_read(parts: dict[str, Any]) -> None:
    two = TwoManagers(b"a")
    client = two.there.client()
    queue = client.open()
    truth = client.call(StartReceive2(client.read(queue)))
    two.script[StartReceive2] = replace(truth, **parts)
    two.script[EndReceive] = Silence.BEFORE
    answer = two.receive()
    assert answer.status is HResult.ERROR
    assert "far" in answer.why


# -- cancel


@pytest.mark.spec("QP-042", "QP-103", "QP-155")
@pytest.mark.mqqp("T23")
def test_an_application_that_leaves_cancels_its_read() -> None:
    two = TwoManagers()
    handle = two.open()
    caller = two.begin_receiving(handle)
    two.leave(caller)
    read = descriptor(two)
    assert two.asked(CancelReceive) == [
        CancelReceive(two.link.remote.queue, two.link.remote.queue_again, read.request)
    ]
    assert (two.link.tasks, two.link.reads) == ({}, {})
    two.send(b"a")
    assert two.bodies == [b"a"]
    assert two.answer_to(caller).status is HResult.OPERATION_CANCELLED


@pytest.mark.spec("QP-041")
@pytest.mark.mqqp("T24")
def test_a_message_that_comes_in_spite_of_the_cancel_goes_back() -> None:
    two = TwoManagers(b"a")
    handle = two.open()
    two.stalled = True
    caller = two.begin_receiving(handle)
    two.leave(caller)
    two.stalled = False
    two.move()
    assert two.answer_to(caller).status is HResult.OPERATION_CANCELLED
    assert [each.acknowledge for each in two.asked(EndReceive)] == [Acknowledge.NACK]
    assert two.bodies == [b"a"]
    assert (two.link.tasks, two.link.reads, two.link.calls) == ({}, {}, set())


def test_a_read_that_does_not_return_after_its_cancel_ends_the_link() -> None:
    two = TwoManagers(b"a")
    two.script[StartReceive2] = Silence.AFTER
    caller = two.begin_receiving(two.open())
    assert two.bodies == []
    two.leave(caller)
    two.advance(60)
    assert two.ended == [1]
    assert two.bodies == [b"a"]
    assert two.is_idle


def test_messages_that_came_go_back_when_the_application_leaves_before_the_last() -> None:
    two = TwoManagers(b"a", b"b")
    handle = two.open()
    two.script[StartReceive2] = lambda _: Silence.BEFORE if len(two.asked(StartReceive2)) == 2 else None
    caller = two.begin(ReceiveMessages(0, handle, count=2, timeout=seconds(5)))
    (task,) = two.link.tasks.values()
    assert (task.phase, len(task.came)) == (TaskPhase.STARTED, 1)
    two.leave(caller)
    assert two.asked(CancelReceive) == []  # this read does not wait
    assert two.bodies == [b"a", b"b"]
    assert task.phase is TaskPhase.ABANDONED


def test_a_message_is_rebuilt_whole() -> None:
    two = TwoManagers()
    sent = Message.of(body=b"x", label="größe", priority=6, application_tag=9, extension=b"e")
    two.there.send("orders", b"x", label="größe", priority=6, application_tag=9, extension=b"e")
    (got,) = two.receive().messages
    for name in ("body", "label", "priority", "application_tag", "extension"):
        assert getattr(got.message, name) == getattr(sent, name)
