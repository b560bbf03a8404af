"""Tests of `connect`, awaited or used as a context manager."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path

import pytest

import reliquary
from reliquary import AccessDenied, BadRequest, ReliquaryError, ServerUnreachable, connect
from reliquary.net.identity.users import User
from tests.client.served import served
from tests.net.http.certificate import PEM, client_context
from tests.net.identity.cheap_hash import cheap_hash


def test_connect_async_can_be_awaited_or_entered(tmp_path: Path) -> None:
    async def scene() -> None:
        manager = await reliquary.connect_async(tmp_path / "data")
        await manager.create_queue("orders")
        await manager.close()
        async with reliquary.connect_async(str(tmp_path / "data")) as again:
            assert "orders" in [info.name for info in await again.queues()]
        async with await reliquary.connect_async(tmp_path / "data") as again:
            assert (await again.info()).queues

    asyncio.run(scene())


@pytest.mark.parametrize("wrong", ["ftp://127.0.0.1:21", "http://127.0.0.1"])
def test_a_malformed_address_is_refused(wrong: str) -> None:
    with pytest.raises(BadRequest):
        reliquary.connect(wrong)


def test_a_manager_that_is_closed_says_so(tmp_path: Path) -> None:
    async def scene() -> None:
        for target in (tmp_path / "data", "http://127.0.0.1:9"):
            manager = await reliquary.connect_async(target)
            await manager.close()
            with pytest.raises(ReliquaryError, match="closed"):
                await manager.queue("orders").send("x")

    asyncio.run(scene())


def test_a_server_with_a_certificate_is_trusted_when_we_say_so(tmp_path: Path) -> None:
    with served(tmp_path, certificate=PEM) as running:
        with reliquary.connect(running.data, control=running.control, tls=client_context()) as qm:
            qm.create_queue("orders").send("secret")
            assert qm.queue("orders").receive() is not None
        with (
            reliquary.connect(running.data, control=running.control) as qm,
            pytest.raises(ServerUnreachable, match="certificate"),
        ):
            qm.queue("orders").receive()


def test_a_token_says_who_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = User(name="alice", token_sha256=sha256(b"secret").hexdigest())
    with served(tmp_path, users=(alice,)) as running:
        with connect(running.data, control=running.control, token="secret") as manager:
            manager.create_queue("hers").send("x")
            assert manager.access("hers").owner == "alice"
        with connect(running.data, control=running.control) as manager:
            with pytest.raises(AccessDenied, match=r"anonymous .* lacks the right WRITE_MESSAGE"):
                manager.queue("hers").send("x")
            with pytest.raises(AccessDenied, match=r"anonymous .* lacks the right CREATE_QUEUE"):
                manager.create_queue("more")
        with connect(running.data, control=running.control, token="wrong") as manager:
            for question in (manager.info, manager.queue("hers").peek):
                with pytest.raises(AccessDenied, match="the token belongs to no user"):
                    question()
        monkeypatch.setenv("RELIQUARY_TOKEN", "secret")
        with connect(running.data, control=running.control) as manager:
            manager.queue("hers").send("x")


def test_a_user_and_a_password_say_who_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = User(name="alice", password_hash=cheap_hash("open sesame"))
    monkeypatch.setenv("RELIQUARY_TOKEN", "of-another-server")
    with served(tmp_path, users=(alice,)) as running:
        with connect(running.data, control=running.control, user="alice", password="open sesame") as manager:
            manager.create_queue("hers").send("x")
            assert manager.access("hers").owner == "alice"
        with (
            connect(running.data, control=running.control, user="alice", password="wrong") as manager,
            pytest.raises(AccessDenied, match="belong to no user"),
        ):
            manager.queue("hers").send("x")


def test_a_folder_is_opened_without_a_user(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="user and password are for a server"):
        connect(tmp_path / "data", user="alice", password="x")


def test_a_token_that_no_header_can_carry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="a token is made of"):
        connect("http://127.0.0.1:1", token="a\nb")
