"""Tests queues of another manager over MQQP: the face of a local queue, and nothing that MQQP cannot do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest

import reliquary
from reliquary import (
    AccessDenied,
    BadRequest,
    Manager,
    NotOpen,
    Queue,
    QueueNotFound,
    ReliquaryError,
    ServerUnreachable,
    SharingViolation,
)
from reliquary.client.address import MqqpAddress
from reliquary.client.mqqp import ONLY_READS, MqqpTransport, open_mqqp
from reliquary.client.transport import Transport
from reliquary.net.identity.users import User
from tests.client.mqqp_served import MqqpServed, cut_after, mqqp_served, wait_until
from tests.net.http.harness import until

REFUSED = [name for name in vars(Transport) if getattr(MqqpTransport, name, None) is MqqpTransport._refuse]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MqqpServed]:
    """Yield a server for the tests of this file."""
    with mqqp_served(tmp_path_factory.mktemp("far")) as far:
        yield far


@pytest.fixture
def far(shared: MqqpServed) -> Iterator[MqqpServed]:
    """Yield a server with an empty queue, orders."""
    shared.manager.create_queue("orders")
    yield shared
    shared.read_at(shared.endpoint.ports.read)
    for info in shared.manager.queues():
        if info.kind == "private" and ";" not in info.name:
            shared.manager.delete_queue(info.name)


@pytest.fixture
def near(far: MqqpServed) -> Iterator[Manager]:
    """Yield a manager that reads from the server."""
    with reliquary.connect(far.address("private$/orders")) as manager:
        yield manager


def filled(far: MqqpServed, *bodies: str) -> Queue:
    """Return the queue of the server, with these messages."""
    orders = far.manager.queue("orders")
    orders.send_many(bodies)
    return orders


# -- the face of a local queue


def test_a_message_is_received_as_it_was_sent(far: MqqpServed, near: Manager) -> None:
    far.manager.queue("orders").send(
        "hello", label="greeting", priority=5, correlation="00000000-0000-0000-0000-000000000001\\7"
    )
    expected = far.manager.queue("orders").peek()
    message = near.queue().receive()
    assert message is not None
    assert expected is not None
    assert (message.text, message.label, message.priority) == ("hello", "greeting", 5)
    assert (message.id, message.lookup_id, message.correlation, message.sent) == (
        expected.id,
        expected.lookup_id,
        expected.correlation,
        expected.sent,
    )
    assert far.manager.queue("orders").info().messages == 0
    assert near.queue().receive() is None


def test_a_receive_waits_for_a_message(far: MqqpServed, near: Manager) -> None:
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(near.queue().receive(timeout=None).text))  # type: ignore[union-attr]
    reader.start()
    wait_until(lambda: far.manager.queue("orders").info().readers_waiting)
    far.manager.queue("orders").send("late")
    reader.join()
    assert got == ["late"]


def test_peek_browse_and_lookup_take_nothing(far: MqqpServed, near: Manager) -> None:
    orders = filled(far, "a", "b", "c")
    queue = near.queue()
    first = queue.peek()
    assert first is not None
    assert first.text == "a"
    messages = list(queue.browse())
    assert [each.text for each in messages] == ["a", "b", "c"]
    assert [each.text for each in queue.browse(after=messages[0].lookup_id)] == ["b", "c"]
    found = queue.lookup(messages[1].lookup_id)
    assert found is not None
    assert found.text == "b"
    assert queue.lookup(12345) is None
    assert orders.info().messages == 3


def test_a_message_is_taken_out_of_the_middle(far: MqqpServed, near: Manager) -> None:
    orders = filled(far, "a", "b", "c")
    middle = list(near.queue().browse())[1]
    taken = near.queue().lookup(middle.lookup_id, receive=True)
    assert taken is not None
    assert taken.text == "b"
    assert [each.text for each in orders.browse()] == ["a", "c"]


def test_a_cursor_walks_and_takes(far: MqqpServed, near: Manager) -> None:
    orders = filled(far, "a", "b", "c")
    with near.queue().cursor() as cursor:
        for message in cursor:
            if message.text == "b":
                assert cursor.receive() is not None
    assert [each.text for each in orders.browse()] == ["a", "c"]


def test_many_are_received_at_once(far: MqqpServed, near: Manager) -> None:
    orders = filled(far, *"abcde")
    assert [each.text for each in near.queue().receive_many(3)] == ["a", "b", "c"]
    assert [each.text for each in near.queue().receive_many(10)] == ["d", "e"]
    assert orders.info().messages == 0


def test_a_consumer_gives_back_what_was_not_done(far: MqqpServed, near: Manager) -> None:
    orders = filled(far, "a", "b", "c")

    def work() -> None:
        with near.queue().consume(timeout=0) as messages:
            for message in messages:
                if message.text == "b":
                    raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert [each.text for each in orders.browse()] == ["b", "c"]
    with near.queue().consume(timeout=0) as messages:
        assert [each.text for each in messages] == ["b", "c"]
    assert orders.info().messages == 0


def test_a_queue_is_purged(far: MqqpServed, near: Manager) -> None:
    orders = filled(far, "a", "b")
    near.queue().purge()
    assert orders.info().messages == 0


def test_a_queue_can_be_had_alone(far: MqqpServed, near: Manager) -> None:
    filled(far, "a")
    with near.queue().open(share="deny-receive") as alone:
        with pytest.raises(SharingViolation):
            far.manager.queue("orders").receive()
        assert alone.receive() is not None
    assert far.manager.queue("orders").receive() is None


def test_a_large_message_arrives_whole(far: MqqpServed, near: Manager) -> None:
    body = bytes(range(256)) * 16_000
    far.manager.queue("orders").send(body)
    message = near.queue().receive()
    assert message is not None
    assert message.body == body


def test_a_queue_of_another_manager_works_with_await_too(far: MqqpServed) -> None:
    filled(far, "a", "b", "c")

    async def scene() -> None:
        async with reliquary.connect_async(far.address("private$/orders")) as near:
            queue = near.queue()
            assert [each.text async for each in queue.browse()] == ["a", "b", "c"]
            first = await queue.receive()
            assert first is not None
            assert first.text == "a"
            async with queue.cursor() as cursor:
                assert [each.text async for each in cursor] == ["b", "c"]
            await queue.purge()
            assert await queue.peek() is None

    asyncio.run(scene())


def test_a_receive_that_is_cancelled_takes_nothing(far: MqqpServed) -> None:
    orders = far.manager.queue("orders")

    async def scene() -> None:
        async with reliquary.connect_async(far.address("private$/orders")) as near:
            waiting = asyncio.ensure_future(near.queue().receive(timeout=None))
            await until(lambda: orders.info().readers_waiting)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await until(lambda: not orders.info().readers_waiting)

    asyncio.run(scene())
    orders.send("kept")
    assert orders.info().messages == 1


# -- names


@pytest.mark.parametrize(
    ("host", "name", "expected"),
    [
        ("far", "private$/orders", r"DIRECT=OS:far\private$\orders"),
        ("far", r"private$\orders", r"DIRECT=OS:far\private$\orders"),
        ("far", "orders", r"DIRECT=OS:far\private$\orders"),
        ("far", r".\orders", r"DIRECT=OS:far\orders"),
        ("far", r"far\private$\orders", r"DIRECT=OS:far\private$\orders"),
        ("far", "orders;journal", r"DIRECT=OS:far\private$\orders;journal"),
        ("far", "system$;deadletter", r"DIRECT=OS:far\system$;deadletter"),
        ("10.0.0.5", "orders", r"DIRECT=TCP:10.0.0.5\private$\orders"),
        ("::1", "orders", r"DIRECT=TCP:::1\private$\orders"),
    ],
)
def test_names_are_those_of_the_other_managers_queues(host: str, name: str, expected: str) -> None:
    async def scene() -> None:
        transport = await open_mqqp(MqqpAddress(host))
        assert transport.format_name(name) == expected
        await transport.close()

    asyncio.run(scene())


def test_queues_are_found_by_name_beside_that_of_the_address(far: MqqpServed, near: Manager) -> None:
    far.manager.create_queue("other").send("there", journal=True)
    found = near.queue("private$/other").receive()
    assert found is not None
    assert found.text == "there"
    assert near.queue().name == "private$/orders"
    with pytest.raises(QueueNotFound):
        near.queue("nowhere").receive()
    with pytest.raises(BadRequest, match="is not this computer"):
        near.queue(r"elsewhere\private$\orders").receive()


def test_an_address_without_a_queue_leads_to_all(far: MqqpServed) -> None:
    filled(far, "a")
    with reliquary.connect(far.address()) as near:
        assert near.queue("orders").receive() is not None
        with pytest.raises(BadRequest, match="names no queue"):
            near.queue()


# -- what MQQP cannot do


@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_is_refused_with_one_sentence(name: str) -> None:
    async def scene() -> None:
        transport = await open_mqqp(MqqpAddress("far"))
        with pytest.raises(BadRequest) as refused:
            await getattr(transport, name)()
        assert refused.value.sentence == ONLY_READS
        await transport.close()

    asyncio.run(scene())


def test_no_message_can_be_sent(near: Manager) -> None:
    with pytest.raises(BadRequest, match="only read"):
        near.queue().send("x")
    with pytest.raises(BadRequest, match="only read"), near.queue().open("send"):
        pass
    with pytest.raises(BadRequest, match="only read"), near.transaction():
        pass
    with pytest.raises(BadRequest, match="only read"):
        near.directory.info()


def test_options_of_other_addresses_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="not for MQQP"):
        reliquary.connect("mqqp://far", token="x")
    with pytest.raises(BadRequest, match="are for a server"):
        reliquary.connect(tmp_path / "data", user="me", password="x")


def test_a_client_of_mqqp_writes_no_file(
    far: MqqpServed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(far, "a")
    monkeypatch.chdir(tmp_path)
    with reliquary.connect(far.address("orders")) as near:
        assert near.queue().receive() is not None
    assert list(tmp_path.iterdir()) == []


# -- who reads


def test_a_user_is_known_by_name_and_password(tmp_path: Path) -> None:
    alice = User(
        name="alice",
        token_sha256=sha256(b"secret").hexdigest(),
        nt_hash="8846f7eaee8fb117ad06bdd830b7586c",
    )
    with mqqp_served(tmp_path, users=(alice,), token="secret") as far:
        far.manager.create_queue("hers").send("for alice")
        with reliquary.connect(far.address("hers")) as anyone, pytest.raises(AccessDenied):
            anyone.queue().receive()
        with (
            reliquary.connect(far.address("hers"), user="alice", password="wrong") as liar,
            pytest.raises(AccessDenied),
        ):
            liar.queue().receive()
        with reliquary.connect(far.address("hers"), user="alice", password="password") as near:
            message = near.queue().receive()
            assert message is not None
            assert message.text == "for alice"
        far.manager.queue("hers").send("again")
        address = far.address("hers").replace("//", "//alice:password@")
        with reliquary.connect(address) as near:
            assert near.queue().receive() is not None


# -- losses


def test_a_server_that_is_not_there_is_unreachable() -> None:
    with reliquary.connect("mqqp://127.0.0.1:1/orders") as near:
        with pytest.raises(ServerUnreachable, match=r"127\.0\.0\.1:1"):
            near.queue().receive()
        with pytest.raises(ServerUnreachable):
            near.queue().peek()


def test_what_is_open_ends_with_the_connection(far: MqqpServed) -> None:
    async def scene() -> None:
        async with (
            cut_after(far.port, 1 << 60) as line,
            reliquary.connect_async(far.address("orders", line.port)) as near,
            near.queue().open() as opened,
        ):
            far.read_at(line.port)
            line.cut()
            with pytest.raises((NotOpen, ServerUnreachable)):
                await opened.receive(timeout=1)
            assert await near.queue().receive() is None

    asyncio.run(scene())


@pytest.mark.parametrize("start", range(5))
def test_wherever_the_connection_is_cut_each_message_is_received_once(far: MqqpServed, start: int) -> None:
    bodies = [f"message {number}" for number in range(4)]

    async def scene(allowed: int) -> bool:
        """Receive all over a line that is cut after these bytes; return whether it was cut."""
        async with cut_after(far.port, allowed) as line:
            far.read_at(line.port)
            got: list[str] = []
            async with reliquary.connect_async(far.address("orders", line.port)) as near:
                while len(got) < len(bodies):
                    with suppress(ServerUnreachable):
                        got += [each.text for each in await near.queue().receive_many(1, timeout=None)]
            assert got == bodies, f"cut after {allowed} bytes"
            return bool(line.cuts)

    allowed, was_cut = start * 50, True
    while was_cut:
        filled(far, *bodies)
        was_cut = asyncio.run(scene(allowed))
        left = far.manager.queue("orders").info()
        assert (left.messages, left.locked) == (0, 0)
        allowed += 250


def test_after_the_end_the_server_has_nothing_open(far: MqqpServed) -> None:
    filled(far, "a", "b")
    with reliquary.connect(far.address("orders")) as near:
        near.queue().peek()
    wait_until(lambda: not far.endpoint.listener.connections)
    assert far.manager.queue("orders").info().open_handles == 0
    with pytest.raises(ReliquaryError, match="closed"):
        near.queue().peek()
