"""Tests nouns of administration: one declaration is enough for every face of a manager."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_type_hints

import pytest
from click.testing import CliRunner

import reliquary
from reliquary import Manager, NotFound, QueueNotFound
from reliquary.cli.main import cli
from reliquary.client import nouns
from reliquary.client.administration import Administration, AsyncAdministration
from reliquary.client.feed import FeedClient
from reliquary.client.nouns import NOUNS
from reliquary.views.consumers import CONSUMER
from reliquary.views.writers import WRITER
from tests.client.labels import LABEL, LabelInfo, WordInfo
from tests.client.served import Served, served
from tests.client.sync.mirror import differences
from tools import api_reference

RUSH = LabelInfo(
    queue="orders",
    label="rush hour",
    words=[WordInfo(text="rush", length=4), WordInfo(text="hour", length=4)],
    initials=["r", "h"],
)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of `NOUNS` that a new noun needs."""
    monkeypatch.setattr(nouns, "NOUNS", (*NOUNS, LABEL))


@pytest.fixture
def server(registered: None, tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "served") as running:
        yield running


@contextmanager
def by_address(server: Served) -> Iterator[Manager]:
    with reliquary.connect(server.data, control=server.control) as manager:
        yield manager


def check(manager: Manager) -> None:
    """Administer a noun on a manager without queues of its own."""
    assert manager.list_records(LABEL) == []
    manager.create_queue("orders", label="slow")
    assert manager.show_record(LABEL, "orders").label == "slow"
    assert manager.act_on(LABEL, "orders", "write", text="rush hour") == RUSH
    assert manager.show_record(LABEL, "orders") == RUSH
    assert manager.list_records(LABEL) == [RUSH]
    manager.create_queue("bills")
    assert manager.list_records(LABEL, word="hour") == manager.list_records(LABEL, empty=False) == [RUSH]
    assert [each.queue for each in manager.list_records(LABEL, empty=True)] == ["bills", "orders"]
    assert manager.list_records(LABEL, word="slow", empty=True) == []
    with pytest.raises(QueueNotFound, match="nothing has no label, for it does not exist"):
        manager.show_record(LABEL, "nothing")
    with pytest.raises(QueueNotFound):
        manager.act_on(LABEL, "nothing", "write", text="x")


def test_a_noun_declared_once_appears_everywhere(server: Served, tmp_path: Path) -> None:
    with reliquary.connect(tmp_path / "in process") as manager:
        check(manager)
    with by_address(server) as manager:
        check(manager)

    where = ["--server", server.data, "--control", server.control]
    written = CliRunner().invoke(cli, [*where, "label", "write", "orders", "--text", "rush hour"])
    assert json.loads(written.output)["label"] == "rush hour"
    listed = CliRunner().invoke(cli, [*where, "label", "list", "--empty", "--word", ""])
    assert [json.loads(line)["queue"] for line in listed.output.splitlines()] == ["bills", "orders"]
    table = CliRunner().invoke(cli, [*where, "label", "list", "--table"]).output
    assert [line.split() for line in table.splitlines()] == [
        ["queue", "words", "initials"],
        ["orders", "2", "r,", "h"],
    ]
    assert (
        "\n  label        List, show and write the labels of queues.\n"
        in CliRunner().invoke(cli, ["--help"]).output
    )

    page = api_reference.page(Path(__file__).parents[2])
    assert page is not None
    assert '- `POST /labels/{queue}/write` `{"text": string}` → LABEL: write on QUEUE\n' in page


def check_lists(manager: Manager) -> None:
    """Nouns that a server has on its data plane, one of them below a queue."""
    manager.create_queue("bills")
    assert manager.list_records(CONSUMER, queue="bills") == []
    assert manager.list_records(WRITER) == []
    with pytest.raises(QueueNotFound, match="there is no queue nowhere"):
        manager.list_records(CONSUMER, queue="nowhere")


def test_a_noun_of_the_data_plane_is_listed_in_process_too(server: Served, tmp_path: Path) -> None:
    with reliquary.connect(tmp_path / "in process") as manager:
        check_lists(manager)
    with by_address(server) as manager:
        check_lists(manager)
        with FeedClient(server.data) as client:
            client.open_consumer("bills", "lake", "earliest")
            [known] = client.consumers("bills")
        [listed] = manager.list_records(CONSUMER, queue="bills")
        assert (listed.name, int(listed.cursor), listed.created) == (known.name, known.cursor, known.created)


def test_a_sequence_that_does_not_exist_is_not_found_by_any_method(tmp_path: Path) -> None:
    async def scene() -> None:
        async with await reliquary.connect_async(tmp_path / "data") as manager:
            assert await manager.sequences() == []
            for method in (manager.sequence, manager.close_sequence, manager.terminate_sequence):
                with pytest.raises(NotFound, match="there is no sequence 9"):
                    await method(9)

    asyncio.run(scene())
    with reliquary.connect(tmp_path / "data") as manager:
        assert manager.sequences() == []
        for method in (manager.sequence, manager.close_sequence, manager.terminate_sequence):
            with pytest.raises(NotFound, match="there is no sequence 9"):
                method(9)


def test_the_async_manager_administers_a_noun_too(tmp_path: Path) -> None:
    async def scene() -> None:
        async with await reliquary.connect_async(tmp_path / "data") as manager:
            await manager.create_queue("orders", label="slow")
            assert await manager.act_on(LABEL, "orders", "write", text="rush hour") == RUSH
            assert await manager.list_records(LABEL) == [RUSH]

    asyncio.run(scene())


def test_what_can_be_asked_without_await_is_what_can_be_asked_with_it() -> None:
    assert differences(Administration, AsyncAdministration, inside=set()) == []
    for name, method in inspect.getmembers(AsyncAdministration, inspect.iscoroutinefunction):
        without = getattr(Administration, name)
        assert get_type_hints(without)["return"] == get_type_hints(method)["return"], name
