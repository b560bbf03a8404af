"""Over the network: lost requests and answers lose no message, and the caller gets the known outcome."""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import Awaitable, Callable

import msgspec
import pytest

import reliquary
from reliquary import (
    AsyncManager,
    BadRequest,
    Message,
    OutcomeUnknown,
    OutgoingMessage,
    QueueNotFound,
    ServerUnreachable,
    TransactionEnded,
)
from reliquary.client import remote
from reliquary.client.records import Received
from reliquary.net.clock import RealClock
from reliquary.net.http import Listener, Mount, Request, Responder
from reliquary.views import pages
from tests.client.lossy import Lossy, ProxyAction, lossy
from tests.client.served import Served

Scene = Callable[[AsyncManager, Lossy], Awaitable[None]]


@pytest.fixture
def play(server: Served) -> Callable[[Scene], None]:
    """Run a scene with a manager behind a proxy that loses the chosen requests and answers."""

    async def whole(scene: Scene) -> None:
        async with (
            lossy(server.data) as proxy,
            reliquary.connect_async(proxy.address, control=server.control) as qm,
        ):
            await qm.create_queue("orders")
            await asyncio.wait_for(scene(qm, proxy), 20)

    return lambda scene: asyncio.run(whole(scene))


Play = Callable[[Scene], None]


async def texts(qm: AsyncManager) -> list[str]:
    return [message.text async for message in qm.queue("orders").browse()]


def text(message: Message | None) -> str | None:
    return None if message is None else message.text


def test_a_lost_answer_to_receive_loses_no_message(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "HOLD", 0.05)

    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        orders = qm.queue("orders")
        await orders.send("precious")
        proxy.lose("/receive")
        assert text(await orders.receive(timeout=5)) == "precious"
        assert await texts(qm) == []
        assert proxy.actions == []

    play(scene)


def test_on_a_new_connection_the_caller_is_notified(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "HOLD", 0.05)

    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        proxy.lose("/receive")
        with pytest.raises(ServerUnreachable, match="does not answer"):
            await qm.queue("orders").receive()

    play(scene)


def test_a_lost_acknowledgement_is_sent_again(play: Play) -> None:
    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        orders = qm.queue("orders")
        await orders.send("precious")
        proxy.lose("/receipts", ProxyAction.LOSE_REQUEST)
        assert text(await orders.receive()) == "precious"
        assert (await orders.info()).locked == 0
        assert sum("/receipts" in path for path in proxy.seen) == 2

    play(scene)


def test_a_lost_answer_to_an_acknowledgement_is_an_unknown_outcome(play: Play) -> None:
    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        orders = qm.queue("orders")
        await orders.send_many(["precious", "second"])
        proxy.lose("/receipts")
        with pytest.raises(OutcomeUnknown, match="may be received or may come back") as unknown:
            await orders.receive_many(2)
        assert [message.text for message in unknown.value.messages] == ["precious", "second"]
        assert "and 1 more" in unknown.value.sentence
        assert await texts(qm) == []

    play(scene)


def test_an_acknowledgement_that_never_arrives_is_an_unknown_outcome(play: Play) -> None:
    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        orders = qm.queue("orders")
        await orders.send("precious")
        for _ in range(remote.ATTEMPTS):
            proxy.lose("/receipts", ProxyAction.LOSE_REQUEST)
        with pytest.raises(OutcomeUnknown):
            await orders.receive()
        assert (await orders.info()).locked == 1

    play(scene)


def test_an_acknowledgement_that_comes_too_late_receives_again(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hold ran out before the acknowledgement: the message is available again, and the caller sees no
    error.
    """

    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        orders = qm.queue("orders")
        await orders.send("precious")
        end_read = remote.RemoteTransport.end_read

        async def late(self: remote.RemoteTransport, receipt: str, *rest: object, delete: bool) -> None:
            monkeypatch.setattr(remote.RemoteTransport, "end_read", end_read)
            await end_read(self, receipt, *rest, delete=False)  # type: ignore[arg-type]
            await end_read(self, receipt, *rest, delete=delete)  # type: ignore[arg-type]

        monkeypatch.setattr(remote.RemoteTransport, "end_read", late)
        assert text(await orders.receive()) == "precious"
        assert sum(path.endswith("/receive") for path in proxy.seen) == 2

    play(scene)


def test_a_lost_answer_to_lookup_loses_no_message(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "HOLD", 0.05)

    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        orders = qm.queue("orders")
        sent = await orders.send("precious")
        proxy.lose("/lookup")
        while (message := await orders.lookup(sent.lookup_id, receive=True)) is None:
            pass
        assert message.text == "precious"
        assert await texts(qm) == []

    play(scene)


def test_a_lost_answer_to_send_is_an_unknown_outcome(play: Play) -> None:
    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        orders = qm.queue("orders")
        await orders.send("one")
        proxy.lose("/messages")
        with pytest.raises(OutcomeUnknown, match="may have done it or not") as unknown:
            await orders.send("two")
        assert unknown.value.code == "OUTCOME_UNKNOWN"
        assert await texts(qm) == ["one", "two"]

    play(scene)


def test_a_lost_answer_to_commit_is_an_unknown_outcome(play: Play) -> None:
    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        proxy.lose("/commit")
        transaction = qm.transaction()
        await transaction.begin()
        await transaction.queue("orders").send("x")
        with pytest.raises(OutcomeUnknown):
            await transaction.commit()
        assert await texts(qm) == ["x"]

    play(scene)


def test_after_prepare_a_lost_answer_to_commit_is_found_out(play: Play) -> None:
    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        proxy.lose("/prepare")
        proxy.lose("/commit")
        async with qm.transaction() as transaction:
            await qm.queue("orders").send("x")
            await transaction.prepare()
        assert proxy.actions == []
        assert await texts(qm) == ["x"]

    play(scene)


def test_a_lost_request_to_commit_is_sent_again(play: Play) -> None:
    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        proxy.lose("/commit", ProxyAction.LOSE_REQUEST)
        async with qm.transaction():
            await qm.queue("orders").send("x")
        assert await texts(qm) == ["x"]

    play(scene)


def test_in_a_transaction_a_lost_receive_ends_the_block_and_comes_back(play: Play) -> None:
    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        orders = qm.queue("orders")
        await orders.send("precious")
        proxy.lose("/receive")
        with pytest.raises(OutcomeUnknown):
            async with qm.transaction():
                await orders.receive()
        assert await texts(qm) == ["precious"]

    play(scene)


def test_a_long_wait_goes_in_pieces(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PIECE", 0.02)

    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        orders = qm.queue("orders")
        assert await orders.receive(timeout=0.07) is None
        assert sum(path.endswith("/receive") for path in proxy.seen) > 1
        waiting = asyncio.ensure_future(orders.peek(timeout=None))
        while sum(path.endswith("/peek") for path in proxy.seen) < 3:
            await orders.info()
        await orders.send("at last")
        assert text(await waiting) == "at last"

    play(scene)


def test_an_address_without_a_server_is_unreachable() -> None:
    with reliquary.connect("http://127.0.0.1:9") as qm, pytest.raises(ServerUnreachable) as gone:
        qm.queue("orders").send("x")
    assert gone.value.code == "SERVER_UNREACHABLE"
    assert "no connection to 127.0.0.1:9" in gone.value.sentence


def test_a_refusal_comes_as_its_error(play: Play) -> None:
    async def scene(qm: AsyncManager, proxy: Lossy) -> None:
        with pytest.raises(QueueNotFound):
            await qm.queue("nowhere").send("x")
        with pytest.raises(TransactionEnded):
            await qm.commit("00000000-0000-0000-0000-000000000001")
        with pytest.raises(BadRequest):
            await qm.queue("orders").receive_many(0)

    play(scene)


def test_a_message_in_messagepack_is_what_it_is_in_json(server: Served) -> None:
    with reliquary.connect(server.data, control=server.control) as qm:
        orders = qm.create_queue("orders")
        qm.create_queue("admin")
        orders.send("warm")
        orders.receive()
        sent = OutgoingMessage(
            body=bytes(range(256)),
            label="häll\0o",
            priority=7,
            expires=60,
            reach=30,
            journal=True,
            deadletter=True,
            correlation="0c44cb60-0000-4000-8000-000000000007\\4294967295",
            tag=4294967295,
            body_type=8,
            extension=b"\0\1",
            response_queue="answers",
            administration_queue="admin",
            acknowledgements=("pos-arrival",),
            deadletter_queue="admin",
            tracing_queue="0c44cb60-0000-4000-8000-000000000008",
            httpr={"content-type": "text/xml"},
        )
        orders.send(sent)
        with urllib.request.urlopen(f"{server.data}/api/v1/queues/orders/messages") as answer:
            [shown] = msgspec.json.decode(answer.read(), type=Received, strict=False).messages
        [browsed] = orders.browse()
        assert browsed == shown
        for name in sent.__struct_fields__:
            assert getattr(browsed, name) == getattr(sent, name)
        assert orders.receive() == msgspec.structs.replace(shown, handed_out=1)


def test_an_older_server_has_no_path_for_a_receipt_in_the_body() -> None:
    asked = []

    def older(request: Request, responder: Responder) -> None:
        asked.append(request.path.removeprefix("/api/v1"))
        if request.path.startswith("/api/v1/receipts/"):
            responder.respond(204, b"")
        else:
            responder.respond(404, b'{"error": "there is nothing", "code": "PATH_NOT_FOUND"}')

    async def whole() -> None:
        listener = Listener([Mount(prefix="", handler=older)], clock=RealClock())
        host, port = await listener.listen("127.0.0.1", 0)
        transport = remote.RemoteTransport(f"http://{host}:{port}", f"http://{host}:{port}")
        transport._data.packed = True
        await transport.end_read("r-1", [7], delete=True)
        await transport.close()
        listener.stop_accepting()

    asyncio.run(whole())
    assert asked == ["/receipts", "/receipts/r-1"]


def test_all_pages_of_transactions_are_followed(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)
    with reliquary.connect(server.data, control=server.control) as qm:
        before = len(qm.transactions())
        opened = [qm.transaction(owner="pages") for _ in range(5)]
        for each in opened:
            each.__enter__()
        assert len(qm.transactions()) == before + 5
        assert len(qm.transactions("pages")) == 5
        for each in opened:
            each.__exit__(None, None, None)
