"""Tests a server with very many queues: lists come in pages, metrics in pieces, and others are served
meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import urllib.request
from pathlib import Path
from urllib.parse import quote

import pytest

from reliquary.engine.open import open_engine
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.protocols.standard import standard
from reliquary.queueing.model.events import CreateQueue
from reliquary.views.pages import PAGE
from tests.e2e.memory import growth_of
from tests.e2e.process import ServerProcess

AT_ONCE = 1000


async def make_queues(folder: Path, count: int) -> None:
    """Make a store with this many queues, many in one batch."""
    opened = await open_engine(
        folder, clock=RealClock(), chance=SystemChance(), computer_name="here", protocols=standard()
    )
    for start in range(0, count, AT_ONCE):
        numbers = range(start, min(start + AT_ONCE, count))
        asked = [opened.engine.ask(lambda to, n=n: CreateQueue(to, f"queue-{n:06d}")) for n in numbers]  # type: ignore[misc]
        await asyncio.gather(*asked)
    await opened.close()


class Others:
    """A client that asks for nothing large, again and again, while the block runs."""

    def __init__(self, server: ServerProcess) -> None:
        self._url = f"{server.data}/api/v1/health"
        self._over = False
        self._thread = threading.Thread(target=self._ask)
        self.answers = 0

    def _ask(self) -> None:
        while not self._over:
            with urllib.request.urlopen(self._url) as answer:
                answer.read()
            self.answers += 1

    def __enter__(self) -> Others:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._thread.join()


def get(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


@pytest.mark.parametrize(
    "count", [2500, pytest.param(100_000, marks=[pytest.mark.long, pytest.mark.timeout(600)])]
)
def test_lists_and_metrics_of_many_queues_cost_what_a_page_costs(tmp_path: Path, count: int) -> None:
    asyncio.run(make_queues(tmp_path / "store", count))
    settings = {"COMPUTER_NAME": "here"}
    with (
        ServerProcess(tmp_path / "store", settings=settings).wait_until_ready() as server,
        Others(server) as others,
    ):
        get(f"{server.control}/api/v1/queues?limit=1")  # the order of names is made once
        names: list[str] = []
        after = ""
        with growth_of(server.pid) as growth:
            while True:
                page = json.loads(get(f"{server.control}/api/v1/queues?after={quote(after, safe='')}"))
                assert len(page["queues"]) <= PAGE
                names += [each["name"] for each in page["queues"]]
                if "next" not in page:
                    break
                after = page["next"]
        assert [name for name in names if name.startswith("queue-")] == [
            f"queue-{n:06d}" for n in range(count)
        ]
        assert growth.megabytes < 100

        before = others.answers
        with growth_of(server.pid) as growth:
            text = get(f"{server.control}/metrics").decode()
        assert growth.megabytes < 100
        assert len(re.findall(r"^reliquary_queue_messages\{", text, re.MULTILINE)) == len(names)
        assert others.answers - before > count // 10_000
        assert len(get(f"{server.control}/")) < 1_000_000
