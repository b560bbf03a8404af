"""Requests of protocols are answered by signals inside the turn."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, seconds
from reliquary.base.turn import Event, Reply, Signal, Turn
from reliquary.engine.protocols import assemble
from reliquary.queueing.model import events
from reliquary.queueing.model.events import FOREVER_WAIT, Access, Answer, Opened, Purged, Received
from reliquary.queueing.model.history.notes import Initiator
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.security.principals import MANAGER, Principal, user_sid
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.travel.asking import RequestAnswered, RequestMade
from reliquary.queueing.model.travel.carriers import RemoteReader
from reliquary.queueing.travel.remote import ReadElsewhere, ReaderGone
from tests.queueing.history.chronicle import events_of, words
from tests.queueing.manager_harness import Bench

NAME = "asking_protocol"
PEER = "10.0.0.9"
FAR = r"DIRECT=OS:far\private$\orders"


class Asked(Event, frozen=True):
    """A client of the protocol wants something."""

    requests: tuple[Event, ...]


class AskingProtocol:
    """A protocol that asks the manager for its clients, and notes the answers that it receives."""

    def __init__(self) -> None:
        self.answers: dict[int, Answer] = {}
        self.handed_on: list[Signal] = []

    def handle(self, event: Event, now: Instant) -> Turn:
        del now
        assert isinstance(event, Asked)
        return Turn(signals=tuple(RequestMade(NAME, request, PEER) for request in event.requests))

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        del now
        if isinstance(signal, RequestAnswered):
            assert signal.caller not in self.answers, f"{signal.caller} was answered twice"
            self.answers[signal.caller] = signal.answer
        else:
            self.handed_on.append(signal)
        return Turn()

    def settle(self) -> None: ...


class Asking(Bench):
    """A manager with this protocol beside it, which also reads the queues of `far`."""

    asking_protocol: AskingProtocol

    def _build(self) -> None:
        super()._build()
        self.asking_protocol = AskingProtocol()
        self.last_number = 0
        protocol = Protocol(
            name=NAME,
            machine=lambda _: self.asking_protocol,
            signals=(RequestAnswered, ReadElsewhere, ReaderGone),
            takes=(Asked,),
            reader=RemoteReader(name=NAME, claims=lambda name: name.host == "far"),
        )
        self.core, self.manager, _ = assemble(
            self.disk, self.rows, self.chance, (protocol,), sizes=self.sizes, history=self.history
        )

    def run(self, event: Event) -> Turn:
        return self.core.turn(event, self.now)

    def begin_request(self, request: Any) -> int:
        """Ask as the protocol; return the number of its caller."""
        self.last_number -= 1
        self.handle(Asked((msgspec.structs.replace(request, to=self.last_number),)))
        return self.last_number

    def request(self, request: Any) -> Any:
        """Let the protocol ask; return the answers within the turn."""
        return self.asking_protocol.answers[self.begin_request(request)]

    def replies(self) -> list[Reply]:
        return [effect for turn in self.turns for effect in turn.effects if isinstance(effect, Reply)]


def user(name: str) -> Principal:
    return Principal(user_sid(Bench().state.identity().identifier, name), name=name)


# -- answers


def test_a_request_is_answered_by_a_signal_in_that_turn() -> None:
    bench = Asking()
    bench.send("orders", b"m")
    before = len(bench.replies())
    opened = bench.request(events.OpenQueue(0, "orders", Access.RECEIVE))
    assert isinstance(opened, Opened)
    received = bench.request(events.ReceiveMessages(0, opened.handle, hold=FOREVER_WAIT))
    assert isinstance(received, Received)
    assert [each.message.body for each in received.messages] == [b"m"]
    assert bench.request(events.EndRead(0, received.receipt, delete=True)).status is HResult.OK
    assert bench.request(events.CloseQueue(0, opened.handle)).status is HResult.OK
    assert len(bench.replies()) == before
    assert not bench.state.open.askers


def test_what_the_request_changes_is_written_with_the_turn_of_the_protocol() -> None:
    bench = Asking()
    bench.send("orders", b"m")
    turn = bench.run(Asked((events.ReceiveMessages(-1, "orders"),)))
    assert turn.facts
    assert turn.waits
    assert not turn.effects


def test_several_requests_of_a_turn_are_answered_in_their_order() -> None:
    bench = Asking()
    bench.send("orders", b"a", b"b")
    bench.handle(Asked((events.ReceiveMessages(-1, "orders"), events.ReceiveMessages(-2, "orders"))))
    answers = bench.asking_protocol.answers
    assert list(answers) == [-1, -2]
    found = [answer.messages[0].message.body for answer in answers.values() if isinstance(answer, Received)]
    assert found == [b"a", b"b"]


def test_a_read_that_waits_is_answered_in_the_turn_that_brings_the_message() -> None:
    bench = Asking()
    waits = bench.begin_request(events.ReceiveMessages(0, "orders", timeout=FOREVER_WAIT))
    assert waits not in bench.asking_protocol.answers
    assert bench.state.open.askers == {waits: Initiator(NAME, PEER)}
    bench.send("orders", b"m")
    assert isinstance(bench.asking_protocol.answers[waits], Received)
    assert not bench.state.open.askers


def test_a_read_that_waits_is_answered_when_its_time_is_over() -> None:
    bench = Asking()
    waits = bench.begin_request(events.PeekMessage(0, "orders", timeout=seconds(5)))
    bench.advance(4.9)
    assert waits not in bench.asking_protocol.answers
    bench.advance(0.2)
    assert bench.asking_protocol.answers[waits].status is HResult.IO_TIMEOUT


@pytest.mark.parametrize(
    "read",
    [
        events.ReceiveMessages(0, "orders", timeout=FOREVER_WAIT),
        events.PeekMessage(0, "orders", timeout=FOREVER_WAIT),
    ],
    ids=lambda read: type(read).__name__,
)
def test_a_read_that_waits_is_ended_by_the_number_of_its_caller(read: Any) -> None:
    bench = Asking()
    waits = bench.begin_request(read)
    bench.handle(Asked((events.CallerGone(waits),)))
    assert bench.asking_protocol.answers[waits].status is HResult.OPERATION_CANCELLED
    bench.send("orders", b"m")
    assert bench.bodies() == [b"m"]
    bench.handle(Asked((events.CallerGone(waits), events.CallerGone(-77))))  # no caller waits there any more
    assert not bench.state.open.askers


def test_a_purge_that_takes_several_turns_is_answered_with_the_last() -> None:
    bench = Asking(sizes=Sizes(at_once=2))
    bench.send("orders", *[b"m"] * 5)
    bench.patient = True
    purge = bench.begin_request(events.PurgeQueue(0, "orders"))
    bench.go_on(1)
    assert purge not in bench.asking_protocol.answers
    bench.go_on()
    answer = bench.asking_protocol.answers[purge]
    assert isinstance(answer, Purged)
    assert answer.count == 5


def test_applications_and_protocols_get_separate_answers() -> None:
    bench = Asking()
    waits = bench.begin_request(events.ReceiveMessages(0, "orders", timeout=FOREVER_WAIT))
    application = bench.begin_asking(events.ReceiveMessages(0, "orders", timeout=FOREVER_WAIT))
    bench.send("orders", b"a", b"b")
    assert waits in bench.asking_protocol.answers
    assert bench.answer_to(application).messages[0].message.body == b"b"
    assert list(bench.asking_protocol.answers) == [waits]


# -- refusals


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        pytest.param(events.OpenQueue(0, "none", Access.RECEIVE), HResult.QUEUE_NOT_FOUND, id="no queue"),
        pytest.param(events.ReceiveMessages(0, 77), HResult.INVALID_HANDLE, id="no handle"),
        pytest.param(events.ReceiveMessages(0, "orders"), HResult.IO_TIMEOUT, id="no message"),
        pytest.param(
            events.ReceiveMessages(0, "orders", count=0), HResult.INVALID_PARAMETER, id="a usage error"
        ),
        pytest.param(
            events.PeekMessage(0, "orders", cursor=5), HResult.INVALID_PARAMETER, id="an unknown cursor"
        ),
        pytest.param(
            events.OpenQueue(0, "DIRECT=", Access.RECEIVE), HResult.ILLEGAL_FORMATNAME, id="no name"
        ),
    ],
)
def test_a_refusal_is_an_answer_too(request_: Any, status: HResult) -> None:
    bench = Asking()
    answer = bench.request(request_)
    assert answer.status is status
    assert answer.why
    assert not bench.state.open.askers


def test_a_manager_that_is_not_ready_says_so() -> None:
    bench = Asking()
    waits = bench.begin_request(events.ReceiveMessages(0, "orders", timeout=FOREVER_WAIT))
    bench.stop()
    assert bench.asking_protocol.answers[waits].status is HResult.OPERATION_CANCELLED
    assert bench.request(events.ReceiveMessages(0, "orders")).status is HResult.SERVICE_NOT_AVAILABLE
    bench.handle(Asked((events.CallerGone(waits),)))
    assert not bench.state.open.askers


def test_the_access_list_holds_for_the_client_of_a_protocol() -> None:
    bench = Asking()
    ann, bob = user("ann"), user("bob")
    handle = bench.request(events.OpenQueue(0, "orders", Access.RECEIVE, by=ann)).handle
    assert bench.request(events.ReceiveMessages(0, handle, by=bob)).status is HResult.ACCESS_DENIED
    assert bench.request(events.ReceiveMessages(0, handle, by=ann)).status is HResult.IO_TIMEOUT
    assert bench.request(events.CloseQueue(0, handle, by=MANAGER)).status is HResult.OK


@pytest.mark.parametrize(
    "request_",
    [
        events.OpenQueue(0, FAR, Access.RECEIVE),
        events.ReceiveMessages(0, FAR),
        events.PeekMessage(0, FAR),
        events.PurgeQueue(0, FAR),
    ],
    ids=lambda request: type(request).__name__,
)
def test_names_of_other_managers_are_not_handed_on(request_: Any) -> None:
    bench = Asking()
    assert bench.request(request_).status is HResult.QUEUE_NOT_FOUND
    assert not bench.asking_protocol.handed_on
    bench.begin_asking(request_)
    assert len(bench.asking_protocol.handed_on) == 1  # what an application asks is


# -- numbers


def test_callers_of_protocols_have_negative_numbers() -> None:
    with pytest.raises(AssertionError, match="negative"):
        Asking().handle(Asked((events.ReceiveMessages(5, "orders"),)))


def test_a_caller_asks_for_one_thing_at_a_time() -> None:
    bench = Asking()
    waits = events.ReceiveMessages(-1, "orders", timeout=FOREVER_WAIT)
    with pytest.raises(AssertionError, match="asks twice"):
        bench.handle(Asked((waits, waits)))


# -- history


def test_the_history_shows_the_protocol_and_its_peer() -> None:
    bench = Asking(history=True)
    bench.send("orders", b"a", b"b", b"c")
    bench.request(events.ReceiveMessages(0, "orders"))
    receipt = bench.request(events.ReceiveMessages(0, "orders", hold=FOREVER_WAIT)).receipt
    bench.request(events.EndRead(0, receipt, delete=True))
    bench.receive("orders")
    bench.flush()
    assert words(events_of(bench.disk)[-5:], "protocol", "peer") == [
        ("accepted", "api", None),
        ("received", NAME, PEER),
        ("handed-out", NAME, PEER),
        ("received", NAME, PEER),
        ("received", "api", None),
    ]


def test_the_history_shows_the_protocol_of_a_read_that_waited() -> None:
    bench = Asking(history=True)
    bench.begin_request(events.ReceiveMessages(0, "orders", timeout=FOREVER_WAIT))
    bench.begin_asking(events.ReceiveMessages(0, "orders", timeout=FOREVER_WAIT))
    bench.send("orders", b"a", b"b")
    bench.flush()
    left = [event for event in events_of(bench.disk) if event["event"] == "received"]
    assert words(left, "protocol", "peer") == [("received", NAME, PEER), ("received", "api", None)]
