"""What clients of MQQP do with our server, in whichever structures: `CONVERSATIONS` lists it all.

Each conversation gets our server and a function that opens a connection of the peer.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from reliquary.protocols.mqqp.nouns import RPC
from tests.peers.mqqp_peer import (
    ACCESS_DENIED,
    ACK,
    BAD_STUB_DATA,
    CANCELLED,
    CONTEXT_MISMATCH,
    FOREVER,
    INVALID_HANDLE,
    INVALID_PARAMETER,
    IO_TIMEOUT,
    LOOKUP_PEEK_CURRENT,
    LOOKUP_PEEK_NEXT,
    LOOKUP_RECEIVE_CURRENT,
    LOOKUP_RECEIVE_PREV,
    NACK,
    NO_HANDLE,
    OK,
    OP_RANGE,
    PEEK_CURRENT,
    PEEK_NEXT,
    QUEUE_NOT_FOUND,
    RECEIVE,
    SHARING_VIOLATION,
    MqqpPeer,
    Refused,
)
from tests.peers.mqqp_site import USER, MqqpSite, body_of, direct, wait_until

Connect = Callable[[], MqqpPeer]
Conversation = Callable[[MqqpSite, Connect], None]
LAST = 0xFFFFFFFFFFFFFFFF


def opened(peer: MqqpPeer, queue: str) -> int:
    """Open a queue on both interfaces, and return its number."""
    status, handle, number = peer.open_remote(direct(queue))
    assert (status, handle != NO_HANDLE) == (OK, True)
    status, session = peer.open(number)
    assert (status, session != NO_HANDLE) == (OK, True)
    return number


def refusal(call: Callable[[], object]) -> int:
    """Make a call that must be answered with a fault; its status."""
    with pytest.raises(Refused) as refused:
        call()
    return refused.value.status


# -- reading


def open_and_close(ours: MqqpSite, connect: Connect) -> None:
    """Both interfaces give handles, which are NULL after they were closed (T10)."""
    peer = connect()
    status, context, number = peer.open_remote(direct(ours.new_queue()))
    assert status == OK
    status, session = peer.open(number)
    assert (status, len({context, session, NO_HANDLE})) == (OK, 3)
    assert peer.close(session) == (OK, NO_HANDLE)
    assert peer.close_remote(context) == NO_HANDLE
    assert peer.start(number, RECEIVE).status == INVALID_PARAMETER


def receive_and_acknowledge(ours: MqqpSite, connect: Connect) -> None:
    """A received message is hidden, and is removed when it is acknowledged (T13, T14)."""
    queue = ours.new_queue(b"first", b"second")
    before = ours.manager.queue(queue).peek()
    assert before is not None
    peer = connect()
    number = opened(peer, queue)
    found = peer.start(number, RECEIVE)
    assert (found.status, body_of(found.packet)) == (OK, b"first")
    assert found.handle != NO_HANDLE
    assert abs(found.arrived - before.arrived.timestamp()) <= 1
    assert found.packet is not None
    assert int.from_bytes(found.packet[8:12], "little") == len(found.packet)  # BaseHeader.PacketSize
    assert ours.bodies(queue) == [b"second"]
    assert peer.end(found.handle, ACK) == (OK, NO_HANDLE)
    assert ours.bodies(queue) == [b"second"]


def receive_and_give_back(ours: MqqpSite, connect: Connect) -> None:
    """A message that is not accepted returns to its place (T25)."""
    queue = ours.new_queue(b"first", b"second")
    peer = connect()
    number = opened(peer, queue)
    found = peer.start2(number, RECEIVE)
    assert (found.status, body_of(found.packet)) == (OK, b"first")
    assert peer.end(found.handle, NACK) == (OK, NO_HANDLE)
    again = peer.start2(number, RECEIVE)
    assert (body_of(again.packet), again.sequential) == (b"first", found.sequential)
    assert peer.end(again.handle, ACK) == (OK, NO_HANDLE)
    assert ours.bodies(queue) == [b"second"]


def peek(ours: MqqpSite, connect: Connect) -> None:
    """A peeked message stays in the queue, and has no handle (T15)."""
    queue = ours.new_queue(b"first")
    peer = connect()
    number = opened(peer, queue)
    for found in (peer.start(number, PEEK_CURRENT), peer.start2(number, PEEK_CURRENT)):
        assert (found.status, found.handle, body_of(found.packet)) == (OK, NO_HANDLE, b"first")
    assert ours.bodies(queue) == [b"first"]


def cursors(ours: MqqpSite, connect: Connect) -> None:
    """A cursor moves from message to message, up to the end (T19 to T21)."""
    queue = ours.new_queue(b"first", b"second", b"third")
    peer = connect()
    number = opened(peer, queue)
    status, cursor = peer.create_cursor(number)
    assert status == OK
    assert peer.start(number, PEEK_NEXT, cursor=cursor).status == 0xC00E001C
    assert body_of(peer.start(number, PEEK_CURRENT, cursor=cursor).packet) == b"first"
    assert body_of(peer.start(number, PEEK_NEXT, cursor=cursor).packet) == b"second"
    found = peer.start2(number, RECEIVE, cursor=cursor)
    assert body_of(found.packet) == b"second"
    assert peer.end(found.handle, ACK)[0] == OK
    assert ours.bodies(queue) == [b"first", b"third"]
    assert peer.close_cursor(number, cursor) == OK
    assert peer.close_cursor(number, cursor) == INVALID_HANDLE
    assert peer.start(number, PEEK_CURRENT, cursor=cursor).status == 0xC000000D


def look_up(ours: MqqpSite, connect: Connect) -> None:
    """Messages are found by their LookupIdentifier (T31)."""
    queue = ours.new_queue(b"first", b"second", b"third")
    ids = {message.body: message.lookup_id for message in ours.manager.queue(queue).browse()}
    peer = connect()
    number = opened(peer, queue)
    found = peer.look_up(number, LOOKUP_PEEK_CURRENT, ids[b"second"])
    assert (found.status, found.handle, body_of(found.packet)) == (OK, NO_HANDLE, b"second")
    assert found.sequential == ids[b"second"] & 0x00FFFFFFFFFFFFFF
    assert body_of(peer.look_up(number, LOOKUP_PEEK_NEXT, 0).packet) == b"first"
    assert body_of(peer.look_up(number, LOOKUP_PEEK_NEXT, ids[b"first"]).packet) == b"second"
    assert peer.look_up(number, LOOKUP_PEEK_CURRENT, 0).status == INVALID_PARAMETER
    for wanted, lookup_id in ((b"third", LAST), (b"second", LAST)):
        last = peer.look_up(number, LOOKUP_RECEIVE_PREV, lookup_id)
        assert (body_of(last.packet), peer.end(last.handle, ACK)[0]) == (wanted, OK)
    first = peer.look_up(number, LOOKUP_RECEIVE_CURRENT, ids[b"first"])
    assert (body_of(first.packet), peer.end(first.handle, ACK)[0]) == (b"first", OK)
    assert ours.bodies(queue) == []


def wait_and_time_out(ours: MqqpSite, connect: Connect) -> None:
    """A read of an empty queue waits no longer than the client wants (T16)."""
    peer = connect()
    number = opened(peer, ours.new_queue())
    for found in (peer.start(number, RECEIVE, timeout=0), peer.start2(number, RECEIVE, timeout=30)):
        assert (found.status, found.handle, found.packet) == (IO_TIMEOUT, NO_HANDLE, None)


def wait_until_it_comes(ours: MqqpSite, connect: Connect) -> None:
    """A read that waits gets the message when it arrives (T17)."""
    queue = ours.new_queue()
    peer = connect()
    number = opened(peer, queue)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(peer.start, number, RECEIVE, FOREVER)
        wait_until(lambda: waiting.done() or pending(ours) > 0)
        ours.manager.queue(queue).send(b"late")
        found = waiting.result()
    assert (found.status, body_of(found.packet)) == (OK, b"late")
    assert peer.end(found.handle, ACK)[0] == OK


def cancel(ours: MqqpSite, connect: Connect) -> None:
    """Another connection cancels a read that waits, and the next message stays in the queue (T23, T24)."""
    queue = ours.new_queue()
    reader, other = connect(), connect()
    number = opened(reader, queue)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(reader.start2, number, RECEIVE, FOREVER, 7)
        wait_until(lambda: waiting.done() or pending(ours) > 0)
        assert other.cancel(number, 8) == 0xC00E0001
        assert other.cancel(number, 7) == OK
        found = waiting.result()
    assert (found.status, found.handle, found.packet) == (CANCELLED, NO_HANDLE, None)
    assert other.cancel(number, 7) == INVALID_HANDLE
    ours.manager.queue(queue).send(b"later")
    assert ours.bodies(queue) == [b"later"]


def purge(ours: MqqpSite, connect: Connect) -> None:
    """A purge deletes available messages now, and locked ones when their reader ends (T30)."""
    queue = ours.new_queue(b"first", b"second", b"third")
    peer = connect()
    number = opened(peer, queue)
    found = peer.start(number, RECEIVE)
    assert peer.purge(number) == OK
    assert ours.bodies(queue) == []
    assert peer.end(found.handle, NACK)[0] == OK
    assert ours.bodies(queue) == []


def hang_up(ours: MqqpSite, connect: Connect) -> None:
    """Messages of a client that disconnects return, unless they were acknowledged (T35)."""
    queue = ours.new_queue(b"first")
    peer = connect()
    assert body_of(peer.start(opened(peer, queue), RECEIVE).packet) == b"first"
    assert ours.bodies(queue) == []
    peer.hang_up()
    wait_until(lambda: ours.bodies(queue) == [b"first"])


def ports_and_version(ours: MqqpSite, connect: Connect) -> None:
    """The endpoint mapper names the ports, and the server its version (T04, T07)."""
    peer = connect()
    assert [peer.port(kind) for kind in range(4)] == [ours.handshake_port, ours.read_port, 0, 0]
    assert [peer.handshake_port(kind) for kind in (0, 1, 2, 9)] == [
        ours.handshake_port,
        ours.read_port,
        0,
        0,
    ]
    major, minor, build = peer.version()
    assert (major, minor) == (6, 1)
    assert build >= 6531


# -- large messages


def large_message(ours: MqqpSite, connect: Connect, size: int) -> None:
    """Show that a message that takes many fragments comes whole."""
    body = (bytes(range(256)) * (size // 256 + 1))[:size]
    queue = ours.new_queue(body)
    peer = connect()
    number = opened(peer, queue)
    found = peer.start2(number, RECEIVE)
    assert found.status == OK
    assert body_of(found.packet) == body
    assert peer.end(found.handle, ACK)[0] == OK
    assert ours.bodies(queue) == []


# -- who reads


def access(ours: MqqpSite, anonymous: Connect, known: Connect, impostor: Connect) -> None:
    """Show that only its one user may read a queue, and that a wrong password is refused."""
    queue = ours.new_queue(b"first", reader=USER)
    assert anonymous().open_remote(direct(queue))[0] == ACCESS_DENIED
    with pytest.raises((Refused, AssertionError)):  # the fault comes with the bind, or with the first call
        impostor().open_remote(direct(queue))
    peer = known()
    number = opened(peer, queue)
    assert anonymous().open(number)[0] == INVALID_PARAMETER  # the number is of another user's queue
    found = peer.start(number, RECEIVE)
    assert (body_of(found.packet), peer.end(found.handle, ACK)[0]) == (b"first", OK)


# -- bad input


def wrong_numbers(ours: MqqpSite, connect: Connect) -> None:
    """Numbers that no queue has are refused (T09, T11, T12, T29)."""
    queue = ours.new_queue(b"first")
    peer = connect()
    assert peer.open(0) == (INVALID_PARAMETER, NO_HANDLE)
    assert peer.open(12345) == (INVALID_PARAMETER, NO_HANDLE)
    assert peer.start(12345, RECEIVE).status == INVALID_PARAMETER
    _, _, number = peer.open_remote(direct(queue))
    assert peer.start(number, RECEIVE).status == INVALID_PARAMETER  # RemoteQMOpenQueue is missing
    assert peer.close_cursor(number, 1) == INVALID_HANDLE
    assert peer.create_cursor(12345)[0] != OK
    assert peer.open_remote(direct("not-there"))[0] == QUEUE_NOT_FOUND
    assert peer.open_remote("HTTP://localhost/msmq/private$/a")[0] != OK
    assert peer.open_remote(direct(queue), access=2)[0] != OK  # for sending
    assert ours.bodies(queue) == [b"first"]


def exclusive_reader(ours: MqqpSite, connect: Connect) -> None:
    """Show that a queue that one reader has opened exclusively is not opened for another one."""
    queue = ours.new_queue(b"first")
    peer, other = connect(), connect()
    status, context, _ = peer.open_remote(direct(queue), share=1)
    assert status == OK
    assert other.open_remote(direct(queue))[0] == SHARING_VIOLATION
    peer.close_remote(context)
    assert other.open_remote(direct(queue))[0] == OK


def wrong_handles(ours: MqqpSite, connect: Connect) -> None:
    """Handles that are NULL, of another kind, of another client or closed are refused (T27, T46)."""
    queue = ours.new_queue(b"first")
    peer, other = connect(), connect()
    _, context, number = peer.open_remote(direct(queue))
    _, session = peer.open(number)
    found = peer.start(number, RECEIVE)
    assert peer.end(NO_HANDLE, ACK)[0] == INVALID_HANDLE
    assert peer.close(NO_HANDLE)[0] == INVALID_HANDLE
    for wrong in (session, context, bytes(4) + b"\x42" * 16):
        assert refusal(lambda wrong=wrong: peer.end(wrong, ACK)) == CONTEXT_MISMATCH  # type: ignore[misc]
    assert refusal(lambda: other.end(found.handle, ACK)) == CONTEXT_MISMATCH
    assert refusal(lambda: other.close(session)) == CONTEXT_MISMATCH
    assert ours.bodies(queue) == []
    assert peer.end(found.handle, ACK)[0] == OK
    assert refusal(lambda: peer.end(found.handle, ACK)) == CONTEXT_MISMATCH


def wrong_stubs(ours: MqqpSite, connect: Connect) -> None:
    """Stubs that are short, long or out of range are refused, and the connection stays open (T06)."""
    queue = ours.new_queue(b"first")
    peer = connect()
    number = opened(peer, queue)
    assert refusal(lambda: peer.raw(11, b"")) == OP_RANGE
    assert refusal(lambda: peer.raw(6, number.to_bytes(4, "little")[:3])) == BAD_STUB_DATA
    assert refusal(lambda: peer.raw(6, number.to_bytes(4, "little") + bytes(8))) == BAD_STUB_DATA
    assert refusal(lambda: peer.raw(7, b"\4\0\0\0")) == BAD_STUB_DATA
    assert refusal(lambda: peer.raw(1, bytes(20) + b"\3\0\0\0")) == BAD_STUB_DATA
    assert refusal(lambda: peer.raw(2, bytes(16) + b"\x11\0\0\0" + bytes(12))) == BAD_STUB_DATA
    assert refusal(lambda: peer.raw(0, bytes(16) + b"\1\0\x42\0" + bytes(28))) == BAD_STUB_DATA
    assert refusal(lambda: peer.raw(0, bytes(16) + b"\1\0\0\0" + bytes(28))) == BAD_STUB_DATA
    assert body_of(peer.start(number, PEEK_CURRENT).packet) == b"first"


def pending(ours: MqqpSite) -> int:
    """Return how many reads wait at our server."""
    return sum(each.pending for each in ours.manager.list_records(RPC))


CONVERSATIONS = [
    open_and_close,
    receive_and_acknowledge,
    receive_and_give_back,
    peek,
    cursors,
    look_up,
    wait_and_time_out,
    wait_until_it_comes,
    cancel,
    purge,
    hang_up,
    ports_and_version,
    exclusive_reader,
    wrong_numbers,
    wrong_handles,
    wrong_stubs,
]
