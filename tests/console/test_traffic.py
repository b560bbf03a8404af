"""Tests outgoing queues and the manager's connection through the control plane."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.console.harness import Harness, play
from tests.protocols.srmp.peer import ALPHA, RECEIPTS, STREAM, stream_message

ELSEWHERE = r"DIRECT=OS:elsewhere\private$\orders"
HERE = "http://localhost/msmq/private$/torders"
LOOPED = r"DIRECT=OS:loopback\private$\orders"


def at(destination: str, *more: str) -> str:
    return "/".join(("/outgoing", quote(destination, safe=""), *more))


async def send(harness: Harness, destination: str, *texts: str) -> None:
    await harness.send(quote(destination, safe=""), *texts)


def test_an_outgoing_queue_is_listed_shown_paused_and_resumed(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert await harness.ok("GET", "/outgoing") == {"outgoing": []}
        await send(harness, ELSEWHERE, "a", "b")
        [shown] = (await harness.ok("GET", "/outgoing"))["outgoing"]
        assert (shown["destination"], shown["state"], shown["messages"]) == (ELSEWHERE, "waiting", 2)
        assert (shown["sending"], shown["accepted"], shown["delivered"], shown["refused"]) == (0, 0, 0, 0)
        [attempt] = shown["history"]
        assert (attempt["status"], attempt["error"]) == ("in-process", 0)
        assert datetime.fromisoformat(attempt["time"]).tzinfo is not None
        assert await harness.ok("GET", at(ELSEWHERE)) == shown
        paused = await harness.ok("POST", at(ELSEWHERE, "pause"))
        assert paused == shown | {"state": "on-hold"}
        assert (await harness.ok("POST", at(ELSEWHERE, "resume")))["state"] == "waiting"

    play(tmp_path, scene)


@pytest.mark.parametrize(
    "destination", ["DIRECT=HTTP://elsewhere/msmq/private$/orders", "MULTICAST=224.1.1.1:8001"]
)
def test_destinations_of_every_form_have_a_path(tmp_path: Path, destination: str) -> None:
    async def scene(harness: Harness) -> None:
        await send(harness, destination, "a")
        assert (await harness.ok("GET", at(destination)))["destination"] == destination
        assert (await harness.ok("POST", at(destination, "pause")))["state"] == "on-hold"

    play(tmp_path, scene)


def test_what_is_not_an_outgoing_queue_is_refused(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for method, path in (
            ("GET", at(ELSEWHERE)),
            ("POST", at(ELSEWHERE, "pause")),
            ("POST", at(ELSEWHERE, "resume")),
        ):
            assert await harness.refused(method, path) == (
                404,
                "QUEUE_NOT_FOUND",
                f"nothing was ever sent to {ELSEWHERE}",
            )
        assert await harness.refused("POST", at("orders", "pause")) == (
            400,
            "INVALID_PARAMETER",
            "orders is a queue of this manager, and no outgoing queue",
        )
        assert (await harness.refused("GET", at("DIRECT=")))[0] == 400

    play(tmp_path, scene)


def test_the_manager_goes_off_line_and_on_line(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        shown = await harness.ok("GET", "/manager")
        assert (shown["state"], shown["online"], shown["throttled"]) == ("ready", True, False)
        assert (await harness.ok("POST", "/manager/offline"))["online"] is False
        await send(harness, LOOPED, "a")
        assert (await harness.ok("GET", at(LOOPED)))["state"] == "inactive"
        assert (await harness.ok("POST", "/manager/online"))["online"] is True
        answer = await harness.data.request(
            "POST", "/api/v1/queues/orders/receive", json.dumps({"timeout": 20}).encode()
        )
        assert len(json.loads(answer.body)["messages"]) == 1
        assert (await harness.ok("GET", at(LOOPED)))["delivered"] == 1

    play(tmp_path, scene)


@pytest.mark.spec("DM-095", "DM-173")
def test_the_setting_hardened_security_lets_messages_leave_by_http_alone(tmp_path: Path) -> None:
    web = "DIRECT=HTTP://elsewhere/msmq/private$/orders"

    async def first(harness: Harness) -> None:
        await send(harness, ELSEWHERE, "a")
        assert (await harness.ok("GET", at(ELSEWHERE)))["state"] == "waiting"

    async def hardened(harness: Harness) -> None:
        await send(harness, web, "b")
        assert (await harness.ok("GET", at(ELSEWHERE)))["state"] == "locked"
        assert (await harness.ok("GET", at(web)))["state"] != "locked"
        assert (await harness.ok("POST", at(ELSEWHERE, "resume")))["state"] == "locked"

    play(tmp_path, first)
    play(tmp_path, hardened, hardened_security=True)
    play(tmp_path, first)


@pytest.mark.spec("SR-216", "SR-217")
def test_streams_are_shown_both_ways(tmp_path: Path) -> None:
    destination = "DIRECT=HTTP://localhost:9/msmq/private$/torders"

    async def scene(harness: Harness) -> None:
        assert await harness.ok("GET", "/streams") == {"streams": []}
        await harness.ok("POST", "/queues", {"name": "torders", "transactional": True})
        for number in (1, 2, 9):
            content_type, body = stream_message(number, to=HERE)
            headers = ((b"content-type", content_type.encode()),)
            answer = await harness.data.request("POST", "/msmq/private$/torders", body, headers)
            assert (answer.status, answer.body) == (200, b"")
        began = await harness.data.request("POST", "/api/v1/transactions", b"{}")
        transaction = json.loads(began.body)["transaction"]
        path = f"/api/v1/queues/{quote(destination, safe='')}/messages?transaction={transaction}"
        await harness.data.request("POST", path, b'[{"text": "a"}, {"text": "b"}]')
        await harness.data.request("POST", f"/api/v1/transactions/{transaction}/commit", b"{}")
        while len(seen := (await harness.ok("GET", "/streams"))["streams"]) < 2:
            pass
        out, into = seen
        assert (out["direction"], out["peer"], out["queue"]) == ("out", "localhost:9", destination)
        assert (out["last"], out["acknowledged"], out["awaiting"], out["used"]) == (2, 0, 2, None)
        assert (into["direction"], into["peer"], into["queue"]) == ("in", str(ALPHA), HERE)
        assert (into["stream"], into["last"], into["rejected"]) == (str(STREAM), 2, 1)
        assert (into["receipts_to"], into["next_resend"]) == (RECEIPTS, None)
        assert datetime.fromisoformat(into["used"]).tzinfo is not None
        assert await harness.ok("GET", f"/streams/{into['name']}") == into
        assert (await harness.ok("POST", f"/streams/{into['name']}/reset", {}))["reset"]
        content_type, body = stream_message(9, to=HERE)
        headers = ((b"content-type", content_type.encode()),)
        await harness.data.request("POST", "/msmq/private$/torders", body, headers)
        shown = await harness.ok("GET", f"/streams/{into['name']}")
        assert (shown["last"], shown["skipped"], shown["reset"]) == (9, 6, False)
        anew = await harness.ok("POST", f"/streams/{out['name']}/reset", {"renumber": True})
        assert (anew["name"], anew["awaiting"]) == (out["name"], 2)
        assert int(anew["stream"]) > int(out["stream"])
        assert (await harness.refused("POST", f"/streams/{out['name']}/reset", {"renumber": 3}))[0] == 400
        assert (await harness.refused("POST", "/streams/out-99/reset", {}))[0] == 404

    play(tmp_path, scene)
