"""Tests the relay of the story: it passes bytes on, and a cut resets and refuses."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from random import Random

import pytest

from tests.ports import free_ports
from tools.story.relay import Relay
from tools.story.waiting import StoryFault

HOST = "127.0.0.1"


@pytest.fixture
def target() -> Iterator[socket.socket]:
    """Return a listener that the relay connects to."""
    with socket.create_server((HOST, 0)) as listener:
        listener.settimeout(30)
        yield listener


@pytest.fixture
def relay(target: socket.socket) -> Iterator[tuple[Relay, int]]:
    """Return a relay to the target, and its port."""
    [port] = free_ports(1)
    with Relay({(HOST, port): target.getsockname()}) as found:
        yield found, port


def connect(port: int, target: socket.socket) -> tuple[socket.socket, socket.socket]:
    """Return both ends of a connection through the relay."""
    near = socket.create_connection((HOST, port), timeout=30)
    far, _ = target.accept()
    far.settimeout(30)
    return near, far


def read(end: socket.socket, count: int) -> bytes:
    """Return this number of bytes, fewer if the other end closes before."""
    found = bytearray()
    while len(found) < count and (data := end.recv(1 << 16)):
        found += data
    return bytes(found)


def send_and_end(end: socket.socket, data: bytes) -> None:
    """Send all bytes, and say that no more will come."""
    end.sendall(data)
    end.shutdown(socket.SHUT_WR)


def test_bytes_pass_in_both_directions_whole_and_a_closed_half_is_passed_on(
    relay: tuple[Relay, int], target: socket.socket
) -> None:
    near, far = connect(relay[1], target)
    question, answer = Random(1).randbytes(3_000_000), Random(2).randbytes(3_000_000)
    with near, far:
        for source, sink, data in ((near, far, question), (far, near, answer)):
            sending = threading.Thread(target=send_and_end, args=(source, data))
            sending.start()
            assert read(sink, len(data) + 1) == data
            sending.join()


def test_a_cut_resets_every_connection_and_refuses_new_ones_until_it_is_restored(
    relay: tuple[Relay, int], target: socket.socket
) -> None:
    link, port = relay
    pairs = [connect(port, target) for _ in range(3)]
    for near, far in pairs:
        near.sendall(b"before")
        assert read(far, 6) == b"before"
    link.cut()
    assert (link.is_cut, link.broken) == (True, 3)
    for near, far in pairs:
        with near, far:
            with pytest.raises(ConnectionResetError):
                near.recv(1)
            with pytest.raises(ConnectionResetError):
                far.recv(1)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, port))
    link.restore()
    near, far = connect(port, target)
    with near, far:
        near.sendall(b"after")
        assert read(far, 5) == b"after"


def test_a_link_that_drops_all_to_one_target_loses_its_requests_and_the_answers_of_the_others() -> None:
    to_north, to_south = free_ports(2)
    with socket.create_server((HOST, 0)) as north, socket.create_server((HOST, 0)) as south:
        routes = {(HOST, to_north): north.getsockname(), (HOST, to_south): south.getsockname()}
        with Relay(routes) as link:
            asking, answering = connect(to_south, south)  # the north asks the south
            calling, called = connect(to_north, north)  # the south calls the north
            with asking, answering, calling, called:
                for source, sink in ((asking, answering), (calling, called)):
                    source.sendall(b"begin")
                    assert read(sink, 5) == b"begin"
                link.drop_all_to(north.getsockname())
                calling.sendall(b"receipt")
                answering.sendall(b"answer")
                asking.sendall(b"question")
                assert read(answering, 8) == b"question"
                link.cut()
                for end in (asking, called):  # nothing came before the end
                    with pytest.raises(ConnectionResetError):
                        end.recv(1)
            link.restore()
            asking, answering = connect(to_south, south)
            with asking, answering:
                answering.sendall(b"answer")
                assert read(asking, 6) == b"answer"


def test_an_address_that_is_in_use_stops_the_story_with_a_sentence(target: socket.socket) -> None:
    address = target.getsockname()
    with (
        pytest.raises(StoryFault, match=r"the link between the managers cannot listen: .*in use"),
        Relay({address: address}),
    ):
        pass


def test_a_target_that_does_not_listen_ends_the_connection_and_not_the_relay(
    relay: tuple[Relay, int], target: socket.socket
) -> None:
    link, port = relay
    where = target.getsockname()
    target.close()
    with socket.create_connection((HOST, port), timeout=30) as near, suppress(ConnectionError):
        assert near.recv(1) == b""
    assert not link.is_cut
    with socket.create_server(where) as again:
        near, far = connect(port, again)
        with near, far:
            near.sendall(b"x")
            assert read(far, 1) == b"x"


def test_a_cut_while_connections_still_end_does_nothing(
    relay: tuple[Relay, int], target: socket.socket
) -> None:
    link, port = relay
    pairs = [connect(port, target) for _ in range(20)]
    for _ in range(20):
        link.cut()
    assert (link.is_cut, link.broken) == (True, 20)
    for near, far in pairs:
        near.close()
        far.close()
