"""The exchanges of chapter 4, 4.1 to 4.9, as our client agent plays its part; the server is a script.

The lines about the persistent store are what `happened`: all that is written stands before the request that
leaves after it.  The first line of each session, GET-RESPONDER-INFO, is read by `begin`.

Where we differ from a table, and may: REPORT says all that 5.5 has, capabilities are our own, and a client
that fetches goes on with PULL until an administrator ends the channel.
"""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.settings import Peer
from tests.scenes.httpr.harness import FORGET_AFTER, ScriptedServer, Side

RESPONDER = "httpr://yourhost/service"
THERE = "DIRECT=HTTPR://yourhost/service#orders"
WHO = ("requester:httpr://myhost/httpr/mq", "channel:primary", f"responder:{RESPONDER}")
LAST = "payload-disposition:last"
FORGOTTEN = ("last-pulled-id:0000000000000000", "outcome:COMMIT", "completed:0000000000000000")


def peer(**chosen: object) -> Peer:
    """Return the peers of a client that exchanges messages with the script."""
    return Peer(**{"responder": RESPONDER, "channel": "primary", "into": "incoming", **chosen})  # type: ignore[arg-type]


def client(*messages: bytes, **chosen: object) -> tuple[Side, ScriptedServer]:
    """Return a client with messages to send, and a scripted server."""
    side = Side("myhost", peer(**chosen))
    for body in messages:
        side.send(THERE, body)
    side.happened()
    return side, ScriptedServer(side)


def begin(server: ScriptedServer, session: int = 1, completed: int = 0, capabilities: str = "") -> None:
    """Expect the request that begins a session, and accept it."""
    assert server.hears() == ["request:GET-RESPONDER-INFO HTTPR/1.0", *WHO, "session:begin"]
    server.answers(
        "HTTPR/1.0",
        f"responder:{RESPONDER}",
        f"sessionid:{session}",
        capabilities or "capabilities:maximum_pipeline_depth=1,maximum_batch_size=1",
        "outcome:COMMIT",
        f"completed:{completed:016X}",
    )


def is_forgotten(side: Side) -> bool:
    """Return whether nothing is left to know of either direction."""
    channel = side.channel
    sink = channel.last_received_id == channel.last_sent_id == 0
    return sink and (channel.source_forgotten or not channel.last_source_id) and not channel.in_doubt


@pytest.mark.httpr("F1", "T11")
@pytest.mark.spec("HR-016", "HR-050", "HR-051", "HR-061", "HR-062")
def test_4_1_1_push_without_session() -> None:
    side = Side("myhost", peer(sessions=False))
    server = ScriptedServer(side)
    side.send(THERE, b"a")
    side.send(THERE, b"b")
    assert side.happened() == [
        "save a",
        "set 1 indoubt, last-source-id=1",
        "--> PUSH 1",
        "save b",  # it waits for the answer
    ]
    assert server.hears() == [
        "request:PUSH HTTPR/1.0",
        *WHO,
        "transactionid:0000000000000001",
        "<a>",
        LAST,
    ]
    server.answers(f"responder:{RESPONDER}", "completed:0000000000000001", "outcome:COMMIT")
    assert side.happened() == [
        "commit 1",
        "remove 1 messages",
        "set 2 indoubt, last-source-id=2",
        "--> PUSH 2",
    ]
    assert server.hears() == [
        "request:PUSH HTTPR/1.0",
        *WHO,
        "transactionid:0000000000000002",
        "<b>",
        LAST,
    ]
    server.answers(f"responder:{RESPONDER}", "completed:0000000000000002", "outcome:COMMIT")
    assert side.happened() == ["commit 2", "remove 1 messages"]
    side.advance(FORGET_AFTER)
    assert server.hears() == [
        "request:REPORT HTTPR/1.0",
        *WHO,
        "outcome:COMMIT",
        "completed:0000000000000000",
        "last-pushed-id:0000000000000002",
        "forget:0000000000000002",
    ]
    server.answers(f"responder:{RESPONDER}", *FORGOTTEN)
    assert side.happened() == ["--> REPORT", "remove last-source-id"]
    assert is_forgotten(side)


@pytest.mark.httpr("F2", "T11", "H12", "H13")
@pytest.mark.spec("HR-016", "HR-025", "HR-033", "HR-036", "HR-051")
def test_4_2_push_using_a_session() -> None:
    side, server = client(b"a", b"b")
    begin(server)
    assert side.happened() == ["set 1 indoubt, last-source-id=1", "--> PUSH 1"]
    assert server.hears() == [
        "request:PUSH HTTPR/1.0",
        "sessionid:1",
        "transactionid:0000000000000001",
        "<a>",
        LAST,
    ]
    server.answers("completed:0000000000000001", "outcome:COMMIT")
    assert side.happened() == [
        "commit 1",
        "remove 1 messages",
        "set 2 indoubt, last-source-id=2",
        "--> PUSH 2",
    ]
    assert server.hears()[2:] == ["transactionid:0000000000000002", "<b>", LAST]
    server.answers("completed:0000000000000002", "outcome:COMMIT")
    assert side.happened() == ["commit 2", "remove 1 messages"]
    side.advance(FORGET_AFTER)
    assert server.hears() == [
        "request:REPORT HTTPR/1.0",
        "sessionid:1",
        "session:end",
        "outcome:COMMIT",
        "completed:0000000000000000",
        "last-pushed-id:0000000000000002",
        "forget:0000000000000002",
    ]
    server.answers("session:end", *FORGOTTEN)
    assert side.happened() == ["--> REPORT", "remove last-source-id"]
    assert is_forgotten(side)


@pytest.mark.httpr("F3", "T08", "T10")
@pytest.mark.spec("HR-020", "HR-021", "HR-125")
def test_4_3_the_client_fails_then_restarts_push() -> None:
    side, server = client(b"a", b"b")
    begin(server)
    server.hears()
    side.happened()
    server.fails()
    assert side.happened() == ["--> GET-RESPONDER-INFO"]  # and b waits
    begin(server, session=2, completed=1)
    assert side.happened() == [
        "commit 1",
        "remove 1 messages",
        "set 2 indoubt, last-source-id=2",
        "--> PUSH 2",
    ]
    assert server.hears()[1:] == ["sessionid:2", "transactionid:0000000000000002", "<b>", LAST]
    server.answers("completed:0000000000000002", "outcome:COMMIT")
    side.advance(FORGET_AFTER)
    assert server.hears() == [
        "request:REPORT HTTPR/1.0",
        "sessionid:2",
        "session:end",
        "outcome:COMMIT",
        "completed:0000000000000000",
        "last-pushed-id:0000000000000002",
        "forget:0000000000000002",
    ]
    server.answers("session:end", *FORGOTTEN)
    assert is_forgotten(side)


@pytest.mark.httpr("F4")
@pytest.mark.spec("HR-053", "HR-069")
def test_4_4_the_server_rolls_back() -> None:
    side, server = client(b"a")
    begin(server)
    server.hears()
    side.happened()
    server.answers("completed:0000000000000001", "outcome:ROLLBACK")
    assert side.happened() == ["restore 1"]
    side.advance(2)  # the disk of the server becomes empty
    assert side.happened() == ["set 2 indoubt, last-source-id=2", "--> PUSH 2"]
    assert server.hears() == [
        "request:PUSH HTTPR/1.0",
        "sessionid:1",
        "transactionid:0000000000000002",
        "<a>",
        LAST,
    ]
    server.answers("completed:0000000000000002", "outcome:COMMIT")
    assert side.happened() == ["commit 2", "remove 1 messages"]
    side.advance(FORGET_AFTER)
    assert server.hears()[-1] == "forget:0000000000000002"
    server.answers("session:end", *FORGOTTEN)
    assert side.happened() == ["--> REPORT", "remove last-source-id"]


@pytest.mark.httpr("F5", "T20", "H8", "H9")
@pytest.mark.spec("HR-050", "HR-056", "HR-070", "HR-075", "HR-105")
def test_4_5_pull() -> None:
    side, server = client(pull=True)
    begin(server)
    assert server.hears() == [
        "request:PULL HTTPR/1.0",
        "sessionid:1",
        "outcome:COMMIT",
        "completed:0000000000000000",
    ]
    side.happened()
    server.answers("transactionid:0000000000000001", "<a>", LAST)
    assert side.happened() == ["save a", "last-received-id=1 COMMIT", "--> PULL"]
    assert server.hears()[2:] == ["outcome:COMMIT", "completed:0000000000000001"]
    server.answers("transactionid:0000000000000002", "<b>", LAST)
    assert side.happened() == ["save b", "last-received-id=2 COMMIT", "--> PULL"]
    server.hears()
    server.answers("outcome:COMMIT", "completed:0000000000000000")
    side.forget()
    assert server.hears() == [
        "request:REPORT HTTPR/1.0",
        "sessionid:1",
        "session:end",
        "outcome:COMMIT",
        "completed:0000000000000002",
        "last-pushed-id:0000000000000000",
    ]
    side.happened()
    server.answers("session:end", *FORGOTTEN)
    assert side.happened() == ["remove last-received-id"]
    assert side.bodies("incoming") == [b"a", b"b"]


@pytest.mark.httpr("F6", "T17")
@pytest.mark.spec("HR-022", "HR-023", "HR-054", "HR-058")
def test_4_6_the_client_fails_then_restarts_pull() -> None:
    side, server = client(pull=True)
    begin(server)
    server.hears()
    server.answers("transactionid:0000000000000001", "<a>", LAST)
    assert server.hears()[2:] == ["outcome:COMMIT", "completed:0000000000000001"]
    side.happened()
    server.fails()  # batch 2 does not arrive
    begin(server, session=2)
    assert server.hears() == [
        "request:REPORT HTTPR/1.0",
        "sessionid:2",
        "outcome:COMMIT",
        "completed:0000000000000001",
        "last-pushed-id:0000000000000000",
    ]
    server.answers("last-pulled-id:0000000000000002", "outcome:COMMIT", "completed:0000000000000000")
    assert side.happened() == ["--> GET-RESPONDER-INFO", "--> REPORT", "last-sent-id=2", "--> PULL"]
    server.hears()
    server.answers("transactionid:0000000000000003", "<b>", LAST)
    assert side.happened() == ["save b", "last-received-id=3 COMMIT", "--> PULL"]
    server.hears()
    server.answers("outcome:COMMIT", "completed:0000000000000000")
    side.forget()
    assert "completed:0000000000000003" in server.hears()
    server.answers("session:end", *FORGOTTEN)
    assert side.bodies("incoming") == [b"a", b"b"]


@pytest.mark.httpr("F7", "T22")
@pytest.mark.spec("HR-015", "HR-047")
def test_4_7_pipelined_pull() -> None:
    """Our client asks ahead as soon as something came."""
    side, server = client(pull=True, channel="")
    assert "channel:fetch" in server.hears()
    deep = "capabilities:maximum_pipeline_depth=2,maximum_batch_size=1"
    server.answers("HTTPR/1.0", "sessionid:1", deep, "outcome:COMMIT", "completed:0000000000000000")
    server.hears()
    side.happened()
    server.answers("transactionid:0000000000000001", "<a>", LAST)
    assert side.happened() == ["save a", "last-received-id=1 COMMIT", "--> PULL", "--> PULL"]
    assert [server.hears()[-1], server.hears()[-1]] == ["completed:0000000000000001"] * 2
    server.answers("transactionid:0000000000000002", "<b>", LAST)
    server.answers("transactionid:0000000000000003", "<c>", LAST)
    assert side.happened() == [
        "save b",
        "last-received-id=2 COMMIT",
        "--> PULL",
        "save c",
        "last-received-id=3 COMMIT",
        "--> PULL",
    ]
    assert [server.hears()[-1], server.hears()[-1]] == [
        "completed:0000000000000002",
        "completed:0000000000000003",
    ]
    for _ in range(2):
        server.answers("outcome:COMMIT", "completed:0000000000000000")
    side.forget()
    assert server.hears()[2:5] == ["session:end", "outcome:COMMIT", "completed:0000000000000003"]
    side.happened()
    server.answers("session:end", *FORGOTTEN)
    assert side.happened()[0] == "remove last-received-id"
    assert side.bodies("incoming") == [b"a", b"b", b"c"]


@pytest.mark.httpr("F8", "T21", "H16", "H17")
@pytest.mark.spec("HR-072")
def test_4_8_exchange() -> None:
    side, server = client(b"a", b"b", pull=True, exchange=True)
    begin(server)
    assert side.happened() == ["set 1 indoubt, last-source-id=1", "--> EXCHANGE 1"]
    assert server.hears() == [
        "request:EXCHANGE HTTPR/1.0",
        "sessionid:1",
        "transactionid:0000000000000001",
        "outcome:COMMIT",
        "completed:0000000000000000",
        "<a>",
        LAST,
    ]
    server.answers(
        "transactionid:0000000000000101", "completed:0000000000000001", "outcome:COMMIT", "<x>", LAST
    )  # fmt: skip
    assert side.happened() == [
        "commit 1",
        "remove 1 messages",
        "save x",
        "last-received-id=257 COMMIT",
        "set 2 indoubt, last-source-id=2",
        "--> EXCHANGE 2",
    ]
    assert server.hears() == [
        "request:EXCHANGE HTTPR/1.0",
        "sessionid:1",
        "transactionid:0000000000000002",
        "outcome:COMMIT",
        "completed:0000000000000101",
        "<b>",
        LAST,
    ]
    server.answers(
        "transactionid:0000000000000102", "completed:0000000000000002", "outcome:COMMIT", "<y>", LAST
    )  # fmt: skip
    assert side.happened() == [
        "commit 2",
        "remove 1 messages",
        "save y",
        "last-received-id=258 COMMIT",
        "--> PULL",
    ]
    server.hears()
    server.answers("outcome:COMMIT", "completed:0000000000000002")
    side.forget()
    assert server.hears() == [
        "request:REPORT HTTPR/1.0",
        "sessionid:1",
        "session:end",
        "outcome:COMMIT",
        "completed:0000000000000102",
        "last-pushed-id:0000000000000002",
        "forget:0000000000000002",
    ]
    side.happened()
    server.answers("session:end", *FORGOTTEN)
    assert side.happened()[:2] == ["remove last-received-id", "remove last-source-id"]
    assert side.bodies("incoming") == [b"x", b"y"]


@pytest.mark.httpr("F9", "T21")
@pytest.mark.spec("HR-060")
def test_4_9_push_followed_by_pull() -> None:
    side, server = client(b"a", pull=True)
    begin(server)
    assert side.happened() == ["set 1 indoubt, last-source-id=1", "--> PUSH 1"]
    assert server.hears()[0] == "request:PUSH HTTPR/1.0"
    server.answers("completed:0000000000000001", "outcome:COMMIT")
    assert side.happened() == ["commit 1", "remove 1 messages", "--> PULL"]
    assert server.hears()[0] == "request:PULL HTTPR/1.0"
    server.answers("transactionid:0000000000000101", "<x>", LAST)
    assert side.happened() == ["save x", "last-received-id=257 COMMIT", "--> PULL"]
    server.hears()
    server.answers("outcome:COMMIT", "completed:0000000000000001")
    side.forget()
    assert server.hears()[2:] == [
        "session:end",
        "outcome:COMMIT",
        "completed:0000000000000101",
        "last-pushed-id:0000000000000001",
        "forget:0000000000000001",
    ]
    side.happened()
    server.answers("session:end", *FORGOTTEN)
    assert side.happened()[:2] == ["remove last-received-id", "remove last-source-id"]
