"""The manager without `await`; tests/client tests its behaviour over both transports."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import reliquary
from reliquary import AsyncManager, Manager, ReliquaryError
from tests.client.sync.mirror import differences


def test_each_method_has_an_async_counterpart() -> None:
    found = differences(Manager, AsyncManager, inside=set())
    assert [name for name in found if not name.startswith("queue:")] == []


def test_threads_may_share_a_manager(tmp_path: Path) -> None:
    with reliquary.connect(tmp_path / "data") as qm:
        orders = qm.create_queue("orders")

        def work(number: int) -> None:
            with qm.transaction():
                orders.send(str(number))
                orders.send(str(number))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(50)))
        assert sorted(message.text for message in orders.browse()) == sorted(2 * list(map(str, range(50))))


def test_a_manager_can_be_closed_twice_and_refuses_requests_then(tmp_path: Path) -> None:
    qm = reliquary.connect(tmp_path / "data")
    qm.close()
    qm.close()
    with pytest.raises(ReliquaryError, match="closed"):
        qm.queues()
