"""Tests the paths of nouns, shown on channels of HTTPR: shown, resolved and forgotten."""

from __future__ import annotations

import socket
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from reliquary.server.httpr_options import HttprOptions
from tests.console.harness import Harness, play, whole
from tests.console.test_access import ALICE, ROOT, USERS, ask
from tests.console.test_pages import samples

SENDER = b"requester:httpr://app.example/till\r\nchannel:main\r\n"
PUSH = (
    b"request:PUSH HTTPR/1.0\r\n" + SENDER + b"transactionid:0000000000000007\r\n\r\n"
    b"message-size:9\r\nclass-of-service:assured\r\n\r\ntwo lamps\r\npayload-disposition:last\r\n"
)
PULL = b"request:PULL HTTPR/1.0\r\n" + SENDER + b"\r\n"
REPORT = b"request:REPORT HTTPR/1.0\r\n%slast-pushed-id:%s\r\noutcome:COMMIT\r\ncompleted:%s\r\n\r\n"
SEVENTH, SECOND, FIRST, NONE = (f"{each:016X}" for each in (7, 2, 1, 0))


async def post(harness: Harness, body: bytes, service: str = "orders") -> bytes:
    """Send one request of another agent."""
    answer = await harness.data.request("POST", f"/httpr/{service}", body)
    assert answer.status == 200
    return bytes(answer.body)


async def only(harness: Harness) -> dict[str, Any]:
    """Return the channel, where there is one."""
    [channel] = (await harness.ok("GET", "/channels"))["channels"]
    assert isinstance(channel, dict)
    return channel


def test_a_channel_that_another_agent_drives_is_shown_and_forgotten(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert await harness.ok("GET", "/channels") == {"channels": []}
        assert b"outcome:COMMIT" in await post(harness, PUSH)
        seen = await only(harness)
        assert (seen["number"], seen["role"], seen["name"]) == (1, "server", "main")
        assert seen["requester"] == "httpr://app.example/till"
        assert seen["responder"].endswith("/httpr/orders")
        assert (seen["last_received_id"], seen["last_received_outcome"]) == (SEVENTH, "COMMIT")
        assert (seen["in_doubt"], seen["last_source_id"], seen["fetches"]) == ([], NONE, False)
        assert await harness.ok("GET", "/channels/1") == seen

        assert b"two lamps" in await post(harness, PULL)
        [batch] = (await only(harness))["in_doubt"]
        assert (batch["id"], batch["queue"], batch["messages"]) == (FIRST, "orders", 1)
        assert datetime.fromisoformat(batch["since"]).tzinfo is not None
        found = samples((await harness.get("/metrics")).body.decode())
        assert found['reliquary_httpr_batches_in_doubt{role="server"}'] == 1
        assert found['reliquary_httpr_messages_in_doubt{role="server"}'] == 1
        refused = await harness.refused("POST", "/channels/1/forget")
        assert refused == (409, "NOT_DONE", "channel 1 cannot be forgotten while it is in doubt about 1")
        refused = await harness.refused("POST", "/channels/1/report")
        assert refused[:2] == (409, "NOT_DONE")
        assert refused[2].startswith("channel 1 is driven by httpr://app.example/till; only that agent can")

        assert (await harness.refused("POST", "/channels/1/settle", {}))[0] == 400
        assert (await harness.ok("POST", "/channels/1/settle", {"arrived": False}))["in_doubt"] == []
        refused = await harness.refused("POST", "/channels/1/settle", {"arrived": True})
        assert refused == (409, "NOT_DONE", "nothing is in doubt on channel 1")
        assert b"transactionid:0000000000000002" in await post(harness, PULL)

        await post(harness, REPORT % (SENDER, SEVENTH.encode(), SECOND.encode()))
        forgotten = await harness.ok("POST", "/channels/1/forget")
        assert (forgotten["in_doubt"], forgotten["last_received_id"]) == ([], NONE)
        assert (forgotten["last_source_id"], forgotten["source_forgotten"]) == (SECOND, True)

    play(tmp_path, scene)


def test_a_channel_that_we_drive_is_resolved_and_forgotten(tmp_path: Path) -> None:
    async def there(harness: Harness) -> None:
        orders = f"DIRECT=HTTPR://{harness.url.removeprefix('http://')}/httpr/mq#orders"

        async def here(harness: Harness) -> None:
            await harness.send(quote(orders, safe=""), "a")
            while (seen := await only(harness))["state"] != "ready":
                pass
            assert (seen["last_source_id"], seen["in_doubt"], seen["session"] != "") == (FIRST, [], True)
            found = samples((await harness.get("/metrics")).body.decode())
            assert found['reliquary_httpr_requests_total{command="PUSH"}'] == 1
            assert found['reliquary_httpr_messages_total{role="client",direction="out"}'] == 1
            assert (await harness.ok("POST", "/channels/1/report"))["state"] == "ready"
            found = samples((await harness.get("/metrics")).body.decode())
            assert found['reliquary_httpr_requests_total{command="REPORT"}'] == 1
            forgotten = await harness.ok("POST", "/channels/1/forget")
            assert (forgotten["state"], forgotten["source_forgotten"]) == ("closed", True)

        await whole(tmp_path / "here", here)
        assert (await only(harness))["last_received_id"] == NONE

    play(tmp_path / "there", there)


def test_a_channel_whose_responder_is_down_is_reported(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]  # no process listens there
        nowhere = f"DIRECT=HTTPR://127.0.0.1:{port}/httpr/mq#orders"

        async def scene(harness: Harness) -> None:
            await harness.send(quote(nowhere, safe=""), "a")
            while (seen := await only(harness))["state"] != "resting":
                pass
            assert (seen["role"], seen["name"]) == ("client", "orders")
            assert (seen["url"], seen["connected"]) == (f"http://127.0.0.1:{port}/httpr/mq", False)
            assert seen["failures"] >= 1
            assert seen["rest"] > 0
            assert "no connection to" in seen["trouble"]
            for what in ("report", "forget"):
                status, code, why = await harness.refused("POST", f"/channels/1/{what}")
                assert (status, code) == (409, "NOT_DONE")
                assert "no connection to" in why
            found = samples((await harness.get("/metrics")).body.decode())
            assert found['reliquary_httpr_failures_total{reason="no-connection"}'] >= 3

        play(tmp_path, scene)


@pytest.mark.parametrize(("method", "more"), [("GET", ""), ("POST", "/report"), ("POST", "/forget")])
def test_a_channel_that_is_not_there_is_not_found(tmp_path: Path, method: str, more: str) -> None:
    async def scene(harness: Harness) -> None:
        refused = await harness.refused(method, f"/channels/9{more}")
        assert refused == (404, "OBJECT_NOT_FOUND", "there is no channel 9")
        assert (await harness.refused(method, f"/channels/nine{more}"))[:2] == (404, "PATH_NOT_FOUND")

    play(tmp_path, scene)


def test_to_look_needs_a_right_of_the_manager_and_to_steer_another(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await ask(harness.control, ALICE, "GET", "/channels"))[0] == 200
        assert (await ask(harness.control, ALICE, "GET", "/channels/9"))[0] == 404
        for what in ("report", "forget"):
            status, refused = await ask(harness.control, ALICE, "POST", f"/channels/9/{what}")
            assert (status, refused["code"]) == (403, "ACCESS_DENIED")
            assert (await ask(harness.control, ROOT, "POST", f"/channels/9/{what}"))[0] == 404
        change = {"change": "deny", "user": "clerks", "rights": ["get-machine-properties"]}
        assert (await ask(harness.control, ROOT, "POST", "/access", change))[0] == 200
        for path in ("/channels", "/channels/9"):
            assert (await ask(harness.control, ALICE, "GET", path))[0] == 403

    play(tmp_path, scene, users=USERS)


def test_requests_are_counted_by_command_and_error(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await post(harness, PUSH)
        await post(harness, PUSH, service="nowhere")
        await post(harness, b"nonsense")
        found = samples((await harness.get("/metrics")).body.decode())
        assert found['reliquary_httpr_received_total{command="PUSH"}'] == 2
        assert found['reliquary_httpr_received_total{command="PULL"}'] == 0
        assert found['reliquary_httpr_received_total{command="unreadable"}'] == 1
        assert found['reliquary_httpr_answers_total{role="server",error="0"}'] == 1
        assert found['reliquary_httpr_answers_total{role="server",error="518"}'] == 1
        assert found['reliquary_httpr_answers_total{role="client",error="0"}'] == 0
        assert found['reliquary_httpr_messages_total{role="server",direction="in"}'] == 1
        assert found['reliquary_httpr_batches_in_doubt{role="client"}'] == 0
        assert found["reliquary_httpr_connections"] == 0

    async def switched_off(harness: Harness) -> None:
        assert b"reliquary_httpr_received" not in (await harness.get("/metrics")).body

    play(tmp_path, scene)
    play(tmp_path, switched_off, tables=(HttprOptions(enabled=False),))
