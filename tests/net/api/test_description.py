"""Tests GET /openapi.json of the data plane: every route is in it, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from reliquary.net.api.description import path_of
from reliquary.server.api import ApiEndpoint
from tests.console.harness import Harness, play


def routes_of(harness: Harness) -> set[tuple[str, str]]:
    """Return the methods and paths of the tables that the server answers by."""
    plane = next(each.plane for each in harness.server.endpoints if isinstance(each, ApiEndpoint))
    table = plane._routes
    return {(method, path_of(shape)) for shape, methods in table.items() for method in methods}


def test_every_route_is_described_and_nothing_else(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        answer = await harness.data.request("GET", "/api/v1/openapi.json")
        assert answer.status == 200
        paths = json.loads(answer.body)["paths"]
        found = {(method.upper(), path) for path, methods in paths.items() for method in methods}
        stages = ("PUT", "/api/v1/stages/{query}/{batch}/{part}/{attempt}")
        assert found == routes_of(harness) | {stages}
        for method, path in found:
            there = await harness.data.request(method, path.format_map(Names()), b"{}")
            assert b'"code":"PATH_NOT_FOUND"' not in there.body, path
            assert there.status != 405, path

    play(tmp_path, scene)


class Names(dict[str, str]):
    """A value for any parameter of a path."""

    def __missing__(self, key: str) -> str:
        return "0"
