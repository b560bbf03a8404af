"""The exchanges of chapter 4, 4.1 to 4.9, as our server agent plays its part; the client is a script.

Requests stand as the tables print them, in canonical form, and so do the answers.  The lines about the
persistent store are what `happened`: all that is written stands before the answer that leaves after it.

Where we differ from a table, and may: a failed batch ends its session with an error (5.6), and our ids go on
growing after they were forgotten.  The batches of the server are 1, 2, 3 where 4.8 and 4.9 print 101 and 102.
"""

from __future__ import annotations

import pytest

from tests.scenes.httpr.harness import ScriptedClient, Side

WHO = (
    "requester:httpr://myhost/service",
    "channel:primary",
    "responder:httpr://yourhost/httpr/service",
)
CAPABILITIES = "capabilities:session_support=SESSION"
DEEP = "capabilities:session_support=SESSION,maximum_pipeline_depth=2,maximum_batch_size=1"
LAST = "payload-disposition:last"


def server(*outgoing: bytes) -> tuple[Side, ScriptedClient]:
    """Return a server with messages to fetch, and a scripted client."""
    side = Side("yourhost")
    if outgoing:
        side.send("outgoing", *outgoing)
    side.happened()
    return side, ScriptedClient(side)


def begin(
    client: ScriptedClient, session: int = 1, completed: int = 0, capabilities: str = CAPABILITIES
) -> None:
    """Begin a session, with what all tables show of it."""
    answer = client.says("request:GET-RESPONDER-INFO HTTPR/1.0", *WHO, "session:begin", capabilities)
    assert answer == [
        "HTTPR/1.0",
        "responder:httpr://yourhost/httpr/service",
        f"sessionid:{session}",
        "outcome:COMMIT",
        f"completed:{completed:016X}",
    ]
    assert client.side.happened() == [f"<-- COMMIT {completed}"]


@pytest.mark.httpr("F1", "T01", "T11")
@pytest.mark.spec("HR-035", "HR-050", "HR-056", "HR-059")
def test_4_1_1_push_without_session() -> None:
    side, client = server()
    for batch in (1, 2):
        answer = client.says(
            "request:PUSH HTTPR/1.0",
            *WHO,
            "capabilities:max_batch_limit=10",
            f"transactionid:000000000000000{batch}",
            "<a> <b>",
            LAST,
        )
        assert answer == [
            "responder:httpr://yourhost/httpr/service",
            "outcome:COMMIT",
            f"completed:000000000000000{batch}",
        ]
        assert side.happened() == ["save a b", f"last-received-id={batch} COMMIT", f"<-- COMMIT {batch}"]
    answer = client.says("request:REPORT HTTPR/1.0", *WHO, "forget:0000000000000002")
    assert answer == [
        "responder:httpr://yourhost/httpr/service",
        "last-pulled-id:0000000000000000",
        "outcome:COMMIT",
        "completed:0000000000000000",
    ]
    assert side.happened() == ["remove last-received-id", "<-- COMMIT 0"]
    assert side.bodies("incoming") == [b"a", b"b", b"a", b"b"]


@pytest.mark.httpr("F2", "T11", "H12", "H13")
@pytest.mark.spec("HR-033", "HR-050", "HR-056", "HR-059")
def test_4_2_push_using_a_session() -> None:
    side, client = server()
    begin(client)
    for batch in (1, 2):
        answer = client.says(
            "request:PUSH HTTPR/1.0",
            "sessionid:1",
            f"transactionid:000000000000000{batch}",
            "<a> <b>",
            LAST,
        )
        assert answer == ["outcome:COMMIT", f"completed:000000000000000{batch}"]
        assert side.happened() == ["save a b", f"last-received-id={batch} COMMIT", f"<-- COMMIT {batch}"]
    answer = client.says(
        "request:REPORT HTTPR/1.0",
        "sessionid:1",
        "forget:0000000000000002",
        "sessionid:1",  # as the table has it: twice
        "session:end",
    )
    assert answer == [
        "session:end",
        "last-pulled-id:0000000000000000",
        "outcome:COMMIT",
        "completed:0000000000000000",
    ]
    assert side.happened() == ["remove last-received-id", "<-- COMMIT 0"]
    assert side.bodies("incoming") == [b"a", b"b", b"a", b"b"]


@pytest.mark.httpr("F3", "T10")
@pytest.mark.spec("HR-031", "HR-066")
def test_4_3_the_client_fails_then_restarts_push() -> None:
    side, client = server()
    begin(client)
    client.sends(
        "request:PUSH HTTPR/1.0", "sessionid:1", "transactionid:0000000000000001", "<a> <b>", LAST
    )  # fmt: skip
    client.fails()
    assert side.happened() == ["save a b", "last-received-id=1 COMMIT", "<-- COMMIT 1"]
    begin(client, session=2, completed=1)
    answer = client.says(
        "request:REPORT HTTPR/1.0", "sessionid:2", "session:end", "forget:0000000000000001"
    )  # fmt: skip
    assert answer == [
        "session:end",
        "last-pulled-id:0000000000000000",
        "outcome:COMMIT",
        "completed:0000000000000000",
    ]
    assert side.happened() == ["remove last-received-id", "<-- COMMIT 0"]
    assert side.bodies("incoming") == [b"a", b"b"]


@pytest.mark.httpr("F4", "T34")
@pytest.mark.spec("HR-084", "HR-118", "HR-119")
def test_4_4_the_server_rolls_back() -> None:
    """The disk is full; here the error of 5.6 says so and ends the session, so the client begins another."""
    side, client = server()
    begin(client)
    side.create("full", quota=2)
    assert not side.send("full", bytes(1500)).status.value
    side.happened()
    to_full = "target-uri:httpr://yourhost/httpr/service#full"
    messages = f"<{'a' * 300}|{to_full}> <{'b' * 300}|{to_full}>"
    answer = client.says(
        "request:PUSH HTTPR/1.0", "sessionid:1", "transactionid:0000000000000001", messages, LAST
    )  # fmt: skip
    assert answer == [
        "session:end",
        "outcome:ROLLBACK",
        "completed:0000000000000001",
        "error:515 RESOURCE-MANAGER-CAN-NOT-STORE",
        "app-reliquary-reason:the quota of BENCH\\private$\\full is 2 kilobytes",
    ]
    assert side.happened() == ["last-received-id=1 ROLLBACK", "<-- ROLLBACK 1, 515"]
    assert side.bodies("full") == [bytes(1500)]
    side.receive("full")  # there is room again
    side.happened()
    client.says("request:GET-RESPONDER-INFO HTTPR/1.0", *WHO, "session:begin")
    answer = client.says(
        "request:PUSH HTTPR/1.0", "sessionid:2", "transactionid:0000000000000002", messages, LAST
    )  # fmt: skip
    assert answer == ["outcome:COMMIT", "completed:0000000000000002"]
    saved = f"save {'a' * 300} {'b' * 300}"
    assert side.happened()[1:] == [saved, "last-received-id=2 COMMIT", "<-- COMMIT 2"]
    client.says("request:REPORT HTTPR/1.0", "sessionid:2", "session:end", "forget:0000000000000002")
    assert side.happened() == ["remove last-received-id", "<-- COMMIT 0"]


@pytest.mark.httpr("F5", "T20", "H8")
@pytest.mark.spec("HR-019", "HR-050", "HR-051", "HR-105")
def test_4_5_pull() -> None:
    side, client = server(b"a", b"b")
    begin(client, capabilities=f"{CAPABILITIES},maximum_batch_size=1")
    answer = client.says(
        "request:PULL HTTPR/1.0", "sessionid:1", "completed:0000000000000000", "outcome:COMMIT"
    )  # fmt: skip
    assert answer == [
        "transactionid:0000000000000001",
        "outcome:COMMIT",
        "completed:0000000000000000",
        "<a>",
        LAST,
    ]
    assert side.happened() == ["set 1 indoubt, last-source-id=1", "<-- batch 1, COMMIT 0"]
    answer = client.says(
        "request:PULL HTTPR/1.0", "sessionid:1", "completed:0000000000000001", "outcome:COMMIT"
    )  # fmt: skip
    assert answer == [
        "transactionid:0000000000000002",
        "outcome:COMMIT",
        "completed:0000000000000000",
        "<b>",
        LAST,
    ]
    assert side.happened() == [
        "commit 1",
        "remove 1 messages",
        "set 2 indoubt, last-source-id=2",
        "<-- batch 2, COMMIT 0",
    ]
    answer = client.says(
        "request:REPORT HTTPR/1.0",
        "sessionid:1",
        "session:end",
        "completed:0000000000000002",
        "outcome:COMMIT",
    )
    assert answer == [
        "session:end",
        "last-pulled-id:0000000000000000",
        "outcome:COMMIT",
        "completed:0000000000000000",
    ]
    assert side.happened() == ["commit 2", "remove last-source-id", "remove 1 messages", "<-- COMMIT 0"]
    assert side.bodies("outgoing") == []


@pytest.mark.httpr("F6", "T17")
@pytest.mark.spec("HR-031", "HR-054")
def test_4_6_the_client_fails_then_restarts_pull() -> None:
    side, client = server(b"a", b"b")
    begin(client, capabilities=f"{CAPABILITIES},maximum_batch_size=1")
    client.says("request:PULL HTTPR/1.0", "sessionid:1")
    client.sends("request:PULL HTTPR/1.0", "sessionid:1", "completed:0000000000000001", "outcome:COMMIT")
    client.fails()
    side.happened()
    begin(client, session=2)
    answer = client.says(
        "request:REPORT HTTPR/1.0", "sessionid:2", "completed:0000000000000001", "outcome:COMMIT"
    )  # fmt: skip
    assert answer == [
        "last-pulled-id:0000000000000002",
        "outcome:COMMIT",
        "completed:0000000000000000",
    ]
    assert side.happened() == ["restore 2", "<-- COMMIT 0"]
    answer = client.says("request:PULL HTTPR/1.0", "sessionid:2")
    assert answer == [
        "transactionid:0000000000000003",
        "outcome:COMMIT",
        "completed:0000000000000000",
        "<b>",
        LAST,
    ]
    assert side.happened() == ["set 3 indoubt, last-source-id=3", "<-- batch 3, COMMIT 0"]
    answer = client.says(
        "request:REPORT HTTPR/1.0", "sessionid:2", "completed:0000000000000003", "outcome:COMMIT"
    )  # fmt: skip
    assert answer == [
        "last-pulled-id:0000000000000000",
        "outcome:COMMIT",
        "completed:0000000000000000",
    ]
    assert side.happened() == ["commit 3", "remove last-source-id", "remove 1 messages", "<-- COMMIT 0"]


@pytest.mark.httpr("F7", "T22")
@pytest.mark.spec("HR-015", "HR-046", "HR-127")
def test_4_7_pipelined_pull() -> None:
    side, client = server(b"a", b"b", b"c")
    begin(client, capabilities=DEEP)
    first = client.sends("request:PULL HTTPR/1.0", "sessionid:1")
    second = client.sends("request:PULL HTTPR/1.0", "sessionid:1")
    assert [*client.hears(first), *client.hears(second)] == [
        "transactionid:0000000000000001",
        "outcome:COMMIT",
        "completed:0000000000000000",
        "<a>",
        LAST,
        "transactionid:0000000000000002",
        "outcome:COMMIT",
        "completed:0000000000000000",
        "<b>",
        LAST,
    ]
    assert side.happened() == [
        "set 1 indoubt, last-source-id=1",
        "<-- batch 1, COMMIT 0",
        "set 2 indoubt, last-source-id=2",
        "<-- batch 2, COMMIT 0",
    ]
    client.says("request:PULL HTTPR/1.0", "sessionid:1", "completed:0000000000000002", "outcome:COMMIT")
    assert side.happened() == [
        "commit 1",
        "commit 2",
        "remove 2 messages",
        "set 3 indoubt, last-source-id=3",
        "<-- batch 3, COMMIT 0",
    ]
    answer = client.says(
        "request:REPORT HTTPR/1.0",
        "sessionid:1",
        "session:end",
        "completed:0000000000000003",
        "outcome:COMMIT",
    )
    assert answer[:2] == ["session:end", "last-pulled-id:0000000000000000"]
    assert side.happened() == ["commit 3", "remove last-source-id", "remove 1 messages", "<-- COMMIT 0"]


@pytest.mark.httpr("F8", "T21")
@pytest.mark.spec("HR-072")
def test_4_8_exchange() -> None:
    side, client = server(b"x", b"y")
    begin(client, capabilities=f"{CAPABILITIES},maximum_batch_size=1")
    answer = client.says(
        "request:EXCHANGE HTTPR/1.0", "sessionid:1", "transactionid:0000000000000001", "<a>", LAST
    )  # fmt: skip
    assert answer == [
        "transactionid:0000000000000001",
        "outcome:COMMIT",
        "completed:0000000000000001",
        "<x>",
        LAST,
    ]
    assert side.happened() == [
        "save a",
        "last-received-id=1 COMMIT",
        "set 1 indoubt, last-source-id=1",
        "<-- batch 1, COMMIT 1",
    ]
    answer = client.says(
        "request:EXCHANGE HTTPR/1.0",
        "sessionid:1",
        "transactionid:0000000000000002",
        "completed:0000000000000001",
        "outcome:COMMIT",
        "<b>",
        LAST,
    )
    assert answer == [
        "transactionid:0000000000000002",
        "outcome:COMMIT",
        "completed:0000000000000002",
        "<y>",
        LAST,
    ]
    assert side.happened() == [
        "commit 1",
        "remove 1 messages",
        "save b",
        "last-received-id=2 COMMIT",
        "set 2 indoubt, last-source-id=2",
        "<-- batch 2, COMMIT 2",
    ]
    answer = client.says(
        "request:REPORT HTTPR/1.0",
        "sessionid:1",
        "session:end",
        "completed:0000000000000002",
        "outcome:COMMIT",
        "forget:0000000000000002",
    )
    assert answer == [
        "session:end",
        "last-pulled-id:0000000000000000",
        "outcome:COMMIT",
        "completed:0000000000000000",
    ]
    assert side.happened() == [
        "commit 2",
        "remove last-source-id",
        "remove last-received-id",
        "remove 1 messages",
        "<-- COMMIT 0",
    ]
    assert (side.bodies("incoming"), side.bodies("outgoing")) == ([b"a", b"b"], [])


@pytest.mark.httpr("F9", "T21")
@pytest.mark.spec("HR-060")
def test_4_9_push_followed_by_pull() -> None:
    side, client = server(b"x")
    begin(client)
    answer = client.says(
        "request:PUSH HTTPR/1.0", "sessionid:1", "transactionid:0000000000000001", "<a>", LAST
    )  # fmt: skip
    assert answer == ["outcome:COMMIT", "completed:0000000000000001"]
    assert side.happened() == ["save a", "last-received-id=1 COMMIT", "<-- COMMIT 1"]
    answer = client.says("request:PULL HTTPR/1.0", "sessionid:1")
    assert answer == [
        "transactionid:0000000000000001",
        "outcome:COMMIT",
        "completed:0000000000000001",
        "<x>",
        LAST,
    ]
    assert side.happened() == ["set 1 indoubt, last-source-id=1", "<-- batch 1, COMMIT 1"]
    answer = client.says(
        "request:REPORT HTTPR/1.0",
        "sessionid:1",
        "session:end",
        "completed:0000000000000001",
        "outcome:COMMIT",
        "forget:0000000000000001",
    )
    assert answer == [
        "session:end",
        "last-pulled-id:0000000000000000",
        "outcome:COMMIT",
        "completed:0000000000000000",
    ]
    assert side.happened() == [
        "commit 1",
        "remove last-source-id",
        "remove last-received-id",
        "remove 1 messages",
        "<-- COMMIT 0",
    ]
