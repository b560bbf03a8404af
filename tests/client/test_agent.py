"""An application's end of HTTPR, with a server that a test plays, and with a real one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import reliquary
from reliquary import AsyncAgent, BadRequest, NotFound, ReliquaryError, ServerUnreachable
from reliquary.client import agent as module
from reliquary.engine.open import OpenedEngine
from reliquary.net.httpr.bodies import EngineBodies
from reliquary.net.httpr.courier import Courier
from reliquary.net.identity.users import User
from reliquary.protocols.httpr.codec.values import Command, Disposition, ErrorNumber
from reliquary.protocols.httpr.effects import HangUp, SendRequest
from reliquary.protocols.httpr.events import Failure, RequestFailed, ResponseArrived
from reliquary.protocols.httpr.soap import Soap, SoapVersion, soap_of
from reliquary.queueing.model.message import FOREVER, Message
from tests.client.served import served, turn
from tests.net.http.certificate import PEM, client_context
from tests.net.identity.cheap_hash import cheap_hash
from tests.protocols.httpr.far_server import Answered, Far

FAR = "http://far.example"
QUICK = (0.01,)
Scene = Callable[[AsyncAgent], Awaitable[None]]


class Network:
    """A network in place of the courier: a far server answers all requests, or there is no answer."""

    def __init__(self) -> None:
        self.is_there = True
        self.stored: list[bytes] = []
        self.waiting: list[bytes] = []
        self.refused: frozenset[bytes] = frozenset()
        self.refusal = Far.refusal
        self.asked: list[Command] = []
        self.sent: list[Message] = []
        self.requesters: set[str] = set()
        self._channels: dict[int, Far] = {}

    def plug_in(self, opened: OpenedEngine, *, on_settled: Callable[[], None], **options: Any) -> Courier:
        def send(request: SendRequest) -> None:
            self.asked.append(request.header.command)
            self.sent += request.batch
            if request.header.requester:
                self.requesters.add(request.header.requester)
            key = (request.channel, request.epoch, request.number)
            if self.is_there:
                opened.engine.submit(ResponseArrived(*key, *self._take(request), Disposition.LAST))
            else:
                opened.engine.submit(RequestFailed(*key, Failure.NO_CONNECTION, "no server is there"))
            on_settled()

        opened.engine.performers |= {SendRequest: send, HangUp: lambda _: None}
        bodies = EngineBodies(opened.engine, opened.state)
        return Courier(lambda _: None, bodies, response_time=options["response_time"])

    def _take(self, request: SendRequest) -> Answered:
        far = self._channels.get(request.channel)
        if far is None:
            far = self._channels[request.channel] = Far(
                stored=self.stored, waiting=self.waiting, refused=self.refused, refusal=self.refusal
            )
        return far.take(request)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    made = Network()
    monkeypatch.setattr(module, "plug_in", made.plug_in)
    return made


def play(folder: Path, scene: Scene, server: str = FAR, **options: Any) -> None:
    async def whole() -> None:
        options.setdefault("name", "laptop/app")
        options.setdefault("retry", QUICK)
        async with reliquary.agent_async(folder, server, **options) as agent:
            await asyncio.wait_for(scene(agent), 20)

    asyncio.run(whole())


# -- to the server


def test_what_is_sent_arrives_and_flush_returns_then(tmp_path: Path, network: Network) -> None:
    async def scene(agent: AsyncAgent) -> None:
        sent = await agent.send("orders", "two lamps")
        await agent.send_many("orders", ["three", "four"])
        await agent.flush()
        assert network.stored == [b"two lamps", b"three", b"four"]
        assert sent.id
        assert network.requesters == {"httpr://laptop/app"}
        status = await agent.status()
        assert (status.name, status.server) == ("httpr://laptop/app", "httpr://far.example/httpr/mq")
        assert (status.waiting, status.refused) == (0, 0)
        assert [each.name for each in status.channels] == ["orders"]

    play(tmp_path, scene)


def test_a_message_without_a_server_waits_across_restarts(tmp_path: Path, network: Network) -> None:
    network.is_there = False

    async def alone(agent: AsyncAgent) -> None:
        await agent.send("orders", "two lamps")
        with pytest.raises(ServerUnreachable, match=r"1 message still waits for .*: no server is there"):
            await agent.flush(0.05)
        assert (await agent.status()).waiting == 1

    async def later(agent: AsyncAgent) -> None:
        await agent.flush()
        assert network.stored == [b"two lamps"]

    play(tmp_path, alone)
    network.is_there = True
    play(tmp_path, later)


def test_flush_waits_until_the_server_is_there(tmp_path: Path, network: Network) -> None:
    network.is_there = False

    async def scene(agent: AsyncAgent) -> None:
        await agent.send("orders", "two lamps")
        flushing = asyncio.create_task(agent.flush(None))
        while len(network.asked) < 3:
            await turn()
        assert not flushing.done()
        network.is_there = True
        await flushing
        assert network.stored == [b"two lamps"]

    play(tmp_path, scene)


def test_what_the_server_refuses_is_reported_once_and_kept(tmp_path: Path, network: Network) -> None:
    network.refused = frozenset({b"bad"})

    async def scene(agent: AsyncAgent) -> None:
        for body in ("good", "bad", "better"):
            await agent.send("orders", body)
        with pytest.raises(ReliquaryError, match="refused 1 of the messages for good") as raised:
            await agent.flush()
        assert raised.value.code == "REFUSED"
        await agent.flush()
        assert network.stored == [b"good", b"better"]
        letter = await agent.dead_letters().receive()
        assert letter is not None
        assert (letter.text, letter.message_class) == ("bad", "nack-access-denied")
        assert (await agent.status()).refused == 1

    play(tmp_path, scene)


def test_flush_says_which_queue_the_server_does_not_have(tmp_path: Path, network: Network) -> None:
    network.refused, network.refusal = frozenset({b"a", b"b"}), ErrorNumber.SINK_NOT_KNOWN

    async def scene(agent: AsyncAgent) -> None:
        await agent.send("new orders", "a")
        await agent.send("new orders", "b")
        while Command.PUSH not in network.asked[1:]:
            await turn()
        with pytest.raises(ServerUnreachable, match=r"2 messages still wait .*: the server has no queue new"):
            await agent.flush(0.2)

    play(tmp_path, scene)


def test_an_aborted_block_sends_nothing(tmp_path: Path, network: Network) -> None:
    async def scene(agent: AsyncAgent) -> None:
        async def fails() -> None:
            async with agent.transaction():
                await agent.send("orders", "no")
                raise KeyError

        with pytest.raises(KeyError):
            await fails()
        async with agent.transaction():
            await agent.send("orders", "yes")
            await agent.send("bills", "yes, too")
        await agent.flush()
        assert sorted(network.stored) == [b"yes", b"yes, too"]

    play(tmp_path, scene)


def test_a_message_waits_for_ever_unless_it_says_otherwise(tmp_path: Path, network: Network) -> None:
    async def scene(agent: AsyncAgent) -> None:
        await agent.send("orders", "a")
        await agent.send("orders", reliquary.OutgoingMessage(body=b"b", reach=60))
        await agent.send("orders", "c", deadletter=False)
        await agent.flush()
        assert [each.time_to_reach_queue for each in network.sent] == [FOREVER, 60, FOREVER]
        assert [each.negative_journaling for each in network.sent] == [True, False, False]

    play(tmp_path, scene)


def test_soap_has_its_fields(tmp_path: Path, network: Network) -> None:
    async def scene(agent: AsyncAgent) -> None:
        await agent.send_soap("orders", "<Envelope/>", "urn:order", httpr={"app-shop": "berlin"})
        await agent.send_soap("orders", "<Envelope/>", "urn:order", "1.2")
        await agent.flush()
        one, two = map(soap_of, network.sent)
        assert one == Soap(b"<Envelope/>", "urn:order", SoapVersion.SOAP_1_1)
        assert two == Soap(b"<Envelope/>", "urn:order", SoapVersion.SOAP_1_2)
        assert "app-shop:berlin" in network.sent[0].carrier_header
        with pytest.raises(BadRequest, match="version is 1"):
            await agent.send_soap("orders", "<Envelope/>", version="2")  # type: ignore[arg-type]

    play(tmp_path, scene)


# -- from the server


def test_what_is_fetched_is_received_in_a_block(tmp_path: Path, network: Network) -> None:
    network.waiting = [b"one", b"two"]

    async def scene(agent: AsyncAgent) -> None:
        async def fails() -> None:
            async with agent.receive("replies", timeout=None) as message:
                assert message is not None
                await agent.send("orders", "never")
                raise KeyError

        with pytest.raises(KeyError):
            await fails()
        async with agent.receive("replies", timeout=5) as message:
            assert message is not None
            assert (message.text, message.aborted) == ("one", 1)
            await agent.send("orders", f"done with {message.text}")
        async with agent.consume("replies", timeout=0) as messages:
            assert [each.text async for each in messages] == ["two"]
        async with agent.receive("replies") as message:
            assert message is None
        await agent.flush()
        assert network.stored == [b"done with one"]

    play(tmp_path, scene, inbox=("replies",))


def test_no_transaction_grows_old_while_it_waits_for_a_message(tmp_path: Path, network: Network) -> None:
    async def scene(agent: AsyncAgent) -> None:
        async def enter() -> str:
            async with agent.receive("replies", timeout=None) as message:
                assert message is not None
                return message.text

        waiting = asyncio.create_task(enter())
        while not (await agent.queue("replies").info()).readers_waiting:
            pass
        assert await agent.manager.transactions() == []
        await agent.queue("replies").send("late")
        assert await waiting == "late"
        assert [each async for each in agent.queue("replies").browse()] == []

    play(tmp_path, scene, inbox=("replies",))


def test_only_queues_that_were_named_are_fetched(tmp_path: Path, network: Network) -> None:
    async def scene(agent: AsyncAgent) -> None:
        with pytest.raises(BadRequest, match=r"fetches no queue 'orders'.*: replies, answers"):
            agent.receive("orders")
        with pytest.raises(BadRequest, match="fetches no queue"):
            agent.consume("orders")

    play(tmp_path, scene, fetch=("replies",), inbox=("answers",))


# -- the agent itself


@pytest.mark.spec("HR-087")
def test_a_folder_belongs_to_one_agent_for_all_time(tmp_path: Path, network: Network) -> None:
    async def scene(agent: AsyncAgent) -> None:
        await agent.send("orders", "a")
        await agent.flush()

    play(tmp_path, scene)
    why = "belongs to the agent httpr://laptop/app, and cannot be opened as httpr://laptop/other"
    with pytest.raises(BadRequest, match=why):
        play(tmp_path, scene, name="laptop/other")
    play(tmp_path, scene)  # the folder is free again


def test_an_agent_can_be_awaited_too(tmp_path: Path, network: Network) -> None:
    async def whole() -> None:
        async with await reliquary.agent_async(tmp_path, FAR, name="laptop/app") as agent:
            await agent.send("orders", "a")
            await agent.flush()

    asyncio.run(whole())
    assert network.stored == [b"a"]


def test_a_malformed_token_and_an_empty_ladder_are_refused(tmp_path: Path, network: Network) -> None:
    async def never(agent: AsyncAgent) -> None:
        raise AssertionError(f"it was opened: {agent}")

    with pytest.raises(BadRequest, match="a token is made of"):
        play(tmp_path, never, token="two words")
    with pytest.raises(BadRequest, match="retry_ladder needs at least one span"):
        play(tmp_path, never, retry=())
    assert list(tmp_path.iterdir()) == []


# -- a real server


def test_both_ways_and_answers_with_a_real_server(tmp_path: Path) -> None:
    with (
        served(tmp_path / "server") as running,
        reliquary.connect(running.data, control=running.control) as there,
    ):
        there.create_queue("orders")
        there.create_queue("replies")

        async def scene(agent: AsyncAgent) -> None:
            await agent.send("orders", "two lamps", response_queue="answers", httpr={"app-shop": "berlin"})
            await agent.flush()
            order = await asyncio.to_thread(there.queue("orders").receive, 20)
            assert order is not None
            assert order.httpr is not None
            assert (order.httpr["class-of-service"], order.httpr["app-shop"]) == ("assured", "berlin")
            assert order.response_queue == "DIRECT=HTTPR://laptop/app#answers"
            await asyncio.to_thread(there.reply, order, "yes")
            await asyncio.to_thread(there.queue("replies").send, "one", label="first")
            async with agent.receive("replies", timeout=20) as message:
                assert message is not None
                assert (message.text, message.label) == ("one", "first")
            async with agent.receive("answers", timeout=20) as message:
                assert message is not None
                assert (message.text, message.correlation) == ("yes", order.id)

        play(tmp_path / "agent", scene, running.data, fetch=("replies",), inbox=("answers",))


def test_a_token_says_who_asks(tmp_path: Path) -> None:
    root = User(name="root", token_sha256=sha256(b"secret").hexdigest(), groups=("administrators",))
    with (
        served(tmp_path / "server", users=(root,)) as running,
        reliquary.connect(running.data, control=running.control, token="secret") as there,
    ):
        there.create_queue("orders")
        there.revoke("everyone", queue="orders")
        there.revoke("anonymous", queue="orders")

        async def denied(agent: AsyncAgent) -> None:
            await agent.send("orders", "a")
            with pytest.raises(ServerUnreachable, match="525 AGENT-SECURITY"):
                await agent.flush(1)

        async def known(agent: AsyncAgent) -> None:
            await agent.flush()

        play(tmp_path / "agent", denied, running.data)
        play(tmp_path / "agent", known, running.data, token="secret")
        message = there.queue("orders").receive()
        assert message is not None
        assert message.text == "a"


def test_a_user_and_a_password_say_who_asks(tmp_path: Path) -> None:
    root = User(name="root", password_hash=cheap_hash("secret"), groups=("administrators",))
    proof: Any = {"user": "root", "password": "secret"}
    with (
        served(tmp_path / "server", users=(root,)) as running,
        reliquary.connect(running.data, control=running.control, **proof) as there,
    ):
        there.create_queue("orders")

        async def known(agent: AsyncAgent) -> None:
            await agent.send("orders", "a")
            await agent.flush()

        play(tmp_path / "agent", known, running.data, **proof)
        message = there.queue("orders").receive()
        assert message is not None
        assert message.text == "a"
        with pytest.raises(BadRequest, match="not both"):
            play(tmp_path / "other", known, running.data, token="x", **proof)


def test_over_tls_a_server_is_trusted_when_we_say_so(tmp_path: Path) -> None:
    with (
        served(tmp_path / "server", certificate=PEM) as running,
        reliquary.connect(running.data, control=running.control, tls=client_context()) as there,
    ):
        there.create_queue("orders")

        async def strange(agent: AsyncAgent) -> None:
            await agent.send("orders", "a")
            with pytest.raises(ServerUnreachable, match="certificate"):
                await agent.flush(1)

        async def trusted(agent: AsyncAgent) -> None:
            await agent.flush()

        play(tmp_path / "agent", strange, running.data)
        play(tmp_path / "agent", trusted, running.data, tls=client_context())
        assert there.queue("orders").receive() is not None


def test_any_agent_can_be_the_server(tmp_path: Path) -> None:
    with (
        served(tmp_path / "server") as running,
        reliquary.connect(running.data, control=running.control) as there,
    ):
        there.create_queue("orders")
        uri = f"httpr://{running.data.removeprefix('http://')}/httpr/mq"

        async def scene(agent: AsyncAgent) -> None:
            await agent.send("orders", "a", response_queue="answers")
            await agent.flush()
            order = await asyncio.to_thread(there.queue("orders").receive, 20)
            assert order is not None
            await asyncio.to_thread(there.reply, order, "b")
            async with agent.receive("answers", timeout=20) as message:
                assert message is not None
                assert message.text == "b"

        play(tmp_path / "agent", scene, uri, inbox=("answers",))


def test_the_channels_of_an_agent_are_administered_like_those_of_a_server(
    tmp_path: Path, network: Network
) -> None:
    async def scene(agent: AsyncAgent) -> None:
        manager = agent.manager
        await agent.send("orders", "a")
        await agent.flush()
        [channel] = await manager.channels()
        assert channel == await manager.channel(1)
        assert (await manager.report_channel(1)).state == "ready"
        assert network.asked[-1] is Command.REPORT
        with pytest.raises(ReliquaryError, match="nothing is in doubt on channel 1") as raised:
            await manager.settle_channel(1, arrived=True)
        assert raised.value.code == "NOT_DONE"
        assert (await manager.forget_channel(1)).source_forgotten
        network.is_there = False
        with pytest.raises(ReliquaryError, match="no server is there"):
            await manager.report_channel(1)
        for steer in (manager.channel, manager.report_channel, manager.forget_channel):
            with pytest.raises(NotFound, match="there is no channel 9"):
                await steer(9)

    play(tmp_path, scene)
