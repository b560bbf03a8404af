"""Tests sign-in and sign-out of the console."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlencode

from reliquary.console.web.sessions import IDLE
from reliquary.net.http import HttpClient
from reliquary.server.build import build
from reliquary.server.config import Settings
from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, ROOT, USERS
from tests.console.web.harness import Outline, Reader
from tests.net.http.certificate import PEM, client_context

SIGN_IN = "/console/sign-in"


def test_an_administrator_signs_in_and_out(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        page = await reader.submit(SIGN_IN, SIGN_IN, token=ROOT)
        assert "You are signed in as root." in page.text
        manager = harness.server.opened.state.identity().identifier.hex
        assert reader.cookie.startswith(f"reliquary_session_{manager[:8]}=".encode())
        page = await reader.submit("/console/queues", "/console/queues", name="made")
        assert "The queue made was created." in page.text
        kept = reader.cookie
        await reader.submit("/console", "/console/sign-out")
        reader.cookie = kept
        answer = await reader.get("/console")
        assert (answer.status, dict(answer.headers)[b"location"]) == (303, b"/console/sign-in")

    play(tmp_path, scene, users=USERS)


def test_a_page_that_renews_itself_leads_to_the_sign_in_when_the_session_has_ended(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        await reader.submit(SIGN_IN, SIGN_IN, token=ROOT)
        headers = ((b"cookie", reader.cookie), (b"hx-request", b"true"))
        answer = await harness.control.request("GET", "/console/live", b"", headers)
        assert answer.status == 200
        sessions = harness.server.reloader.sessions
        later = sessions._monotonic() + IDLE + 1
        sessions._monotonic = lambda: later
        answer = await harness.control.request("GET", "/console/live", b"", headers)
        assert (answer.status, answer.body) == (204, b"")
        assert dict(answer.headers)[b"hx-redirect"] == SIGN_IN.encode()

    play(tmp_path, scene, users=USERS)


def test_the_cookie_is_for_the_server_and_its_own_pages_alone(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        answer = await reader.post(SIGN_IN, (await reader.read(SIGN_IN)).csrf, token=ROOT)
        cookie = dict(answer.headers)[b"set-cookie"].lower()
        assert b"httponly" in cookie
        assert b"samesite=strict" in cookie
        assert ROOT.encode() not in cookie

    play(tmp_path, scene, users=USERS)


def test_over_tls_the_cookie_is_sent_over_tls_alone(tmp_path: Path) -> None:
    settings = Settings(
        folder=tmp_path / "data", data_port=0, control_port=0, tls_certificate=PEM, tls_key=PEM, users=USERS
    )

    async def scene() -> None:
        server = await build(settings)
        try:
            _, control = await server.listen(settings)
            async with HttpClient(control, tls=client_context()) as client:
                page = Outline((await client.request("GET", SIGN_IN)).body.decode())
                form = urlencode({"csrf": page.csrf, "token": ROOT}).encode()
                answer = await client.request("POST", SIGN_IN, form)
                assert b"; secure" in dict(answer.headers)[b"set-cookie"].lower()
        finally:
            await server.stop()

    asyncio.run(scene())


def test_a_wrong_token_opens_nothing(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        assert (
            "the token belongs to no user of this server: check it, or get a new one"
            in await reader.refused(SIGN_IN, SIGN_IN, 401, token="guess")
        )
        assert not reader.cookie

    play(tmp_path, scene, users=USERS)


def test_a_user_without_rights_is_signed_in_and_still_refused(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        answer = await reader.post(SIGN_IN, (await reader.read(SIGN_IN)).csrf, token=ALICE)
        assert answer.status == 303
        page = await reader.read("/console/queue?name=system$%3Bdeadletter")
        assert "You may not look at its messages, move its messages or delete its messages:" in page.text
        path = "/console/message?queue=orders&lookup_id=1"
        assert "You may not see this page" in (await reader.read(path, 403)).text

    play(tmp_path, scene, users=USERS)


def test_a_server_without_users_has_no_sign_in(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        assert "knows no users" in (await reader.read(SIGN_IN)).text
        csrf = (await reader.read("/console/queues")).csrf
        assert (await reader.post(SIGN_IN, csrf, token="x")).status == 401

    play(tmp_path, scene)


def test_to_sign_in_again_ends_the_session_that_the_browser_had(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        await reader.submit(SIGN_IN, SIGN_IN, token=ROOT)
        first = reader.cookie
        await reader.submit(SIGN_IN, SIGN_IN, token=ROOT)
        assert first not in (b"", reader.cookie)
        await reader.read("/console")
        reader.cookie = first
        assert (await reader.get("/console")).status == 303

    play(tmp_path, scene, users=USERS)
