"""Tests one connection that we opened: bytes in any pieces, calls and their answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reliquary.net.rpc.outgoing import CallingConnection, Traffic
from reliquary.protocols.rpc.associations import Associations
from reliquary.protocols.rpc.client import ClientConnection
from reliquary.protocols.rpc.events import Called, Faulted, Opened, Returned
from reliquary.protocols.rpc.limits import Limits
from reliquary.protocols.rpc.security import SecurityRefused
from reliquary.protocols.rpc.server import ServerConnection
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.syntaxes import QM2QM
from tests.net.http.harness import RecordingTransport
from tests.net.rpc.dial_harness import no_user


class Both:
    """A connection of ours, and the server at its other end; bytes go over in pieces of these sizes."""

    def __init__(self, sizes: tuple[int, ...] = (1_000_000,)) -> None:
        self.heard: list[object] = []
        self.lost: list[str] = []
        self.called: list[Called] = []
        self.traffic = Traffic()
        self.transport = RecordingTransport()
        self.server = ServerConnection((QM2QM,), Associations(), Limits(), no_user, "2105")
        self.ours = CallingConnection(
            ClientConnection(QM2QM),
            lambda _, event: self.heard.append(event),
            lambda _, why: self.lost.append(why),
            self.traffic,
        )
        self._sizes = sizes
        self._at = 0
        self.ours.connection_made(self.transport)
        self.exchange()

    def exchange(self) -> None:
        """Carry bytes until neither side has more to say."""
        while data := b"".join(self.transport.writes):
            self.transport.writes.clear()
            self.called += [each for each in self.server.receive(data) if isinstance(each, Called)]
            answer = b"".join(self.server.output())
            while answer and self.ours.usable:
                size = self._sizes[self._at % len(self._sizes)]
                self._at += 1
                self.ours.data_received(answer[:size])
                answer = answer[size:]

    def answer(self) -> None:
        """Let what the server wrote arrive."""
        data = b"".join(self.server.output())
        for at in range(0, len(data), self._sizes[0]):
            self.ours.data_received(data[at : at + self._sizes[0]])


def test_the_bind_is_sent_at_once_and_calls_after_it() -> None:
    both = Both()
    assert isinstance(both.heard[0], Opened)
    assert both.ours.opened == both.heard[0]
    assert both.ours.bound.is_set()
    both.ours.call(33, 7, [b"as", b"k"])
    both.exchange()
    assert list(both.ours.calls.values()) == [33]
    assert [(each.opnum, each.stub) for each in both.called] == [(7, b"ask")]


def test_bytes_are_counted() -> None:
    both = Both()
    before = (both.traffic.sent, both.traffic.received)
    assert min(before) > 0
    both.ours.call(1, 7, [b"ask"])
    assert both.traffic.sent - before[0] == sum(map(len, both.transport.writes))


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=8).map(tuple), st.integers(0, 20_000))
def test_answers_arrive_whole_however_they_are_cut(sizes: tuple[int, ...], length: int) -> None:
    both = Both(sizes)
    stub = bytes(at % 251 for at in range(length))
    for number, respond in ((7, True), (3, False)):
        both.ours.call(number, 7, [b"ask"])
        both.exchange()
        if respond:
            both.server.respond(both.called[-1].call, [stub])
        else:
            both.server.fault(both.called[-1].call, 5)
        both.answer()
    _, returned, faulted = both.heard
    assert isinstance(returned, Returned)
    assert (returned.call, bytes(returned.stub)) == (7, stub)
    assert faulted == Faulted(3, 5)
    assert not both.ours.calls
    assert not both.lost


def test_a_connection_that_the_server_closes_is_reported_once() -> None:
    both = Both()
    both.ours.connection_lost(ConnectionResetError("reset"))
    both.ours.connection_lost(None)
    assert both.lost == ["reset"]
    assert not both.ours.usable


def test_bytes_that_are_no_pdu_close_the_connection() -> None:
    both = Both()
    both.ours.data_received(b"\xff" * 16)
    assert len(both.lost) == 1
    assert both.transport.is_closing()
    both.ours.data_received(b"\xff" * 16)
    assert len(both.lost) == 1


def test_a_caller_may_close_it_while_answers_are_taken() -> None:
    both = Both()
    heard: list[object] = []
    rpc = ClientConnection(QM2QM)

    def close(connection: CallingConnection, event: object) -> None:
        heard.append(event)
        if isinstance(event, Returned):
            connection.close()

    both.ours = CallingConnection(rpc, close, lambda _, why: both.lost.append(why), both.traffic)
    both.server = ServerConnection((QM2QM,), Associations(), Limits(), no_user, "2105")
    both.ours.connection_made(both.transport)
    both.exchange()
    for number in (1, 2):
        both.ours.call(number, 7, [b"ask"])
    both.exchange()
    for called in both.called:
        both.server.respond(called.call, [b"done"])
    both.answer()
    assert [type(each) for each in heard] == [Opened, Returned]
    assert both.lost == []


def test_after_the_close_nothing_is_reported() -> None:
    both = Both()
    both.ours.call(1, 7, [b"ask"])
    both.exchange()
    both.ours.close()
    both.server.respond(both.called[0].call, [b"late"])
    both.answer()
    both.ours.connection_lost(None)
    assert len(both.heard) == 1
    assert both.lost == []


class NoLogin:
    """A security context that cannot even begin."""

    complete = False
    user = ""
    signature_size = 16

    def protects(self, level: Protection) -> bool:
        raise AssertionError

    def step(self, token: bytes) -> bytes:
        raise SecurityRefused("an unknown user")

    def sign(self, message: bytes) -> bytes:
        raise AssertionError

    def verify(self, message: bytes, signature: bytes) -> None:
        raise AssertionError

    def seal(self, before: bytes, data: bytes, after: bytes) -> tuple[bytes, bytes]:
        raise AssertionError

    def unseal(self, before: bytes, data: bytes, after: bytes, signature: bytes) -> bytes:
        raise AssertionError


def test_an_authentication_that_cannot_begin_is_a_lost_connection() -> None:
    lost: list[str] = []
    rpc = ClientConnection(QM2QM, security=NoLogin(), auth_type=10, protection=Protection.CONNECT)
    transport = RecordingTransport()
    connection = CallingConnection(rpc, lambda *_: None, lambda _, why: lost.append(why), Traffic())
    connection.connection_made(transport)
    assert lost == ["no authentication can be begun: an unknown user"]
    assert transport.closed
    assert not transport.writes
