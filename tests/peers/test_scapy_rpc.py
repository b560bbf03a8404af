"""scapy-rpc reads from our server over MQQP, and our client from its server: NDR 2.0 and NDR64, NTLM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
import pytest

import reliquary
from reliquary.protocols.mqqp.codec.qm2qm import ReadDescriptor, StartReceive, StartReceive2
from reliquary.protocols.mqqp.codec.qmcomm import CreateRemoteCursor
from reliquary.protocols.mqqp.codec.stubs import decode_request
from reliquary.queueing.packets.messages import construct
from reliquary.wire.ndr.encoding import NDR20, NDR64
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM
from tests.peers.mqqp_conversations import (
    CONVERSATIONS,
    Conversation,
    access,
    large_message,
    opened,
    receive_and_acknowledge,
    wrong_stubs,
)
from tests.peers.mqqp_peer import PROTOCOL_ERROR, RECEIVE, UNKNOWN_INTERFACE, connecting
from tests.peers.mqqp_site import LARGEST, PASSWORD, USER, MqqpSite, body_of
from tests.peers.scapy_manager import FarQueue, ScapyManager
from tests.peers.scapy_peer import ScapyPeer, stubs
from tests.queueing.full_messages import FULL

Connect = Callable[..., ScapyPeer]
CONNECT, INTEGRITY, PRIVACY = 2, 5, 6
WIDTHS = pytest.mark.parametrize("ndr64", [False, True], ids=["NDR20", "NDR64"])
SECURED = [
    ("ntlm", CONNECT),
    ("ntlm", INTEGRITY),
    ("ntlm", PRIVACY),
    ("spnego", INTEGRITY),
    ("spnego", PRIVACY),
]
"""Not SPNEGO without signatures: scapy then sends a checksum of the mechanisms that cannot be verified."""
SHORT = (
    (receive_and_acknowledge, True, "ntlm", INTEGRITY),
    (receive_and_acknowledge, False, "ntlm", PRIVACY),
    (receive_and_acknowledge, True, "spnego", PRIVACY),
    (wrong_stubs, False, "spnego", INTEGRITY),
)
"""What is tried with security in the short tier: conversation, NDR64, mechanism, level."""


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MqqpSite]:
    with MqqpSite(tmp_path_factory.mktemp("scapy") / "store") as site:
        yield site


@pytest.fixture
def connect(ours: MqqpSite) -> Iterator[Connect]:
    """Opens connections, which are closed behind the test."""
    with connecting(partial(ScapyPeer, ours)) as connect:
        yield connect


# -- its structures, read by our codec


@WIDTHS
def test_stubs_of_scapy_rpc_are_read(ndr64: bool) -> None:
    encoding = NDR64 if ndr64 else NDR20
    wanted = ReadDescriptor(queue=9, queue_again=9, action=0x80000001, timeout=5, request=7, cursor=3)
    found = stubs(ndr64=ndr64)
    assert decode_request(QM2QM, 0, found["start"], encoding) == StartReceive(wanted)
    assert decode_request(QM2QM, 9, found["start2"], encoding) == StartReceive2(wanted)
    assert decode_request(QMCOMM, 4, found["cursor"], encoding) == CreateRemoteCursor(9)
    assert len(found["cursor"]) == (452 if ndr64 else 232)


# -- conversations


@pytest.mark.spec("QP-001", "QP-002", "QP-007", "QP-008", "QP-013")
@pytest.mark.mqqp("T01", "T03", "T04", "T06", "T07", "T09", "T10", "T11", "T12", "T13", "T14", "T15", "T16")
@pytest.mark.mqqp("T17", "T19", "T20", "T21", "T23", "T24", "T25", "T27", "T29", "T30", "T31", "T35", "T46")
@WIDTHS
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda each: each.__name__)
def test_scapy_reads_our_queues_in_each_conversation(
    conversation: Conversation, ndr64: bool, ours: MqqpSite, connect: Connect
) -> None:
    conversation(ours, partial(connect, ndr64=ndr64))


@pytest.mark.parametrize(
    ("conversation", "ndr64", "auth", "level"),
    [
        pytest.param(
            conversation,
            ndr64,
            auth,
            level,
            id=f"{conversation.__name__}-{'NDR64' if ndr64 else 'NDR20'}-{auth}-{level}",
            marks=[] if (conversation, ndr64, auth, level) in SHORT else [pytest.mark.long],
        )
        for conversation in CONVERSATIONS
        for ndr64 in (False, True)
        for auth, level in SECURED
    ],
)
def test_scapy_reads_our_queues_with_security(
    conversation: Conversation, ndr64: bool, auth: str, level: int, ours: MqqpSite, connect: Connect
) -> None:
    conversation(ours, partial(connect, ndr64=ndr64, auth=auth, level=level))


@pytest.mark.spec("QP-006")
def test_the_access_list_knows_the_user_of_ntlm(ours: MqqpSite, connect: Connect) -> None:
    access(ours, connect, partial(connect, level=PRIVACY), partial(connect, level=PRIVACY, password="no"))


@pytest.mark.parametrize(
    ("ndr64", "level"),
    [
        pytest.param(False, 0, id="NDR20-anonymous"),
        pytest.param(True, 0, id="NDR64-anonymous"),
        pytest.param(True, PRIVACY, id="NDR64-privacy"),
        pytest.param(False, INTEGRITY, id="NDR20-integrity", marks=pytest.mark.long),
        pytest.param(False, PRIVACY, id="NDR20-privacy", marks=pytest.mark.long),
        pytest.param(True, INTEGRITY, id="NDR64-integrity", marks=pytest.mark.long),
    ],
)
def test_scapy_receives_a_message_of_four_megabytes(
    ndr64: bool, level: int, ours: MqqpSite, connect: Connect
) -> None:
    large_message(ours, partial(connect, ndr64=ndr64, level=level), LARGEST)


# -- PDUs that break the protocol


def test_a_context_that_was_not_bound_is_refused(ours: MqqpSite, connect: Connect) -> None:
    peer = connect()
    number = opened(peer, ours.new_queue(b"first"))
    assert peer.fault_of(b"", opnum=8, context=99) == UNKNOWN_INTERFACE
    assert body_of(peer.start(number, RECEIVE).packet) == b"first"


@pytest.mark.parametrize("flags", ["", "PFC_LAST_FRAG"], ids=["middle", "last"])
def test_a_fragment_without_its_first_ends_the_connection(
    flags: str, ours: MqqpSite, connect: Connect
) -> None:
    queue = ours.new_queue(b"first")
    peer = connect()
    assert body_of(peer.start(opened(peer, queue), RECEIVE).packet) == b"first"
    assert peer.fault_of(bytes(4), opnum=6, flags=flags) == PROTOCOL_ERROR
    assert connect().version()[0] == 6  # others go on


# -- our client reads from its server


def packet(body: bytes) -> bytes:
    return construct(msgspec.structs.replace(FULL, body=body)).encode()


def far_queue(*bodies: bytes, **fields: Any) -> FarQueue:
    return FarQueue({number: packet(body) for number, body in enumerate(bodies, 5)}, **fields)


def address(far: ScapyManager) -> str:
    return f"mqqp://127.0.0.1:{far.port}/private$/orders"


@WIDTHS
def test_our_client_receives_from_scapy(ndr64: bool) -> None:
    queue = far_queue(b"first", b"x" * 3000)
    with ScapyManager(queue, ndr64=ndr64) as far, reliquary.connect(address(far)) as manager:
        orders = manager.queue()
        found = orders.receive()
        assert found is not None
        assert (found.body, found.label) == (b"first", FULL.label)
        assert found.arrived.timestamp() == 1624612864
        second = orders.receive(timeout=1)
        assert second is not None
        assert second.body == b"x" * 3000
        assert orders.receive() is None
    assert (queue.packets, queue.locked) == ({}, {})
    assert queue.opened == ["TCP:127.0.0.1\\private$\\orders"]
    assert {"RemoteQmGetVersion", "RemoteQMStartReceive2", "RemoteQMEndReceive"} <= set(queue.calls)


@WIDTHS
def test_our_client_peeks_browses_and_purges_at_scapy(ndr64: bool) -> None:
    queue = far_queue(b"first", b"second", b"third")
    with ScapyManager(queue, ndr64=ndr64) as far, reliquary.connect(address(far)) as manager:
        orders = manager.queue()
        peeked = orders.peek()
        assert peeked is not None
        assert peeked.body == b"first"
        assert [message.body for message in orders.browse()] == [b"first", b"second", b"third"]
        with orders.cursor() as cursor:
            seen = [cursor.peek(), cursor.next(), cursor.next()]
            assert [message and message.body for message in seen] == [b"first", b"second", b"third"]
        found = orders.lookup(6, receive=True)
        assert found is not None
        assert (found.body, sorted(queue.packets)) == (b"second", [5, 7])
        orders.purge()
    assert queue.packets == {}


@pytest.mark.spec("QP-149", "QP-150")
@pytest.mark.mqqp("T08")
@pytest.mark.parametrize(
    ("version", "method"),
    [
        (None, "RemoteQMStartReceive"),
        ((5, 0, 2195), "RemoteQMStartReceive"),
        ((5, 1, 950), "RemoteQMStartReceive"),
        ((5, 1, 951), "RemoteQMStartReceive2"),
        ((6, 1, 7601), "RemoteQMStartReceive2"),
    ],
    ids=str,
)
def test_our_client_calls_the_method_that_the_version_has(
    version: tuple[int, int, int] | None, method: str
) -> None:
    queue = far_queue(b"first", version=version)
    with ScapyManager(queue) as far, reliquary.connect(address(far)) as manager:
        found = manager.queue().receive()
        assert found is not None
        assert found.body == b"first"
    assert [name for name in queue.calls if "StartReceive" in name] == [method]


@WIDTHS
def test_our_client_says_who_it_is(ndr64: bool) -> None:
    queue = far_queue(b"first")
    with ScapyManager(queue, ndr64=ndr64, secured=True) as far:
        with reliquary.connect(address(far), user=USER, password=PASSWORD) as manager:
            found = manager.queue().receive()
        assert found is not None
        assert found.body == b"first"
    assert queue.packets == {}
