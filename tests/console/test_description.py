"""Tests the paths of the control plane, and their description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reliquary.console.app import table
from tests.console.harness import Harness, play


def test_every_path_is_described_and_nothing_else(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        paths = (await harness.ok("GET", "/openapi.json"))["paths"]
        found = {(method.upper(), path) for path, methods in paths.items() for method in methods}
        rows = {(row.method, row.path.replace(":path}", "}").replace(":int}", "}")) for row in table()}
        assert found == rows | {("GET", "/api/v1/openapi.json")}

    play(tmp_path, scene)


def test_other_methods_are_refused_with_those_of_the_path(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for path, allow in {
            "/access": "GET, POST, HEAD, OPTIONS",
            "/queues/orders": "GET, PATCH, DELETE, HEAD, OPTIONS",
            "/queues/orders/purge": "POST, OPTIONS",
        }.items():
            answer = await harness.control.request("PUT", f"/api/v1{path}")
            assert answer.status == 405
            assert allow.encode() in answer.body
            assert dict(answer.headers)[b"allow"] == allow.encode()
            options = await harness.control.request("OPTIONS", f"/api/v1{path}")
            assert (options.status, dict(options.headers)[b"allow"]) == (204, allow.encode())

    play(tmp_path, scene)


def test_a_parameter_that_is_not_known_or_given_twice_is_refused_by_name(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        expected: dict[str, Any] = {
            "/queues?color=red": "the query has no parameter 'color'; there is after, limit",
            "/manager?color=red": "the query has no parameter 'color'; there is none",
            "/queues?limit=1&limit=2": "the query has the parameter 'limit' more than once",
        }
        for path, why in expected.items():
            assert await harness.refused("GET", path) == (400, "INVALID_PARAMETER", why)

    play(tmp_path, scene)
