"""Tests of settings that are read anew: what is applied, what is named; a removed user has no access."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.client.records import ReloadInfo
from reliquary.net.identity.nt_hash import nt_hash
from reliquary.net.identity.users import User
from reliquary.net.rpc.ntlm import NTLM, ntlm_client
from reliquary.queueing.model.security.roles import Role
from reliquary.server.acts_options import ActsOptions
from reliquary.server.config import Settings
from reliquary.server.effective import values_of
from reliquary.server.history_options import HistoryOptions
from reliquary.server.limit_options import LimitOptions
from reliquary.server.loading import load
from reliquary.server.logs import LogLevel
from reliquary.server.mqqp import MqqpEndpoint
from reliquary.server.mqqp_options import MqqpOptions
from reliquary.server.queue_entries import QueueEntry
from reliquary.server.reload import RELOADABLE, differing, with_settings
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.statuses import FaultStatus
from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, ROOT, USERS, ask
from tests.console.test_strangers import FAR, asked_from
from tests.console.web.harness import Reader
from tests.net.http.harness import until
from tests.net.identity.cheap_hash import cheap_hash
from tests.net.rpc.harness import caller
from tests.net.srmp.certificates import Authority
from tests.server.endpoints import endpoint_of
from tests.server.process import running

GET_VERSION = 8
"""The number of the method RemoteQmGetVersion, [MS-MQQP] 3.1.4."""
AT_HEALTH = b"GET /api/v1/queues/orders/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: %b\r\n\r\n"
WITHOUT_ALICE = tuple(each for each in USERS if each.name != "alice")


@pytest.fixture(autouse=True)
def _log_level() -> Iterator[None]:
    """Put the level of the log back."""
    before = logging.getLogger().level
    yield
    logging.getLogger().setLevel(before)


async def reload(harness: Harness, **changed: Any) -> ReloadInfo:
    """Read settings anew in which something is different."""
    reloader = harness.server.reloader
    reloader.read = lambda: replace(reloader.settings, **changed)
    return await reloader.reload()


class Kept:
    """One connection of the data plane that stays open; its requests are written by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self._reader, self._writer, self._head = reader, writer, head

    @classmethod
    async def open(cls, harness: Harness, authorization: bytes) -> Kept:
        host, _, port = harness.url.removeprefix("http://").rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port)), AT_HEALTH % authorization)

    async def status(self) -> int:
        """Send the request again, with the bytes of the first time."""
        self._writer.write(self._head)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        await self._reader.readexactly(int(length[1]))
        return int(head.split()[1])

    def close(self) -> None:
        self._writer.close()


def test_a_token_that_was_removed_is_refused_on_connections_that_are_open(tmp_path: Path) -> None:
    alice = replace_user("alice", role=Role.READER)

    async def scene(harness: Harness) -> None:
        kept = await Kept.open(harness, b"Bearer " + ALICE.encode())
        other = await Kept.open(harness, b"Bearer " + ROOT.encode())
        try:
            for _ in range(3):
                assert await kept.status() == 200
            assert [
                len(each._reader._known) for each in harness.server.data._shared.connections.values()
            ] == [
                1,
                0,
            ]
            assert (await reload(harness, users=WITHOUT_ALICE)).applied == ["users"]
            assert [await kept.status(), await other.status()] == [401, 200]
            await reload(harness, users=alice)
            assert await kept.status() == 200
        finally:
            kept.close()
            other.close()

    play(tmp_path, scene, users=alice)


def replace_user(name: str, **changed: Any) -> tuple[User, ...]:
    """Return the users, one of them changed."""
    return tuple(
        User(name=each.name, token_sha256=each.token_sha256, groups=each.groups, **changed)
        if each.name == name
        else each
        for each in USERS
    )


def test_rights_of_a_role_that_was_taken_end_with_the_reload(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        kept = await Kept.open(harness, b"Bearer " + ALICE.encode())
        try:
            assert [await kept.status() for _ in range(2)] == [200, 200]
            await reload(harness, users=replace_user("alice", role=Role.SENDER))
            assert await kept.status() == 403
        finally:
            kept.close()

    play(tmp_path, scene, users=replace_user("alice", role=Role.READER))


def test_a_session_of_a_user_that_was_removed_ends_and_others_stay(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        readers = {token: Reader(harness) for token in (ALICE, ROOT)}
        for token, reader in readers.items():
            await reader.post("/console/sign-in", (await reader.read("/console/sign-in")).csrf, token=token)
            assert (await reader.get("/console")).status == 200
        await reload(harness, users=WITHOUT_ALICE)
        assert (await readers[ALICE].get("/console")).status == 303
        assert (await readers[ROOT].get("/console")).status == 200

    play(tmp_path, scene, users=USERS)


def test_a_password_that_was_changed_is_refused(tmp_path: Path) -> None:
    def user(password: str) -> tuple[User, ...]:
        return (*USERS, User(name="carol", password_hash=cheap_hash(password), role=Role.READER))

    async def scene(harness: Harness) -> None:
        kept = await Kept.open(harness, b"Basic Y2Fyb2w6c3dvcmRmaXNo")
        try:
            assert [await kept.status() for _ in range(3)] == [200, 200, 200]
            await reload(harness, users=user("another"))
            assert await kept.status() == 401
        finally:
            kept.close()

    play(tmp_path, scene, users=user("swordfish"))


def test_a_read_that_waits_for_a_removed_user_ends(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        waiting = asyncio.ensure_future(
            ask(harness.data, ALICE, "POST", "/queues/orders/receive", {"timeout": None})
        )
        await until(lambda: harness.server.opened.state.open.callers)
        await reload(harness, users=WITHOUT_ALICE)
        assert (await waiting)[0] == 403

    play(tmp_path, scene, users=replace_user("alice", role=Role.RECEIVER))


@pytest.mark.parametrize("protection", [Protection.CONNECT, Protection.PRIVACY])
def test_a_user_whose_password_was_replaced_is_refused_on_open_connections_of_mqqp(
    tmp_path: Path, protection: Protection
) -> None:
    def users(password: str) -> tuple[User, ...]:
        return User(name="alice", nt_hash=nt_hash(password)), User(name="bob", nt_hash=nt_hash("bob"))

    async def scene(harness: Harness) -> None:
        port = endpoint_of(harness.server, MqqpEndpoint).ports.read
        async with caller(port) as alice, caller(port) as bob:
            for client, name, password in ((alice, "alice", "old"), (bob, "bob", "bob")):
                proof = ntlm_client(name, password, NTLM, "localhost")
                await client.bind(auth_type=NTLM, security=proof, protection=protection)
                assert isinstance(await client.call(GET_VERSION), bytes)
            await reload(harness, users=users("new"))
            assert isinstance(await bob.call(GET_VERSION), bytes)
            assert await alice.call(GET_VERSION) == FaultStatus.ACCESS_DENIED
            assert await alice.is_cut()

    options = MqqpOptions(enabled=True, handshake_port=0, read_port=0)
    play(tmp_path, scene, users=users("old"), tables=(options,))


def test_a_server_without_users_gets_some_and_is_closed_to_strangers(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await ask(harness.control, None, "POST", "/queues", {"name": "a"}))[0] == 201
        await reload(harness, users=USERS)
        assert (await ask(harness.control, None, "POST", "/queues", {"name": "b"}))[0] == 403
        assert (await ask(harness.control, ROOT, "POST", "/queues", {"name": "b"}))[0] == 201
        assert (await ask(harness.data, None, "POST", "/transactions", {}))[0] == 403
        for allowed, status in (((), 401), (("look",), 200), ((), 401)):
            await reload(harness, anonymous_may=allowed)
            assert (await asked_from(harness, FAR, "GET", "/metrics"))[0] == status

    play(tmp_path, scene)


def test_numbers_change_and_what_needs_a_restart_is_named_and_left(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reloader = harness.server.reloader
        report = await reload(
            harness,
            limits=LimitOptions(rate=5, burst=7, connections=9),
            history=HistoryOptions(keep_days=3, enabled=False),
            acts=ActsOptions(keep_bytes=9),
            log_level=LogLevel.ERROR,
            data_port=1,
        )
        assert set(report.applied) == {
            "log_level", "limits.rate", "limits.burst", "history.keep_days", "acts.keep_bytes",
        }  # fmt: skip
        assert report.restart == ["data_port", "history.enabled", "limits.connections"]
        assert (reloader.rates.rate, reloader.rates.burst) == (5, 7)
        assert logging.getLogger().level == logging.ERROR
        history = harness.server.opened.history
        assert history is not None
        assert history.options.kept.days == 3
        assert reloader.settings.history.enabled
        assert reloader.settings.data_port == 0
        assert (await reload(harness)).applied == []

    play(tmp_path, scene)


def test_an_error_changes_nothing_and_names_line_and_key(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"

    async def scene(harness: Harness) -> None:
        harness.server.reloader.read = lambda: load(file)
        file.write_text("quota = 1\nlog_level = 'loud'\n")
        before = harness.server.reloader.settings
        status, said = await ask(harness.control, ROOT, "POST", "/config/reload")
        assert (status, said["code"]) == (400, "INVALID_PARAMETER")
        assert f"{file}:2: log_level: Invalid enum value 'loud'" in said["error"]
        assert harness.server.reloader.settings is before
        assert (await ask(harness.control, ALICE, "GET", "/health"))[0] == 200
        assert (await ask(harness.control, ALICE, "POST", "/config/reload"))[0] == 403

    play(tmp_path, scene, users=USERS)


def test_a_server_that_was_given_its_settings_has_nothing_to_read(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        with pytest.raises(UsageError, match="without a place to read its settings from"):
            await harness.server.reloader.reload()

    play(tmp_path, scene)


def test_queues_are_created_and_those_that_are_there_are_left(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        entries = (QueueEntry(name="made", label="L"), QueueEntry(name="orders", label="other"))
        report = await reload(harness, queues=("orders", "second"), queue=entries)
        assert report.applied == ["queues", "queue"]
        [note] = report.notes
        assert note.startswith("the queue orders is there already")
        assert (await harness.ok("GET", "/queues/made"))["settings"]["label"] == "L"
        assert (await harness.ok("GET", "/queues/orders"))["settings"].get("label", "") == ""
        assert (await harness.ok("GET", "/queues/second"))["messages"] == 0
        bad = (*entries, QueueEntry(name="bad", quota=-1))
        [wrong] = (await reload(harness, queue=bad)).notes
        assert "the queue 'bad' cannot be made" in wrong

    play(tmp_path, scene)


@pytest.mark.parametrize(
    "ports", [pytest.param({}, id="one port"), pytest.param({"data_tls_port": 0}, id="a port for TLS")]
)
def test_certificates_are_read_anew_and_a_bad_one_changes_nothing(
    tmp_path: Path, ports: dict[str, int]
) -> None:
    ours = Authority(tmp_path, "ours")
    first, second = ours.vouch("first.example"), ours.vouch("second.example")
    used = tmp_path / "used.pem"
    used.write_bytes(first.read_bytes())

    async def shown(url: str) -> bytes:
        host, _, port = url.removeprefix("https://").rpartition(":")
        trust = ssl.create_default_context(cafile=str(ours.file))
        _, writer = await asyncio.open_connection(host, int(port), ssl=trust, server_hostname="localhost")
        certificate: bytes = writer.get_extra_info("ssl_object").getpeercert(True)
        writer.close()
        return certificate

    def der(file: Path) -> bytes:
        text = file.read_text()
        return ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERT") :])

    async def scene(harness: Harness) -> None:
        urls = (harness.server.bound[-1].url, harness.control_url)
        assert [await shown(url) for url in urls] == [der(first)] * 2
        used.write_text("no certificate")
        with pytest.raises(UsageError, match=r"used\.pem has no certificate in PEM"):
            await reload(harness, users=USERS)
        assert harness.server.reloader.settings.users == ()
        assert await shown(urls[0]) == der(first)
        used.write_bytes(second.read_bytes())
        assert (await reload(harness)).applied == ["tls_certificate"]
        assert [await shown(url) for url in urls] == [der(second)] * 2
        assert (await reload(harness)).applied == []
        report = await reload(harness, tls_certificate=None, tls_key=None, data_tls_port=None)
        assert report.restart == [*ports, "tls_certificate", "tls_key"]

    play(tmp_path, scene, tls_certificate=used, tls_key=used, **ports)


def asked_by_tls(url: str, context: ssl.SSLContext, session: ssl.SSLSession | None) -> ssl.SSLSession:
    """Ask a server for its health over one connection, and return its session of TLS; OSError if refused."""
    address = ("localhost", int(url.rpartition(":")[2]))
    with (
        socket.create_connection(address) as plain,
        context.wrap_socket(plain, server_hostname="localhost", session=session) as secured,
    ):
        secured.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        start = secured.recv(12)
        if not start:
            raise ConnectionResetError("the server closed the connection")
        assert start == b"HTTP/1.1 200"
        found = secured.session
        assert found is not None
        return found


def test_another_authority_for_clients_counts_at_once_for_sessions_that_are_resumed_too(
    tmp_path: Path,
) -> None:
    before, after, own = (Authority(tmp_path, name) for name in ("before", "after", "own"))
    certificate = own.vouch("server.example")

    def trusted(authority: Authority) -> ssl.SSLContext:
        made = ssl.create_default_context(cafile=str(own.file))
        made.load_cert_chain(authority.vouch("client.example"))
        return made

    async def scene(harness: Harness) -> None:
        old, new = trusted(before), trusted(after)
        for url in (harness.server.bound[1].url, harness.control_url):
            session = await asyncio.to_thread(asked_by_tls, url, old, None)
            session = await asyncio.to_thread(asked_by_tls, url, old, session)
            await reload(harness, tls_client_ca=after.file)
            for each in (session, None):
                with pytest.raises((ssl.SSLError, ConnectionError)):
                    await asyncio.to_thread(asked_by_tls, url, old, each)
            await asyncio.to_thread(asked_by_tls, url, new, None)
            await reload(harness, tls_client_ca=before.file)

    play(
        tmp_path, scene, data_tls_port=0, tls_certificate=certificate, tls_key=certificate,
        tls_client_ca=before.file, tls_client_required=True,
    )  # fmt: skip


def test_every_setting_that_differs_is_found_and_every_reloadable_one_is_a_setting() -> None:
    names = {f"{table}.{name}" if table else name for table, name in values_of(Settings())}
    assert names >= RELOADABLE
    before = Settings()
    after = replace(before, quota=5, users=USERS, limits=LimitOptions(rate=1, connections=2))
    assert differing(before, after) == ["quota", "users", "limits.connections", "limits.rate"]
    half = with_settings(before, after, ["users", "limits.rate"])
    assert differing(half, after) == ["quota", "limits.connections"]


def test_a_hangup_reads_the_file_anew(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    token = sha256(b"secret").hexdigest()
    user = f'[[users]]\nname = "root"\nrole = "administrator"\ntoken_sha256 = "{token}"\n'
    file.write_text(user)
    with running(tmp_path / "data", SETTINGS=str(file)) as server:
        lines: list[str] = []
        assert server._started.stderr is not None

        def read(said: Any = server._started.stderr) -> None:
            for line in said:
                lines.append(line)  # noqa: PERF402 - each line is looked at as soon as it is there

        reading = threading.Thread(target=read)
        reading.start()
        for text, said in (
            (
                "data_port = 'x'\n",
                "cannot be read, and nothing has changed: .*toml:1: data_port",
            ),
            (f"computer_name = 'OTHER'\n[limits]\nrate = 1000\n{user}", "limits.rate changed"),
        ):
            file.write_text(text)
            server.signal(signal.SIGHUP)
            while not any(re.search(said, line) for line in list(lines)):
                assert reading.is_alive()
                reading.join(0.01)
        server.signal(signal.SIGTERM)
        reading.join()
        server._started.wait()
    assert any("come into force with the next start: computer_name" in line for line in lines)
    log = tmp_path / "data" / "acts" / "acts-00000001.jsonl"
    acts = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(each["act"], each["outcome"]) for each in acts] == [
        ("start-server", "done"),
        ("reload-config", "refused"),
        ("reload-config", "done"),
        ("stop-server", "done"),
    ]
