"""Tests queues and the manager through the control plane."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from pathlib import Path

import pytest

from reliquary.console import samples
from reliquary.engine import syncs
from tests.console.harness import Harness, play

SETTINGS = {
    "label": "what customers want",
    "journaling": True,
    "journal_required": True,
    "quota": 100,
    "journal_quota": 10,
    "transactional": True,
    "base_priority": -3,
    "poison_limit": 5,
    "retry_delay": 2,
    "longest_retry_delay": 60,
    "keep_refused": False,
    "authentication": True,
    "privacy": "body",
    "multicast_address": "239.1.2.3:8001",
    "type": "0c44cb60-0000-4000-8000-000000000007",
}
DEFAULTS = {
    "label": "",
    "journaling": False,
    "journal_required": False,
    "quota": None,
    "journal_quota": None,
    "transactional": False,
    "base_priority": 0,
    "poison_limit": 0,
    "retry_delay": 0,
    "longest_retry_delay": 3600,
    "keep_refused": True,
    "authentication": False,
    "privacy": "optional",
    "multicast_address": None,
    "type": "00000000-0000-0000-0000-000000000000",
}


def test_a_queue_is_created_shown_changed_and_deleted(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        status, made = await harness.call("POST", "/queues", {"name": "invoices", **SETTINGS})
        assert status == 201
        assert (made["name"], made["pathname"], made["kind"]) == (
            "invoices",
            "HERE\\private$\\invoices",
            "private",
        )
        assert made["settings"] == SETTINGS
        assert datetime.fromisoformat(made["created"]).tzinfo is not None
        assert await harness.ok("GET", "/queues/invoices") == made
        assert await harness.ok("GET", "/queues/private$/Invoices") == made
        changed = await harness.ok(
            "PATCH", "/queues/invoices", {"quota": None, "privacy": "none", "label": ""}
        )
        assert changed["settings"] == SETTINGS | {"quota": None, "privacy": "none", "label": ""}
        assert await harness.call("DELETE", "/queues/invoices") == (200, {"messages": 0})
        assert (await harness.refused("GET", "/queues/invoices"))[:2] == (404, "QUEUE_NOT_FOUND")

    play(tmp_path, scene)


def test_a_queue_that_says_nothing_has_the_defaults(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.ok("POST", "/queues", {"name": "plain"}))["settings"] == DEFAULTS
        assert (await harness.ok("PATCH", "/queues/plain", {}))["settings"] == DEFAULTS

    play(tmp_path, scene)


def test_depth_and_bytes_are_shown_and_a_purge_empties(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b", "c")
        await harness.data.request("POST", "/api/v1/queues/orders/receive", b'{"hold": 60}')
        shown = await harness.ok("GET", "/queues/orders")
        assert (shown["messages"], shown["locked"], shown["open_handles"]) == (2, 1, 1)
        assert shown["bytes"] == 3 * 223
        manager = await harness.ok("GET", "/manager")
        assert (manager["computer_name"], manager["messages"], manager["bytes"]) == ("HERE", 3, 3 * 223)
        assert manager["quota_kilobytes"] is None
        assert await harness.call("POST", "/queues/orders/purge") == (200, {"messages": 2})
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 0
        assert await harness.call("DELETE", "/queues/orders") == (200, {"messages": 0})

    play(tmp_path, scene)


@pytest.mark.parametrize(
    "path", ["/api/v1/queues/orders", "/api/v1/queues", "/api/v1/manager", "/metrics", "/console"]
)
def test_nothing_is_shown_before_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """A reader that acknowledges and waits starts no sync of its own: a request that shows the queue must."""
    monkeypatch.setattr(syncs, "UNASKED_SYNC_SECONDS", 60)
    monkeypatch.setattr(samples, "PERIOD", 60)

    async def scene(harness: Harness) -> None:
        engine = harness.server.opened.engine
        await harness.send("orders", "a")
        held = await harness.data.request("POST", "/api/v1/queues/orders/receive", b'{"hold": 60}')
        request = {"acknowledge": json.loads(held.body)["receipt"], "timeout": 60}
        before = engine.turns
        waiting = asyncio.ensure_future(
            harness.data.request("POST", "/api/v1/queues/orders/receive", json.dumps(request).encode())
        )
        while engine.turns == before:
            await asyncio.wait([waiting], timeout=0)
        seen = [bool(engine.syncs.turns), engine.syncs.count]
        await harness.get(path)
        seen += [engine.syncs.unsynced, engine.syncs.count - seen[1]]
        assert seen == [True, seen[1], False, 1]
        await harness.send("orders", "b")
        await waiting

    play(tmp_path, scene)


def test_all_queues_are_listed_by_name(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", "/queues", {"name": "b"})
        await harness.ok("POST", "/queues", {"name": "A"})
        names = [each["name"] for each in (await harness.ok("GET", "/queues"))["queues"]]
        assert [name for name in names if not name.startswith("system$")] == ["A", "b", "orders"]

    play(tmp_path, scene)


def test_a_queue_that_cannot_be_created_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    cases: list[tuple[object, tuple[int, str], str]] = [
        ({}, (400, "INVALID_PARAMETER"), "name is the new queue's name, not None"),
        ({"name": 7}, (400, "INVALID_PARAMETER"), "not 7"),
        ({"name": ""}, (400, "INVALID_PARAMETER"), "1 to 124 characters, this one has 0"),
        ({"name": "x" * 125}, (400, "INVALID_PARAMETER"), "1 to 124 characters, this one has 125"),
        ({"name": "a,b"}, (400, "INVALID_PARAMETER"), "','"),
        ({"name": "OTHER\\private$\\x"}, (400, "INVALID_PARAMETER"), "'OTHER' is not this computer"),
        ({"name": "x", "colour": "red"}, (400, "INVALID_PARAMETER"), "colour"),
        ({"name": "x", "quota": -1}, (400, "INVALID_PARAMETER"), "not -1"),
        ({"name": "x", "quota": 2**32}, (400, "INVALID_PARAMETER"), "not 4294967296"),
        ({"name": "x", "label": "l" * 125}, (400, "INVALID_PARAMETER"), "this one has 125"),
        ({"name": "x", "base_priority": 40_000}, (400, "INVALID_PARAMETER"), "not 40000"),
        ({"name": "x", "privacy": "secret"}, (400, "INVALID_PARAMETER"), "secret"),
        ({"name": "x", "type": "7"}, (400, "INVALID_PARAMETER"), "UUID"),
        ({"name": "x", "security": "AA=="}, (400, "INVALID_PARAMETER"), "security"),
        ({"name": "orders"}, (409, "QUEUE_EXISTS"), ""),
        ({"name": "none;retry"}, (404, "QUEUE_NOT_FOUND"), ""),
        ({"name": "system$;journal"}, (400, "ILLEGAL_QUEUE_PATHNAME"), ""),
        ([], (400, "INVALID_PARAMETER"), ""),
    ]

    async def scene(harness: Harness) -> None:
        before = await harness.ok("GET", "/queues")
        for body, expected, said in cases:
            status, code, why = await harness.refused("POST", "/queues", body)
            assert (status, code) == expected, body
            assert said in why, body
        status, _, why = await harness.refused("PATCH", "/queues/orders", {"transactional": True})
        assert (status, why) == (400, "transactional is fixed when a queue is created")
        assert (await harness.refused("PATCH", "/queues/orders", {"name": "x"}))[0] == 400
        assert (await harness.refused("PATCH", "/queues/none", {}))[:2] == (404, "QUEUE_NOT_FOUND")
        assert (await harness.refused("DELETE", "/queues/system$;journal"))[:2] == (403, "ACCESS_DENIED")
        assert (await harness.refused("POST", "/queues/none/purge"))[:2] == (404, "QUEUE_NOT_FOUND")
        assert await harness.ok("GET", "/queues") == before

    play(tmp_path, scene)


@pytest.mark.parametrize("data", [b"{", b"\xff", b'{"name": "\\ud800"}'])
def test_what_is_not_json_is_refused(tmp_path: Path, data: bytes) -> None:
    async def scene(harness: Harness) -> None:
        answer = await harness.control.request("POST", "/api/v1/queues", data)
        assert answer.status == 400
        assert b"INVALID_PARAMETER" in answer.body

    play(tmp_path, scene)
