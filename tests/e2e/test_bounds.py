"""What a stranger may cost: memory and descriptors of a real server stay bounded, and others are served."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest

from tests.e2e.memory import MEGABYTE, growth_of
from tests.e2e.process import ServerProcess


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path / "store", "orders").wait_until_ready() as started:
        yield started


def post(server: ServerProcess, path: str, body: bytes) -> tuple[int, str]:
    """One request to the data plane; its status, and the sentence of a refusal."""
    try:
        with urllib.request.urlopen(f"{server.data}/api/v1{path}", body) as answer:
            return answer.status, ""
    except HTTPError as refused:
        return refused.code, json.load(refused)["error"]


# Lists


@pytest.mark.parametrize("item", [b"{},", b'{"text":""},', b'"",', b"[],"])
def test_a_list_of_a_million_items_is_refused_before_it_is_decoded(
    server: ServerProcess, item: bytes
) -> None:
    body = b"[" + item * 1_000_000 + b"{}]"
    assert post(server, "/queues/orders/messages", b"{}")[0] == 201
    with growth_of(server.pid) as growth:
        status, why = post(server, "/queues/orders/messages", body)
    assert status == 400
    assert "one request" in why or "Expected" in why
    assert growth.megabytes < 3 * len(body) / MEGABYTE + 20
    assert post(server, "/queues/orders/messages", b"[{},{}]")[0] == 201
