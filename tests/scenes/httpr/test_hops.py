"""Tests messages over more than one agent: each hop is a channel of its own, and no hop changes a message.

Each hop counts itself in a field of ours, behind those that came.

a foreign agent --> beta, which passes on --> gamma, whose queue it is for
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.protocols.httpr.fields import fields_of
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.queueing.model.message import Message
from reliquary.server.httpr_options import HttprOptions
from tests.net.http.harness import post, until, wire
from tests.scenes.httpr.harness import ScriptedClient, Side, settings
from tests.scenes.httpr.network import Network
from tests.scenes.httpr.script import to_bytes
from tests.server.test_httpr_between import agent
from tests.server.test_srmp_between import Site, play, site, texts

WHO = ("requester:httpr://alpha.example/app", "channel:primary")
FIELDS = (
    "target-uri:httpr://gamma.example/httpr/mq#incoming",
    "class-of-service:assured",
    "priority:9",
    "user-id:alice",
    "encoding:integer-reversed,float-s390",
    "reply-uri:httpr://alpha.example/app#Answers@QM1",
    "message-id:order-7",
    "correlation-id:AbC-6",
    "put-time:14 Nov 2023 22:13:20",
    "expiry:3600",
    "content-type:Pcf/pcf; charset=iso-8859-4",
    "app-shop:Berlin  Mitte",
    "App-Odd-Case:1",
)
MESSAGE = "<order|" + "|".join(FIELDS) + ">"
LAST = "payload-disposition:last"
HOP = "app-reliquary-hops:1\r\n"


def first(side: Side, path: str = "incoming") -> Message:
    """Return the message at the head of a queue."""
    position = side.queue(path).order.first()
    assert position is not None, f"nothing is in {path}"
    return side.state.messages.get(position)


@pytest.mark.httpr("T37")
@pytest.mark.spec("HR-048", "HR-108", "HR-109")
def test_a_message_goes_over_a_forwarder_unchanged() -> None:
    beta = Side("beta.example", chosen=settings(forward=True))
    gamma = Side("gamma.example")
    network = Network(beta, gamma)
    alpha = ScriptedClient(beta, service="mq")
    answer = alpha.says("request:PUSH HTTPR/1.0", *WHO, "transactionid:0000000000000007", MESSAGE, LAST)
    assert answer[-2:] == ["outcome:COMMIT", "completed:0000000000000007"]
    network.carry()
    header = "".join(f"{field}\r\n" for field in FIELDS) + HOP
    (pushed,) = [each for each in network.went if each.request.batch]
    assert f"message-size:5\r\n{header}\r\norder\r\n".encode() in pushed.data
    assert "transactionid:0000000000000001" in pushed.lines  # another channel, and ids of its own
    came = first(gamma)
    assert (came.body, came.carrier_header) == (b"order", header)
    assert fields_of(came)["app-shop"] == "Berlin  Mitte"
    assert beta.bodies("incoming") == []


@pytest.mark.httpr("T37")
@pytest.mark.spec("HR-109")
def test_three_managers_pass_a_message_on_each_over_a_channel_of_its_own() -> None:
    """Alpha has only a route to beta for messages to gamma; beta sends them there."""
    over_beta = Peer(responder="httpr://beta.example/httpr/mq", carries=("httpr://gamma.example/*",))
    alpha = Side("alpha.example", over_beta)
    beta = Side("beta.example", chosen=settings(forward=True))
    gamma = Side("gamma.example")
    network = Network(alpha, beta, gamma)
    alpha.send("httpr://gamma.example/httpr/mq#incoming", b"one", b"two")
    network.carry()
    assert gamma.bodies("incoming") == [b"one", b"two"]
    assert beta.bodies("incoming") == []
    pushes = [each for each in network.went if each.request.batch]
    assert [each.request.url for each in pushes] == [
        "http://beta.example/httpr/mq",
        "http://gamma.example/httpr/mq",
    ]
    sent, passed_on = (each.data.partition(b"message-size:")[2] for each in pushes)
    assert f"message-id:{alpha.state.identity().identifier}." in sent.decode()
    as_sent = passed_on.replace(HOP.encode(), b"")
    assert as_sent == sent, "the batch differs in the hop of each message alone"
    assert len(passed_on) - len(as_sent) == 2 * len(HOP)


@pytest.mark.httpr("T37")
@pytest.mark.spec("HR-109")
def test_the_next_hop_may_fetch_the_message() -> None:
    """One agent pushes, the other pulls: beta never dials a client that fetches."""
    beta = Side("beta.example", chosen=settings(forward=True))
    gamma = Side("gamma.example", Peer(responder="httpr://beta.example/httpr/mq", pull=True))
    network = Network(beta, gamma)
    network.carry()  # gamma waits there already
    alpha = ScriptedClient(beta, service="mq")
    alpha.says("request:PUSH HTTPR/1.0", *WHO, "transactionid:0000000000000001", MESSAGE, LAST)
    network.advance(0.5)
    assert first(gamma).carrier_header == "".join(f"{field}\r\n" for field in FIELDS) + HOP
    assert [each.request.header.command.value for each in network.went if each.request.batch] == []
    assert beta.requests == []


@pytest.mark.spec("HR-050", "HR-118")
def test_a_forwarder_that_crashes_in_between_loses_and_doubles_nothing() -> None:
    beta = Side("beta.example", chosen=settings(forward=True))
    gamma = Side("gamma.example")
    network = Network(beta, gamma)
    network.loses_answer = lambda lines: "transactionid:0000000000000001" in lines
    alpha = ScriptedClient(beta, service="mq")
    alpha.says("request:PUSH HTTPR/1.0", *WHO, "transactionid:0000000000000001", MESSAGE, LAST)
    beta.flush()
    network.crash(beta)  # gamma has not got the answer
    network.carry()  # now it has, and beta does not know
    beta.flush()
    assert gamma.bodies("incoming") == [b"order"]
    network.crash(beta)
    network.advance(5)
    assert gamma.bodies("incoming") == [b"order"]
    assert [len(queue.order) + len(queue.order.locked) for queue in beta.state.names.outgoing.values()] == [0]


@pytest.mark.httpr("T34")
@pytest.mark.spec("HR-084")
def test_a_manager_that_forwards_nothing_refuses_a_message_for_another_agent() -> None:
    beta = Side("beta.example")
    alpha = ScriptedClient(beta, service="mq")
    answer = alpha.says(
        "request:PUSH HTTPR/1.0", *WHO, "transactionid:0000000000000001", "<mine>", MESSAGE, LAST
    )  # fmt: skip
    assert answer == [
        "responder:httpr://beta.example/httpr/mq",
        "session:end",
        "outcome:ROLLBACK",
        "completed:0000000000000001",
        "error:518 SINK-NOT-KNOWN",
        "app-reliquary-reason:the message has no target-uri",
    ]
    assert beta.happened() == ["last-received-id=1 ROLLBACK", "<-- ROLLBACK 1, 518"]
    assert (beta.requests, beta.bodies("incoming")) == ([], [])


@pytest.mark.httpr("T37")
@pytest.mark.spec("HR-005", "HR-109")
def test_a_message_goes_over_real_servers(tmp_path: Path) -> None:
    forwards = HttprOptions(protocol=HttprSettings(forward=True))

    async def scene() -> None:
        async with (
            site(tmp_path / "beta", tables=(forwards,)) as beta,
            site(tmp_path / "gamma", tables=(HttprOptions(),)) as gamma,
        ):
            await gamma.create("orders")
            target = f"target-uri:{agent(gamma, 'mq')}#orders"
            message = f"<order|{target}|message-id:order-7|app-shop:Berlin>"
            push = to_bytes("request:PUSH HTTPR/1.0", *WHO, "transactionid:0000000000000001", message, LAST)
            assert b"outcome:COMMIT" in await _post(beta, push)
            (came,) = await gamma.receive("orders", 1)
            assert texts([came]) == ["order"]
            assert came["httpr"] == {
                "target-uri": target.removeprefix("target-uri:"),
                "message-id": "order-7",
                "app-shop": "Berlin",
                "app-reliquary-hops": "1",
            }
            await until(lambda: beta.waiting == 0)

    play(scene)


async def _post(there: Site, body: bytes) -> bytes:
    async with wire(int(there.url.rpartition(":")[2])) as client:
        client.send(post("/httpr/mq", body))
        return (await client.read())[1]
