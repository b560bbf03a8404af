"""Tests the exchanges of chapter 4, 4.1 to 4.9: our client agent exchanges messages with our server agent.

One list has the messages on the wire and the writes to both persistent stores, in the order in which they
happened.  No agent sends an outcome before its write.  So each message is on exactly one side after a failure
at any step, or it is known to be in doubt.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reliquary.protocols.httpr.codec.values import Capabilities
from reliquary.protocols.httpr.settings import Peer
from tests.scenes.httpr.harness import FORGET_AFTER, Side, settings
from tests.scenes.httpr.network import Network

RESPONDER = "httpr://yourhost/httpr/service"
THERE = "DIRECT=HTTPR://yourhost/httpr/service#incoming"
SIMPLE = Capabilities(idle_session_interval=60, maximum_batch_size=1, maximum_pipeline_depth=1, sessions=True)
"""The limits of the tables in chapter 4: one batch at a time, with one message."""


class Pair:
    """A client C, a server S, and the network between them."""

    def __init__(self, *, proposed: Capabilities = SIMPLE, **peer: object) -> None:
        chosen = Peer(**{"responder": RESPONDER, "channel": "primary", "into": "incoming", **peer})  # type: ignore[arg-type]
        self.client = Side("myhost", chosen=settings(chosen, proposed=proposed))
        self.server = Side("yourhost")
        self.server.diary = self.client.diary
        self.client.mark, self.server.mark = "C ", "S "
        self.network = Network(self.client, self.server)

    def happened(self) -> list[str]:
        """Send all that can be sent, and return what happened."""
        self.network.carry()
        return self.client.happened()

    def ends(self) -> list[str]:
        """Complete the communication, and return what happened at both sides."""
        if self.client.settings.peers[0].pull:
            self.network.advance(0.5)  # the last PULL brings nothing
            self.client.happened()
            self.client.forget()
        else:
            self.network.advance(FORGET_AFTER)
        return self.happened()

    @property
    def commands(self) -> list[str]:
        """The commands of all requests so far, in order."""
        return [
            each.lines[0].removeprefix("request:").removesuffix(" HTTPR/1.0") for each in self.network.went
        ]

    def is_forgotten(self) -> bool:
        """Return whether no outcome is unknown at either side."""
        rows = [self.client.channel, self.server.channel]
        known = [row.last_received_id or row.last_sent_id or row.in_doubt for row in rows]
        unknown = [row.source_forgotten or not row.last_source_id for row in rows]
        return not any(known) and all(unknown)


def pushed(batch: int, body: str) -> list[str]:
    """Return what a batch of one message leaves on disk, on its way from C to S."""
    return [
        f"C set {batch} indoubt, last-source-id={batch}",
        f"C --> PUSH {batch}",
        f"S save {body}",
        f"S last-received-id={batch} COMMIT",
        f"S <-- COMMIT {batch}",
        f"C commit {batch}",
        "C remove 1 messages",
    ]


@pytest.mark.httpr("F1", "T11")
@pytest.mark.spec("HR-050", "HR-062")
def test_4_1_1_push_without_session() -> None:
    pair = Pair(sessions=False)
    pair.client.send(THERE, b"a")
    assert pair.happened() == ["C save a", *pushed(1, "a")]
    pair.client.send(THERE, b"b")
    assert pair.happened() == ["C save b", *pushed(2, "b")]
    assert pair.ends() == [
        "C --> REPORT",
        "S last-sent-id=2",
        "S remove last-received-id",
        "S <-- COMMIT 0",
        "C remove last-source-id",
    ]
    assert pair.commands == ["PUSH", "PUSH", "REPORT"]
    assert pair.is_forgotten()


@pytest.mark.httpr("F2", "T11")
@pytest.mark.spec("HR-025", "HR-050")
def test_4_2_push_using_a_session() -> None:
    pair = Pair()
    pair.client.send(THERE, b"a")
    pair.client.send(THERE, b"b")
    happened = pair.happened()
    assert happened[-14:] == [*pushed(1, "a"), *pushed(2, "b")]
    assert pair.ends()[-2:] == ["S <-- COMMIT 0", "C remove last-source-id"]
    assert pair.commands == ["GET-RESPONDER-INFO", "PUSH", "PUSH", "REPORT"]
    assert pair.is_forgotten()


@pytest.mark.httpr("F3", "T08", "T10")
@pytest.mark.spec("HR-020", "HR-021", "HR-066", "HR-125")
def test_4_3_the_client_fails_then_restarts_push() -> None:
    pair = Pair()
    pair.network.loses_answer = lambda lines: "transactionid:0000000000000001" in lines
    pair.client.send(THERE, b"a")
    happened = pair.happened()
    assert happened[happened.index("S save a") :] == [
        "S save a",
        "S last-received-id=1 COMMIT",
        "S <-- COMMIT 1",
        "C --> GET-RESPONDER-INFO",
        "S <-- COMMIT 1",
        "C commit 1",
        "C remove 1 messages",
    ]
    assert pair.ends()[-1] == "C remove last-source-id"
    assert pair.commands == ["GET-RESPONDER-INFO", "PUSH", "GET-RESPONDER-INFO", "REPORT"]
    assert pair.server.bodies("incoming") == [b"a"]


@pytest.mark.httpr("F4", "T34")
@pytest.mark.spec("HR-053", "HR-084")
def test_4_4_the_server_rolls_back() -> None:
    pair = Pair()
    pair.server.create("full", quota=2)
    pair.client.send("DIRECT=HTTPR://yourhost/httpr/service#full", b"a" * 900)
    pair.client.send("DIRECT=HTTPR://yourhost/httpr/service#full", b"b" * 900)
    happened = pair.happened()
    assert happened[-4:] == [
        "C --> PUSH 2",
        "S last-received-id=2 ROLLBACK",
        "S <-- ROLLBACK 2, 515",
        "C restore 2",
    ]
    pair.server.receive("full")  # there is room again
    pair.network.advance(2)
    assert pair.happened()[-7:] == pushed(3, "b" * 900)
    assert pair.ends()[-1] == "C remove last-source-id"
    assert pair.server.bodies("full") == [b"b" * 900]


@pytest.mark.httpr("F5", "T20")
@pytest.mark.spec("HR-070", "HR-074")
def test_4_5_pull() -> None:
    pair = Pair(pull=True)
    pair.server.send("outgoing", b"a", b"b")
    pair.client.happened()
    assert pair.happened() == [
        "S <-- COMMIT 0",
        "C --> PULL",
        "S set 1 indoubt, last-source-id=1",
        "S <-- batch 1, COMMIT 0",
        "C save a",
        "C last-received-id=1 COMMIT",
        "C --> PULL",
        "S commit 1",
        "S remove 1 messages",
        "S set 2 indoubt, last-source-id=2",
        "S <-- batch 2, COMMIT 0",
        "C save b",
        "C last-received-id=2 COMMIT",
        "C --> PULL",
        "S commit 2",
        "S remove 1 messages",
    ]
    assert pair.ends() == [
        "C --> REPORT",
        "S remove last-source-id",
        "S <-- COMMIT 0",
        "C remove last-received-id",
    ]
    assert pair.is_forgotten()


@pytest.mark.httpr("F6", "T17")
@pytest.mark.spec("HR-022", "HR-023", "HR-054", "HR-058")
def test_4_6_the_client_fails_then_restarts_pull() -> None:
    pair = Pair(pull=True)
    losing = iter([False, False, True])
    pair.network.loses_answer = lambda _: next(losing, False)
    pair.server.send("outgoing", b"a", b"b")
    happened = pair.happened()
    assert happened[happened.index("S <-- batch 2, COMMIT 0") :] == [
        "S <-- batch 2, COMMIT 0",
        "C --> GET-RESPONDER-INFO",
        "S <-- COMMIT 0",
        "C --> REPORT",
        "S restore 2",
        "S <-- COMMIT 0",
        "C last-sent-id=2",
        "C --> PULL",
        "S set 3 indoubt, last-source-id=3",
        "S <-- batch 3, COMMIT 0",
        "C save b",
        "C last-received-id=3 COMMIT",
        "C --> PULL",
        "S commit 3",
        "S remove 1 messages",
    ]
    assert pair.ends()[-1] == "C remove last-received-id"
    assert pair.client.bodies("incoming") == [b"a", b"b"]
    assert pair.is_forgotten()


@pytest.mark.httpr("F7", "T22")
@pytest.mark.spec("HR-015", "HR-046", "HR-047")
def test_4_7_pipelined_pull() -> None:
    pair = Pair(pull=True, channel="", proposed=replace(SIMPLE, maximum_pipeline_depth=3))
    pair.server.send("outgoing", *[b"%d" % number for number in range(6)])
    happened = pair.happened()
    start = happened.index("C last-received-id=1 COMMIT")
    assert happened[start : start + 4] == ["C last-received-id=1 COMMIT", *["C --> PULL"] * 3]
    settled = [line for line in happened if line.startswith(("S commit", "S remove"))]
    assert settled[-1] == "S remove 1 messages"
    assert pair.client.bodies("incoming") == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert pair.ends()[-1] == "C remove last-received-id"
    assert pair.is_forgotten()


@pytest.mark.httpr("F8", "T21")
@pytest.mark.spec("HR-072")
def test_4_8_exchange() -> None:
    pair = Pair(pull=True, exchange=True)
    pair.server.send("outgoing", b"x", b"y")
    pair.client.send(THERE, b"a")
    pair.client.send(THERE, b"b")
    happened = pair.happened()
    assert happened[happened.index("C set 1 indoubt, last-source-id=1") :] == [
        "C set 1 indoubt, last-source-id=1",
        "C --> EXCHANGE 1",
        "S save a",
        "S last-received-id=1 COMMIT",
        "S set 1 indoubt, last-source-id=1",
        "S <-- batch 1, COMMIT 1",
        "C commit 1",
        "C remove 1 messages",
        "C save x",
        "C last-received-id=1 COMMIT",
        "C set 2 indoubt, last-source-id=2",
        "C --> EXCHANGE 2",
        "S commit 1",
        "S remove 1 messages",
        "S save b",
        "S last-received-id=2 COMMIT",
        "S set 2 indoubt, last-source-id=2",
        "S <-- batch 2, COMMIT 2",
        "C commit 2",
        "C remove 1 messages",
        "C save y",
        "C last-received-id=2 COMMIT",
        "C --> PULL",
        "S commit 2",
        "S remove 1 messages",
    ]
    assert pair.ends() == [
        "C --> REPORT",
        "S last-sent-id=2",
        "S remove last-source-id",
        "S remove last-received-id",
        "S <-- COMMIT 0",
        "C remove last-received-id",
        "C remove last-source-id",
    ]
    assert pair.is_forgotten()


@pytest.mark.httpr("F9", "T21")
@pytest.mark.spec("HR-060")
def test_4_9_push_followed_by_pull() -> None:
    pair = Pair(pull=True)
    pair.client.send(THERE, b"a")
    pair.server.send("outgoing", b"x")
    happened = pair.happened()
    assert happened[happened.index("C set 1 indoubt, last-source-id=1") :] == [
        *pushed(1, "a"),
        "C --> PULL",
        "S set 1 indoubt, last-source-id=1",
        "S <-- batch 1, COMMIT 1",
        "C save x",
        "C last-received-id=1 COMMIT",
        "C --> PULL",
        "S commit 1",
        "S remove 1 messages",
    ]
    assert pair.ends()[-2:] == ["C remove last-received-id", "C remove last-source-id"]
    assert pair.is_forgotten()
