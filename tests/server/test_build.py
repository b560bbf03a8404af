"""Tests a whole server in this process: both planes, pressure, TLS, the orderly stop."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from pathlib import Path
from typing import Any

import pytest

from reliquary.base.faults import StoreFailure, UsageError
from reliquary.base.hresult import HResult
from reliquary.engine.open import open_engine
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.net.http import HttpClient, RequestFailed
from reliquary.protocols.standard import ALL_TABLES
from reliquary.queueing.model.events import Answer, CreateQueue
from reliquary.server.acts_options import ActsOptions
from reliquary.server.build import build
from reliquary.server.config import Settings
from reliquary.server.first_queues import make_queues
from reliquary.server.history_options import HistoryOptions
from reliquary.server.srmp_options import SrmpOptions
from reliquary.store import RocksDisk
from tests.console.harness import Harness, play
from tests.net.http.certificate import PEM, client_context
from tests.net.srmp.certificates import Authority

SEND = "/api/v1/queues/orders/messages"
RECEIVE = "/api/v1/queues/orders/receive"
WAIT = "/api/v1/queues/idle/receive"


def test_first_queues_are_made_once_and_kept(tmp_path: Path) -> None:
    async def first(harness: Harness) -> None:
        await harness.send("orders", "a")

    async def second(harness: Harness) -> None:
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 1

    play(tmp_path, first)
    play(tmp_path, second)


def test_only_the_owner_may_read_the_folders_that_a_server_makes(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("data", "history", "acts")}
    settings = Settings(
        folder=folders["data"],
        history=HistoryOptions(folder=folders["history"]),
        acts=ActsOptions(folder=folders["acts"]),
    )

    async def run() -> None:
        server = await build(settings)
        await server.reloader.acts.note("a person", "", "do-a-thing", "")
        await server.stop()

    before = os.umask(0o022)
    try:
        asyncio.run(run())
    finally:
        os.umask(before)
    modes = {name: folder.stat().st_mode & 0o777 for name, folder in folders.items()}
    assert modes == dict.fromkeys(folders, 0o700)


def test_the_quota_of_the_settings_holds(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.ok("GET", "/manager"))["quota_kilobytes"] == 1
        body = json.dumps({"text": "x" * 2000}).encode()
        answer = await harness.data.request("POST", "/api/v1/queues/orders/messages", body)
        assert answer.status == 507

    play(tmp_path, scene, quota=1)


def test_pressure_stops_the_reading_of_requests_until_it_is_over(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        engine = harness.server.opened.engine
        engine.on_pressure(True)
        asked = asyncio.ensure_future(harness.data.request("POST", RECEIVE))
        assert (await harness.get("/api/v1/health")).status == 200
        assert not asked.done()
        engine.on_pressure(False)
        assert b"YQ==" in (await asked).body

    play(tmp_path, scene)


def test_a_stop_answers_all_that_was_asked_and_keeps_what_it_took(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path / "data", data_port=0, control_port=0, queues=("orders", "idle"))

    async def scene() -> int:
        server = await build(settings)
        await make_queues(server.opened, settings.queues)
        data, _ = await server.listen(settings)
        async with HttpClient(data) as client:
            waiting = asyncio.ensure_future(client.request("POST", WAIT, b'{"timeout": null}'))
            while not server.opened.state.open.callers:
                await client.request("GET", "/api/v1/health")
            sent = [asyncio.ensure_future(client.request("POST", SEND, b"{}")) for _ in range(20)]
            await sent[0]
            await server.stop()
            assert (await waiting).status == 503
            statuses = [(await each).status for each in sent]
        assert set(statuses) <= {201, 503}
        return statuses.count(201)

    taken = asyncio.run(scene())
    disk = RocksDisk(settings.folder, ALL_TABLES, create=False)  # the folder is free again
    assert len(disk.range("positions", b"", b"\xff" * 9, limit=99)) == taken >= 1
    disk.close()


def test_both_planes_use_tls_with_one_certificate(tmp_path: Path) -> None:
    settings = Settings(
        folder=tmp_path / "data", data_port=0, control_port=0, tls_certificate=PEM, tls_key=PEM
    )

    async def scene() -> None:
        server = await build(settings)
        try:
            for url in await server.listen(settings):
                assert url.startswith("https://")
                async with HttpClient(url, tls=client_context()) as client:
                    assert (await client.request("GET", "/api/v1/health")).status == 200
        finally:
            await server.stop()

    asyncio.run(scene())


def test_clients_of_both_planes_may_have_to_show_a_certificate(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    own = ours.vouch("server.example")

    def context(certificate: Path | None) -> ssl.SSLContext:
        made = ssl.create_default_context(cafile=str(ours.file))
        if certificate is not None:
            made.load_cert_chain(certificate)
        return made

    async def health(url: str, certificate: Path | None) -> int:
        async with HttpClient(url, tls=context(certificate)) as client:
            try:
                return (await client.request("GET", "/api/v1/health")).status
            except RequestFailed:
                return 0

    async def scene(required: bool) -> list[list[int]]:
        settings = Settings(
            folder=tmp_path / "data", data_port=0, control_port=0, tls_certificate=own, tls_key=own,
            tls_client_ca=ours.file, tls_client_required=required,
        )  # fmt: skip
        server = await build(settings)
        try:
            planes = [each.replace("127.0.0.1", "localhost") for each in await server.listen(settings)]
            shown = (ours.vouch("client.example"), None, theirs.vouch("stranger.example"))
            return [[await health(plane, each) for each in shown] for plane in planes]
        finally:
            await server.stop()

    assert asyncio.run(scene(False)) == [[200, 200, 0]] * 2
    assert asyncio.run(scene(True)) == [[200, 0, 0]] * 2


def test_the_data_plane_has_a_port_with_tls_and_one_without(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    own, client, stranger = ours.vouch("a.example"), ours.vouch("b.example"), theirs.vouch("c.example")
    settings = Settings(
        folder=tmp_path / "data", data_port=0, data_tls_port=0, control_port=0, tls_certificate=own,
        tls_key=own, tls_client_ca=ours.file, tls_client_required=True, queues=("orders",),
    )  # fmt: skip

    def context(certificate: Path | None = None, **versions: ssl.TLSVersion) -> ssl.SSLContext:
        made = ssl.create_default_context(cafile=str(ours.file))
        made.maximum_version = versions.get("newest", ssl.TLSVersion.MAXIMUM_SUPPORTED)
        if certificate is not None:
            made.load_cert_chain(certificate)
        return made

    async def send(url: str, tls: ssl.SSLContext | None = None) -> int:
        async with HttpClient(url, tls=tls) as sender:
            try:
                return (await sender.request("POST", SEND, b'{"text": "hello"}')).status
            except RequestFailed:
                return 0

    async def scene() -> None:
        server = await build(settings)
        try:
            plain, control = await server.listen(settings)
            await make_queues(server.opened, settings.queues)
            tls = f"https://localhost:{server.bound[1].port}"
            assert [each.scheme for each in server.bound] == ["http", "https"]
            assert (plain, control.partition(":")[0]) == (server.bound[0].url, "https")
            assert [await send(plain), await send(tls, context(client))] == [201, 201]
            assert await send(tls, context(client, newest=ssl.TLSVersion.TLSv1_2)) == 201
            assert [await send(tls, context(each)) for each in (None, stranger)] == [0, 0]
            assert await send(f"http://localhost:{server.bound[1].port}") == 0
        finally:
            await server.stop()

    asyncio.run(scene())


@pytest.mark.parametrize("name", ["tls_client_ca", "srmp"])
def test_a_malformed_file_of_authorities_opens_nothing(tmp_path: Path, name: str) -> None:
    bad = tmp_path / "x.pem"
    bad.write_text("x")
    chosen: dict[str, Any] = {"tables": (SrmpOptions(ca_file=bad),)} if name == "srmp" else {name: bad}
    settings = Settings(folder=tmp_path / "d", tls_certificate=PEM, tls_key=PEM, **chosen)
    with pytest.raises(UsageError, match=r"x\.pem has no certificate in PEM"):
        asyncio.run(build(settings))
    assert not (tmp_path / "d").exists()


def test_a_malformed_certificate_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.pem").write_text("x")
    settings = Settings(folder=tmp_path / "d", tls_certificate=tmp_path / "x.pem", tls_key=tmp_path / "x.pem")
    with pytest.raises(UsageError, match=r"x\.pem has no certificate in PEM"):
        asyncio.run(build(settings))
    assert not (tmp_path / "d").exists()


def test_an_engine_is_ready_when_it_is_opened_and_free_when_it_is_closed(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        for expected in (HResult.OK, HResult.QUEUE_EXISTS):
            opened = await open_engine(
                tmp_path, clock=RealClock(), chance=SystemChance(), computer_name="HERE"
            )
            with pytest.raises(StoreFailure, match="in use by another process"):
                RocksDisk(tmp_path, ALL_TABLES)
            assert opened.state.identity().computer_name == "HERE"
            answer = await opened.engine.ask(lambda to: CreateQueue(to, "orders"))
            assert isinstance(answer, Answer)
            assert answer.status is expected
            await opened.close()

    asyncio.run(scene())


def test_a_start_that_cannot_be_synced_is_reported_and_the_folder_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sync(_: RocksDisk) -> None:
        raise StoreFailure("io", "the disk failed")

    async def scene() -> None:
        with monkeypatch.context() as patched:
            patched.setattr(RocksDisk, "sync", sync)
            with pytest.raises(StoreFailure, match="the disk failed"):
                await open_engine(tmp_path, clock=RealClock(), chance=SystemChance(), computer_name="HERE")

    asyncio.run(scene())
    RocksDisk(tmp_path, ALL_TABLES).close()
