"""Reads of queues that another manager has go to the reader that claims the name, or are refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, seconds
from reliquary.base.turn import Event, Reply, Signal, Turn
from reliquary.engine.protocols import assemble
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access, Opened
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.security.anonymous import AnonymousAct
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal, user_sid
from reliquary.queueing.model.travel.carriers import RemoteReader
from reliquary.queueing.travel.remote import ASPECTS, ReadElsewhere, ReaderGone, RemoteReadsEnded
from tests.queueing.manager_harness import Bench

FAR, NEAR = r"DIRECT=OS:far\private$\orders", r"DIRECT=OS:near\private$\orders"
REQUESTS: dict[str, Any] = {
    "open": events.OpenQueue(0, FAR, Access.RECEIVE),
    "receive": events.ReceiveMessages(0, FAR),
    "peek": events.PeekMessage(0, FAR),
    "look up": events.LookUpMessage(0, FAR, 1),
    "browse": events.BrowseMessages(0, FAR, 0),
    "purge": events.PurgeQueue(0, FAR),
    "cancel": events.CancelRead(0, FAR, 5),
}


class Broken(Event, frozen=True):
    """The reader's connection to the manager broke."""

    numbers: tuple[int, ...]


class RecordingReader:
    """A reader of all queues on `far`: it answers at once, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Signal] = []

    def handle(self, event: Event, now: Instant) -> Turn:
        del now
        assert isinstance(event, Broken)
        return Turn(signals=(RemoteReadsEnded(event.numbers),))

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        del now
        self.asked.append(signal)
        if isinstance(signal, ReaderGone):
            return Turn()
        assert isinstance(signal, ReadElsewhere)
        to = getattr(signal.request, "to", 0)
        return Turn(effects=(Reply(to, Opened(HResult.OK, handle=signal.number)),))

    def settle(self) -> None: ...


class Reading(Bench):
    """A manager with a reader beside it."""

    recording_reader: RecordingReader
    own_addresses = False

    def _build(self) -> None:
        super()._build()
        self.recording_reader = RecordingReader()
        reader = RemoteReader(
            name="reader",
            claims=lambda name: name.host in ("far", ".", "bench", "localhost"),
            own_addresses=self.own_addresses,
        )
        protocol = Protocol(
            name="reader",
            machine=lambda _: self.recording_reader,
            signals=(ReadElsewhere, ReaderGone),
            takes=(Broken,),
            reader=reader,
        )
        self.core, self.manager, _ = assemble(self.disk, self.rows, self.chance, (protocol,))

    def run(self, event: Event) -> Turn:
        return self.core.turn(event, self.now)

    @property
    def requests(self) -> list[Any]:
        return [each.request for each in self.recording_reader.asked if isinstance(each, ReadElsewhere)]


@pytest.mark.parametrize("case", REQUESTS)
def test_a_read_of_another_managers_queue_goes_to_its_reader(case: str) -> None:
    bench = Reading()
    assert bench.ask(REQUESTS[case]).status is HResult.OK
    (asked,) = bench.requests
    assert type(asked) is type(REQUESTS[case])
    assert not bench.state.names.outgoing


@pytest.mark.parametrize("case", REQUESTS)
def test_anonymous_clients_read_nothing_elsewhere_where_there_are_users(case: str) -> None:
    bench = Reading()
    bench.state.access.anonymous_may = AnonymousAct(0)
    request = msgspec.structs.replace(REQUESTS[case], by=ANONYMOUS)
    answer = bench.ask(request)
    assert answer.status is HResult.ACCESS_DENIED
    assert "may not read queues of other computers" in answer.why
    assert not bench.requests
    assert not bench.state.open.remote
    bench.state.access.anonymous_may = AnonymousAct.READ_ELSEWHERE
    assert bench.ask(request).status is HResult.OK


@pytest.mark.parametrize("case", REQUESTS)
def test_without_a_reader_of_that_name_the_refusal_is_the_managers(case: str) -> None:
    request = REQUESTS[case]
    field = "path" if hasattr(request, "path") else "queue"
    elsewhere = msgspec.structs.replace(request, **{field: NEAR})
    expected = Bench().ask(elsewhere)
    bench = Reading()
    assert bench.ask(elsewhere) == expected
    assert expected.status is not HResult.OK
    assert bench.requests == []


@pytest.mark.parametrize(
    "name", ["orders", r"DIRECT=OS:.\private$\orders", r"DIRECT=OS:bench\private$\orders"]
)
def test_a_local_queue_is_read_here(name: str) -> None:
    bench = Reading()
    bench.send("orders", b"m")
    assert [each.message.body for each in bench.receive(name).messages] == [b"m"]
    assert bench.requests == []


class ReadingEverything(Reading):
    """A manager whose reader also reads at addresses of this computer."""

    own_addresses = True


@pytest.mark.parametrize("host", [".", "bench", "localhost"])
def test_a_reader_may_have_the_addresses_of_this_computer_too(host: str) -> None:
    bench = ReadingEverything()
    bench.send("orders", b"m")
    name = rf"DIRECT=OS:{host}\private$\orders"
    assert bench.ask(events.PeekMessage(0, name)).status is HResult.OK
    assert [each.queue for each in bench.requests] == [name]
    assert [each.message.body for each in bench.receive("orders").messages] == [b"m"]


def test_sends_and_looks_into_outgoing_queues_are_the_managers() -> None:
    bench = Reading()
    assert bench.send(FAR, b"m").status is HResult.OK
    assert bench.ask(events.OpenQueue(0, FAR, Access.SEND)).status is HResult.OK
    assert bench.ask(events.OpenQueue(0, FAR, Access.PEEK_ADMIN)).status is HResult.OK
    assert bench.requests == []


def test_a_handle_its_cursors_and_receipts_lead_to_the_reader_until_they_are_closed() -> None:
    bench = Reading()
    handle = bench.ask(events.OpenQueue(0, FAR, Access.RECEIVE)).handle
    cursor = bench.ask(events.OpenCursor(0, handle)).handle
    receipt = bench.ask(events.ReceiveMessages(0, handle, hold=seconds(5))).handle
    assert len({0, handle, cursor, receipt}) == 4
    assert bench.ask(events.PeekMessage(0, handle, cursor=cursor)).status is HResult.OK
    assert bench.ask(events.EndRead(0, receipt, delete=True)).status is HResult.OK
    assert bench.ask(events.CloseCursor(0, cursor)).status is HResult.OK
    assert bench.ask(events.CloseQueue(0, handle)).status is HResult.OK
    assert len(bench.requests) == 7
    assert bench.state.open.remote == {}
    assert bench.ask(events.ReceiveMessages(0, handle)).status is HResult.INVALID_HANDLE
    assert bench.ask(events.CloseCursor(0, cursor)).status is HResult.INVALID_HANDLE
    assert len(bench.requests) == 7


def test_what_a_reader_has_closed_names_nothing_any_more() -> None:
    bench = Reading()
    handle = bench.ask(events.OpenQueue(0, FAR, Access.RECEIVE)).handle
    bench.handle(Broken((handle, 999)))
    assert bench.ask(events.ReceiveMessages(0, handle)).status is HResult.INVALID_HANDLE


def test_another_users_handle_is_refused() -> None:
    bench = Reading()
    anna, boris = (Principal(user_sid(bench.state.identity().identifier, name)) for name in ("anna", "boris"))
    handle = bench.ask(events.OpenQueue(0, FAR, Access.RECEIVE, by=anna)).handle
    refused = bench.ask(events.ReceiveMessages(0, handle, by=boris))
    assert (refused.status, "another user's" in refused.why) == (HResult.ACCESS_DENIED, True)
    assert bench.ask(events.ReceiveMessages(0, handle, by=anna)).status is HResult.OK


def test_a_reader_is_notified_that_no_caller_waits_for_an_answer() -> None:
    bench = Reading()
    bench.handle(events.CallerGone(7))
    assert bench.recording_reader.asked == [ReaderGone("reader", 7)]


def test_a_process_that_starts_anew_knows_no_handle_of_the_last_one() -> None:
    bench = Reading()
    handle = bench.ask(events.OpenQueue(0, FAR, Access.RECEIVE)).handle
    bench.restart()
    assert bench.ask(events.CloseQueue(0, handle)).status is HResult.INVALID_HANDLE


def test_every_request_that_names_a_queue_to_read_has_its_aspect() -> None:
    sends = {events.SendMessages, events.MoveMessage}
    reads = {
        each
        for each in vars(events).values()
        if isinstance(each, type)
        and issubclass(each, events.Request)
        and {"queue", "handle", "cursor", "receipt"} & set(each.__struct_fields__)
    }
    assert reads - sends <= set(ASPECTS)
    assert set(ASPECTS) - reads == {events.OpenQueue, events.PurgeQueue}
