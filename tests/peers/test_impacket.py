"""impacket reads from our server over MQQP: NDR 2.0 and NDR64, anonymous and with NTLM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from reliquary.protocols.mqqp.codec.qmcomm import CreateRemoteCursor, OpenRemoteQueue
from reliquary.protocols.mqqp.codec.stubs import decode_request
from reliquary.wire.ndr.encoding import NDR20, NDR64
from reliquary.wire.rpc.syntaxes import QMCOMM
from tests.peers.impacket_peer import (
    CLIENT,
    CreateCursor,
    ImpacketPeer,
    OpenRemote,
    fill_format,
    stub_of,
    transfer_buffer,
)
from tests.peers.mqqp_conversations import (
    CONVERSATIONS,
    Conversation,
    access,
    large_message,
    receive_and_acknowledge,
    wrong_stubs,
)
from tests.peers.mqqp_peer import connecting
from tests.peers.mqqp_site import LARGE, LARGEST, MqqpSite

Connect = Callable[..., ImpacketPeer]
CONNECT, INTEGRITY, PRIVACY = 2, 5, 6
WIDTHS = pytest.mark.parametrize("ndr64", [False, True], ids=["NDR20", "NDR64"])
SHORT = (
    (receive_and_acknowledge, False, INTEGRITY),
    (receive_and_acknowledge, True, PRIVACY),
    (wrong_stubs, True, INTEGRITY),
)
"""What is tried with NTLM in the short tier: conversation, NDR64, level."""


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MqqpSite]:
    with MqqpSite(tmp_path_factory.mktemp("impacket") / "store") as site:
        yield site


@pytest.fixture
def connect(ours: MqqpSite) -> Iterator[Connect]:
    """Opens connections, which are closed behind the test."""
    with connecting(partial(ImpacketPeer, ours)) as connect:
        yield connect


# -- its structures, read by our codec

G = "0B162747-99CF-479C-972F-95B776E141C3"
FORMATS = [
    pytest.param(1, "m_gPublicID", CLIENT, 0, f"PUBLIC={G}", id="public"),
    pytest.param(1, "m_gPublicID", CLIENT, 0x81, f"PUBLIC={G};JOURNAL", id="journal"),
    pytest.param(
        2, "m_oPrivateID", {"Lineage": CLIENT, "Uniquifier": 31}, 0, f"PRIVATE={G}\\1F", id="private"
    ),
    pytest.param(3, "m_pDirectID", "OS:a\\private$\\q\0", 0, "DIRECT=OS:a\\private$\\q", id="direct"),
    pytest.param(4, "m_gMachineID", CLIENT, 0x82, f"MACHINE={G};DEADLETTER", id="machine"),
    pytest.param(5, "m_GConnectorID", CLIENT, 4, f"CONNECTOR={G};XACTONLY", id="connector"),
    pytest.param(6, "m_DlID", {"m_DlGuid": CLIENT, "m_pwzDomain": "d.x\0"}, 0, f"DL={G}@d.x", id="list"),
    pytest.param(
        7,
        "m_MulticastID",
        {"m_address": 0x010101E0, "m_port": 8001},
        0,
        "MULTICAST=224.1.1.1:8001",
        id="multicast",
    ),
    pytest.param(8, "m_pDirectSubqueueID", "OS:a\\q;s\0", 5, "DIRECT=OS:a\\q;s", id="subqueue"),
]


@WIDTHS
@pytest.mark.parametrize(("kind", "member", "value", "suffix", "name"), FORMATS)
def test_a_queue_format_of_impacket_is_decoded(
    kind: int, member: str, value: Any, suffix: int, name: str, ndr64: bool
) -> None:
    request = OpenRemote()
    fill_format(request, kind, member, value, suffix)
    request["dwDesiredAccess"] = 0x20
    request["pLicGuid"] = CLIENT
    stub = stub_of(request, ndr64=ndr64)
    if ndr64 and kind == 2:  # impacket leaves out the gap at the end of a structure
        stub = stub[:44] + bytes(4) + stub[44:]
    found = decode_request(QMCOMM, 2, stub, NDR64 if ndr64 else NDR20)
    assert isinstance(found, OpenRemoteQueue)
    assert (found.name, found.access, found.client.bytes_le) == (name, 0x20, CLIENT)


@WIDTHS
@pytest.mark.parametrize("pointers", [False, True], ids=["NULL", "pointers"])
def test_a_transfer_buffer_of_impacket_is_decoded(pointers: bool, ndr64: bool) -> None:
    request = CreateCursor()
    some = (3, 4, 9, 54)  # pSentTime, pArrivedTime, pApplicationTag, pulVersion
    request["ptb1"] = transfer_buffer(dict.fromkeys(some, 77) if pointers else None)
    request["hQueue"] = 0x64
    stub = stub_of(request, ndr64=ndr64)
    assert len(stub) == (452 if ndr64 else 232) + 4 * 4 * pointers
    assert decode_request(QMCOMM, 4, stub, NDR64 if ndr64 else NDR20) == CreateRemoteCursor(0x64)


# -- conversations


@pytest.mark.spec("QP-001", "QP-002", "QP-007", "QP-008", "QP-013")
@pytest.mark.mqqp("T01", "T03", "T04", "T06", "T07", "T09", "T10", "T11", "T12", "T13", "T14", "T15", "T16")
@pytest.mark.mqqp("T17", "T19", "T20", "T21", "T23", "T24", "T25", "T27", "T29", "T30", "T31", "T35", "T46")
@WIDTHS
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda each: each.__name__)
def test_impacket_reads_our_queues_in_each_conversation(
    conversation: Conversation, ndr64: bool, ours: MqqpSite, connect: Connect
) -> None:
    conversation(ours, partial(connect, ndr64=ndr64))


@pytest.mark.parametrize(
    ("conversation", "ndr64", "level"),
    [
        pytest.param(
            conversation,
            ndr64,
            level,
            id=f"{conversation.__name__}-{'NDR64' if ndr64 else 'NDR20'}-{level}",
            marks=[] if (conversation, ndr64, level) in SHORT else [pytest.mark.long],
        )
        for conversation in CONVERSATIONS
        for ndr64 in (False, True)
        for level in (CONNECT, INTEGRITY, PRIVACY)
    ],
)
def test_impacket_reads_our_queues_with_ntlm(
    conversation: Conversation, ndr64: bool, level: int, ours: MqqpSite, connect: Connect
) -> None:
    conversation(ours, partial(connect, ndr64=ndr64, level=level))


@pytest.mark.spec("QP-006")
def test_the_access_list_knows_the_user_of_ntlm(ours: MqqpSite, connect: Connect) -> None:
    access(ours, connect, partial(connect, level=INTEGRITY), partial(connect, level=INTEGRITY, password="no"))


@pytest.mark.parametrize(
    ("level", "size"),
    [
        pytest.param(0, LARGE, id="anonymous"),
        pytest.param(PRIVACY, LARGE, id="privacy"),
        pytest.param(0, LARGEST, id="anonymous-largest", marks=pytest.mark.long),
        pytest.param(INTEGRITY, LARGEST, id="integrity-largest", marks=pytest.mark.long),
        pytest.param(PRIVACY, LARGEST, id="privacy-largest", marks=pytest.mark.long),
    ],
)
@WIDTHS
def test_impacket_receives_a_large_message(
    ndr64: bool, level: int, size: int, ours: MqqpSite, connect: Connect
) -> None:
    large_message(ours, partial(connect, ndr64=ndr64, level=level), size)
