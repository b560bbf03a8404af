"""Tests responses that cannot be used: they count as none (F-11), so our client asks what became of its
batches.

Nothing of it is stored or settled.  When the responses are valid again, each message is there once.
"""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.settings import Peer
from tests.scenes.httpr.harness import ScriptedServer, Side
from tests.scenes.httpr.script import to_bytes

RESPONDER = "httpr://yourhost/service"
THERE = "DIRECT=HTTPR://yourhost/service#orders"
LAST = "payload-disposition:last"
PULLED = to_bytes("transactionid:0000000000000001", "<a>", LAST)
GREETING = (f"responder:{RESPONDER}", "outcome:COMMIT", "completed:0000000000000000")
ELEVEN = " ".join(["<a>"] * 11)

ANYTHING = {
    "nothing": b"",
    "a page": b"<html><body>503</body></html>",
    "a header without an end": b"outcome:COMMIT\r\ncompleted:0000000000000001\r\n",
    "a line without a colon": b"outcome COMMIT\r\n\r\n",
    "an outcome alone": b"outcome:COMMIT\r\n\r\n",
    "an unknown outcome": b"outcome:PERHAPS\r\ncompleted:0000000000000001\r\n\r\n",
    "a malformed id": b"outcome:COMMIT\r\ncompleted:000000000000000x\r\n\r\n",
    "two outcomes": b"outcome:COMMIT\r\noutcome:ROLLBACK\r\ncompleted:0000000000000001\r\n\r\n",
    "a malformed error": b"error:many\r\n\r\n",
}
BATCHES = {
    "only the header": PULLED[: PULLED.index(b"\r\n\r\n") + 4],
    "no terminator": PULLED.removesuffix(b"payload-disposition:last\r\n"),
    "half a terminator": PULLED[:-3],
    "another terminator": PULLED.replace(b":last", b":maybe"),
    "half a message": PULLED[: PULLED.index(b"a\r\n")],
    "a size that is wrong": PULLED.replace(b"size:1", b"size:2"),
    "the id zero": PULLED.replace(b"0000000000000001", b"0000000000000000"),
    "something behind it": PULLED + b"x",
    "more messages than agreed": to_bytes("transactionid:0000000000000001", ELEVEN, LAST),
    "a larger one than agreed": to_bytes("transactionid:0000000000000001", "<" + "a" * 101 + ">", LAST),
}


def begin(side: Side, session: int) -> ScriptedServer:
    """Grant a session to a client; return the server, which waits for further requests."""
    server = ScriptedServer(side)
    greet(server, session)
    return server


def greet(server: ScriptedServer, session: int) -> None:
    assert server.hears()[0] == "request:GET-RESPONDER-INFO HTTPR/1.0"
    limits = "capabilities:maximum_pipeline_depth=1,maximum_batch_size=10,maximum_message_size=100"
    server.answers("HTTPR/1.0", *GREETING, f"sessionid:{session}", limits)


@pytest.mark.httpr("T46", "T08")
@pytest.mark.spec("HR-020", "HR-021", "HR-125")
@pytest.mark.parametrize("data", ANYTHING.values(), ids=ANYTHING)
def test_a_push_whose_response_cannot_be_used_is_in_doubt(data: bytes) -> None:
    side = Side("myhost", Peer(responder=RESPONDER, channel="primary"))
    side.send(THERE, b"a")
    server = begin(side, 1)
    assert server.hears()[0] == "request:PUSH HTTPR/1.0"
    side.happened()
    server.answers_with(data)
    assert side.channel.in_doubt == (1,)
    assert side.happened() in ([], ["--> GET-RESPONDER-INFO"])
    side.advance(5)
    greet(server, 2)
    assert server.hears() == [
        "request:REPORT HTTPR/1.0",
        "sessionid:2",
        "outcome:COMMIT",
        "completed:0000000000000000",
        "last-pushed-id:0000000000000001",
    ]
    server.answers("last-pulled-id:0000000000000000", "outcome:COMMIT", "completed:0000000000000001")
    assert side.happened()[-2:] == ["commit 1", "remove 1 messages"]
    assert server.is_silent


@pytest.mark.httpr("T46", "T17")
@pytest.mark.spec("HR-022", "HR-023", "HR-117")
@pytest.mark.parametrize("data", [*ANYTHING.values(), *BATCHES.values()], ids=[*ANYTHING, *BATCHES])
def test_a_pull_whose_response_cannot_be_used_is_asked_about(data: bytes) -> None:
    side = Side("myhost", Peer(responder=RESPONDER, channel="primary", pull=True, into="incoming"))
    server = begin(side, 1)
    assert server.hears()[0] == "request:PULL HTTPR/1.0"
    side.happened()
    server.answers_with(data)
    assert side.happened() in ([], ["--> GET-RESPONDER-INFO"])
    side.advance(5)
    greet(server, 2)
    assert server.hears()[0] == "request:REPORT HTTPR/1.0"
    server.answers("last-pulled-id:0000000000000001", "outcome:COMMIT", "completed:0000000000000000")
    assert server.hears()[0] == "request:PULL HTTPR/1.0"
    server.answers("transactionid:0000000000000002", "<a>", LAST)
    assert side.happened()[-4:] == ["--> PULL", "save a", "last-received-id=2 COMMIT", "--> PULL"]
    assert (side.bodies("incoming"), side.loose) == ([b"a"], 0)
