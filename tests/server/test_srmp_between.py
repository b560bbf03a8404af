"""Tests two whole servers in one process: messages and receipts over real sockets, plain and by TLS."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import uvloop

import reliquary
from reliquary.base.time import seconds
from reliquary.net.http import HttpClient
from reliquary.net.identity.users import User
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import Count
from reliquary.protocols.srmp.views import streams
from reliquary.queueing.model.events import CreateQueue
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.security.principals import Principal, user_sid
from reliquary.server.build import Server, build
from reliquary.server.config import Settings
from reliquary.server.exits import Exit
from reliquary.server.srmp import SrmpEndpoint
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.table import Options
from tests.net.http.harness import until
from tests.net.srmp.certificates import Authority
from tests.server.endpoints import endpoint_of
from tests.server.process import ends

SOON: dict[str, Any] = {
    "retransmission": seconds(0.1),
    "resend_ladder": (seconds(0.5),),
    "coalescing": seconds(0.02),
}


@dataclass
class Site:
    """A server and a client of it."""

    server: Server
    client: HttpClient
    url: str
    """`http://localhost:port`, as another manager names it."""

    def destination(self, queue: str) -> str:
        return f"DIRECT={self.url}/msmq/private$/{queue}"

    async def call(self, path: str, body: object) -> Any:
        answer = await self.client.request("POST", f"/api/v1/{path}", json.dumps(body).encode())
        assert answer.status < 300, answer.body
        return json.loads(answer.body) if answer.body else None

    async def create(self, queue: str, *, transactional: bool = False) -> None:
        settings = QueueSettings(transactional=transactional)
        await self.server.opened.engine.ask(lambda to: CreateQueue(to, queue, settings))

    async def send(self, destination: str, *texts: str, **fields: object) -> None:
        messages = [{"text": text, **fields} for text in texts]
        await self.call(f"queues/{quote(destination, safe='')}/messages", messages)

    async def commit(self, destination: str, *texts: str, **fields: object) -> None:
        transaction = (await self.call("transactions", {}))["transaction"]
        path = f"queues/{quote(destination, safe='')}/messages?transaction={transaction}"
        await self.call(path, [{"text": text, **fields} for text in texts])
        await self.call(f"transactions/{transaction}/commit", {})

    async def receive(self, queue: str, count: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while len(found) < count:
            found += (await self.call(f"queues/{queue}/receive", {"timeout": 20, "count": 50}))["messages"]
        return found

    @property
    def waiting(self) -> int:
        """Return the number of messages in all outgoing queues."""
        outgoing = self.server.opened.state.names.outgoing.values()
        return sum(len(each.order) + len(each.order.locked) for each in outgoing)


@asynccontextmanager
async def site(
    folder: Path, *, tls: ssl.SSLContext | None = None, tables: tuple[Options, ...] = (), **chosen: Any
) -> AsyncIterator[Site]:
    if not any(isinstance(each, SrmpOptions) for each in tables):
        tables = (SrmpOptions(protocol=SrmpSettings(**SOON)), *tables)
    settings = Settings(folder=folder, data_port=0, control_port=0, tables=tables, **chosen)
    server = await build(settings)
    data, _ = await server.listen(settings)
    url = data.replace("127.0.0.1", "localhost")
    try:
        async with HttpClient(url, tls=tls) as client:
            yield Site(server, client, url)
    finally:
        await server.stop()


def play(scene: Callable[[], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_within(scene))


async def _within(scene: Callable[[], Awaitable[None]]) -> None:
    await asyncio.wait_for(scene(), 60)


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [b64decode(each["body"]).decode() for each in messages]


@pytest.mark.srmp("T-11", "T-26", "T-35")
@pytest.mark.spec("SR-001", "SR-002", "SR-291")
def test_a_message_goes_from_one_server_to_another_and_its_receipt_comes_back(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a") as a, site(tmp_path / "b") as b:
            await a.create("admin")
            await b.create("orders")
            receipts = {"administration_queue": a.destination("admin"), "acknowledgements": ["pos-arrival"]}
            await a.send(b.destination("orders"), "one", "two", label="fruit", priority=5, **receipts)
            came = await b.receive("orders", 2)
            assert texts(came) == ["one", "two"]
            assert {(each["label"], each["priority"]) for each in came} == {("fruit", 5)}
            receipts_came = await a.receive("admin", 2)
            assert [each["class"] for each in receipts_came] == ["ack-reach-queue"] * 2
            await until(lambda: a.waiting == b.waiting == 0)
            assert endpoint_of(b.server, SrmpEndpoint).receiving.answers == {200: 2}
            assert b.server.opened.machine(Srmp).state.counts[Count.RECEIPTS_SENT] == 2
            assert a.server.opened.machine(Srmp).state.counts[Count.RECEIPTS_RECEIVED] == 2

    play(scene)


@pytest.mark.srmp("T-29")
@pytest.mark.spec("SR-218", "SR-232")
def test_a_sender_is_notified_in_its_own_queue_what_became_of_the_message(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a") as a, site(tmp_path / "b") as b:
            await a.create("replies")
            await b.create("orders")
            for asked in ("pos-arrival", "pos-receive"):
                wanted = {"administration_queue": "replies", "acknowledgements": [asked]}
                await a.send(b.destination("orders"), asked, response_queue="replies", **wanted)
            came = await b.receive("orders", 2)
            reported = await a.receive("replies", 2)
            assert {each["class"]: each["correlation"] for each in reported} == {
                "ack-reach-queue": came[0]["id"],
                "ack-receive": came[1]["id"],
            }
            await b.send(came[0]["response_queue"], "answer")
            assert texts(await a.receive("replies", 1)) == ["answer"]

    play(scene)


@pytest.mark.srmp("T-36")
@pytest.mark.spec("SR-126", "SR-138")
def test_a_stream_comes_in_its_order_and_is_removed_when_it_is_receipted(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a") as a, site(tmp_path / "b") as b:
            await b.create("orders", transactional=True)
            await a.commit(b.destination("orders"), *map(str, range(20)))
            assert texts(await b.receive("orders", 20)) == [str(each) for each in range(20)]
            await until(lambda: a.waiting == 0)
            [into] = streams(b.server.opened.state, b.server.opened.machine(Srmp).state)
            assert (into.direction, into.last, into.acknowledged) == ("in", 20, 20)
            assert into.receipts_to.startswith(f"http://localhost:{a.url.rpartition(':')[2]}/")

    play(scene)


@pytest.mark.srmp("T-64")
@pytest.mark.spec("SR-003")
def test_streams_and_receipts_go_by_tls_between_servers_that_know_each_other(tmp_path: Path) -> None:
    ours = Authority(tmp_path, "ours")
    own = ours.vouch("both.example")
    client = ssl.create_default_context(cafile=str(ours.file))
    client.load_cert_chain(own)
    known = SrmpOptions(ca_file=ours.file, certificate=own, key=own, protocol=SrmpSettings(**SOON))
    tls: dict[str, Any] = {
        "tls_certificate": own, "tls_key": own, "tls_client_ca": ours.file, "tls_client_required": True,
    }  # fmt: skip

    async def scene() -> None:
        async with (
            site(tmp_path / "a", tls=client, tables=(known,), **tls) as a,
            site(tmp_path / "b", tls=client, tables=(known,), **tls) as b,
        ):
            await b.create("orders", transactional=True)
            assert b.url.startswith("https://")
            await a.commit(b.destination("orders"), "one", "two")
            assert texts(await b.receive("orders", 2)) == ["one", "two"]
            await until(lambda: a.waiting == 0)

    play(scene)


@pytest.mark.srmp("T-60")
@pytest.mark.spec("SR-311", "SR-129")
def test_a_relay_between_them_passes_a_stream_on(tmp_path: Path) -> None:
    async def scene() -> None:
        relaying = SrmpOptions(protocol=SrmpSettings(store_and_forward=True, **SOON))
        async with site(tmp_path / "b") as b, site(tmp_path / "relay", tables=(relaying,)) as relay:
            by_relay = Redirection(f"{b.url}/*", relay.url)
            sending = SrmpOptions(protocol=SrmpSettings(outbound_redirections=(by_relay,), **SOON))
            async with site(tmp_path / "a", tables=(sending,)) as a:
                await b.create("orders", transactional=True)
                await a.commit(b.destination("orders"), "one", "two", "three")
                assert texts(await b.receive("orders", 3)) == ["one", "two", "three"]
                await until(lambda: a.waiting == 0 and relay.waiting == 0)
                assert endpoint_of(relay.server, SrmpEndpoint).receiving.answers[200] >= 3

    play(scene)


@pytest.mark.srmp("T-14", "F-66")
def test_a_queue_that_is_made_later_gets_its_messages_and_one_that_is_full_does_not(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a") as a, site(tmp_path / "b") as b:
            answers = endpoint_of(b.server, SrmpEndpoint).receiving.answers
            await a.send(b.destination("later"), "found")
            await until(lambda: answers[400] >= 2)
            assert a.waiting == 1
            await b.create("later")
            assert texts(await b.receive("later", 1)) == ["found"]
            await until(lambda: a.waiting == 0)
            await b.server.opened.engine.ask(lambda to: CreateQueue(to, "full", QueueSettings(quota=0)))
            await a.send(b.destination("full"), "x")
            await until(lambda: answers[500] >= 2)
            assert a.waiting == 1

    play(scene)


def test_a_body_of_exactly_four_mebibytes_arrives(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "a") as a, site(tmp_path / "b") as b:
            await b.create("large")
            body = "x" * (4 * 1024 * 1024)
            await a.send(b.destination("large"), body)
            assert texts(await b.receive("large", 1)) == [body]

    play(scene)


def test_what_a_process_without_a_network_sends_waits_for_one_that_has_it(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "b") as b:
            await b.create("orders", transactional=True)
            destination = b.destination("orders")
            async with reliquary.connect_async(tmp_path / "a") as manager:
                async with manager.transaction():
                    await manager.queue(destination).send("one")
                    await manager.queue(destination).send("two")
                [outgoing] = await manager.outgoing()
                assert (outgoing.state, outgoing.messages, outgoing.failures) == ("waiting", 2, 0)
                assert await manager.streams() == []
            async with site(tmp_path / "a") as a:
                assert texts(await b.receive("orders", 2)) == ["one", "two"]
                await until(lambda: a.waiting == 0)

    play(scene)


def test_an_address_of_srmp_that_is_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, said = ends(tmp_path / "data", SRMP_HTTP_PORT=str(port))
    assert code == Exit.PORT_IN_USE
    assert f"127.0.0.1:{port} (SRMP) is in use" in said
    assert "the settings of [srmp]" in said


@pytest.mark.parametrize("anonymous", [False, True], ids=["users alone", "everyone"])
def test_where_users_are_known_a_new_queue_is_open_to_other_managers_only_if_that_was_chosen(
    tmp_path: Path, anonymous: bool
) -> None:
    alice = User(name="alice", token_sha256="ab" * 32)
    chosen = SrmpOptions(anonymous_senders=anonymous, protocol=SrmpSettings(**SOON))

    async def scene() -> None:
        async with site(tmp_path / "a") as a, site(tmp_path / "b", tables=(chosen,), users=(alice,)) as b:
            maker = Principal(user_sid(b.server.opened.state.identity().identifier, "alice"), name="alice")
            await b.server.opened.engine.ask(lambda to: CreateQueue(to, "orders", by=maker))
            await a.send(b.destination("orders"), "x")
            await until(lambda: a.waiting == 0)
            assert endpoint_of(b.server, SrmpEndpoint).receiving.answers == {(200 if anonymous else 400): 1}

    play(scene)
