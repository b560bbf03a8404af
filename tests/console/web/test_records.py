"""Tests pages of the nouns of administration: lists, records, acts, and decisions about transactions."""

from __future__ import annotations

import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode
from uuid import UUID

from reliquary.base.time import seconds
from reliquary.client.connect import connect_async
from reliquary.client.nouns import NOUNS
from reliquary.console.web.pages import has_page
from reliquary.protocols.wsrm.destination.tables import Received
from reliquary.protocols.wsrm.machine import Wsrm
from tests.console.harness import Harness, play
from tests.console.web.exchange import IN_DOUBT, LISTS, TABLES, exchange
from tests.console.web.harness import Outline, Reader
from tests.protocols.wsrm.known_sequences import add_inbound, add_outbound

FAR = r"DIRECT=TCP:192.0.2.1\private$\far"


def test_every_noun_that_can_be_listed_has_its_page(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for noun in NOUNS:
            status = 200 if has_page(noun) else 404
            page = await Reader(harness).read(f"/console/records/{noun.plural}", status)
            if has_page(noun):
                assert f"reliquary {noun.name} list" in page.text

    play(tmp_path, scene)


def test_an_outgoing_queue_is_paused_and_resumed(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        body = b'{"text": "hello"}'
        path = "/api/v1/queues/" + FAR.replace("\\", "%5C").replace("=", "%3D") + "/messages"
        assert (await harness.data.request("POST", path, body)).status == 201
        reader = Reader(harness)
        listed = await reader.read("/console/records/outgoing")
        record = next(link for link in listed.links if link.startswith("/console/record/outgoing?"))
        assert record == "/console/record/outgoing?" + urlencode({"key": FAR})
        page = await reader.submit(record, "/console/record/outgoing/pause", key=FAR)
        assert f"Outgoing queue {FAR} was paused." in page.text
        assert f"Outgoing queue {FAR}" in page.text
        assert (await harness.ok("GET", "/outgoing"))["outgoing"][0]["state"] == "on-hold"
        assert "The queue is paused" in (await reader.read("/console/alarms")).text
        await reader.submit(record, "/console/record/outgoing/resume", key=FAR)
        assert (await harness.ok("GET", "/outgoing"))["outgoing"][0]["state"] != "on-hold"
        await reader.refused(record, "/console/record/outgoing/burn", 404, key=FAR)

    play(tmp_path, scene)


def test_a_transaction_in_doubt_is_decided_by_a_person(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        identifier = str(UUID(int=7))
        async with connect_async(harness.url, control=harness.control_url) as manager:
            await manager.create_queue("ledger", transactional=True)
            transaction = manager.transaction(id=identifier)
            await transaction.begin()
            await manager.queue("ledger", transaction=transaction).send("one")
            await transaction.prepare()
        reader, record = Reader(harness), f"/console/record/transactions?key={identifier}"
        assert "1 prepared transaction waits" in (await reader.read("/console/alarms")).text
        await reader.submit(record, "/console/record/transactions/commit", key=identifier)
        assert (await harness.ok("GET", "/queues/ledger"))["messages"] == 1

    play(tmp_path, scene)


def test_a_malformed_key_is_refused(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (
            "the key is a number" in (await Reader(harness).read("/console/record/channels?key=x", 400)).text
        )
        await Reader(harness).read("/console/record/channels?key=7", 404)
        await Reader(harness).read("/console/record/nothing?key=7", 404)

    play(tmp_path, scene)


def test_readers_of_feeds_are_listed_with_their_lag(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert "No consumer reads a feed by name" in (await Reader(harness).read("/console/consumers")).text
        answer = await harness.data.request("POST", "/api/v1/queues/orders/consumers", b'{"name": "lake"}')
        assert answer.status < 300, answer.body
        await harness.send("orders", "a")
        page = await Reader(harness).read("/console/consumers")
        assert re.search("lakeorders[1-9]", page.text), "the lag stands beside consumer and queue"

    play(tmp_path, scene)


def test_sequences_show_what_came_what_is_missing_and_how_much_room_there_is(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        state = harness.server.opened.machine(Wsrm).state
        made = add_inbound(state, 3, Received(ranges=((1, 5), (7, 7)), last=9), life=seconds(10**9))
        made.buffered, made.duplicates = {7: 100}, 2
        add_outbound(state, 4, (6, 8), last=8, acknowledged=((1, 5), (7, 7)))
        reader = Reader(harness)
        page = await reader.read("/console/records/sequences")
        heads, *rows = page.rows
        shown = [dict(zip(heads, row, strict=True)) for row in rows]
        assert [
            (row["number"], row["direction"], row["acknowledged"], row["gaps"], row["room"]) for row in shown
        ] == [("3", "in", "1-5, 7", "6, 8-9", "7"), ("4", "out", "1-5, 7", "6, 8", "-")]
        assert [(row["held"], row["duplicates"], row["unacknowledged"]) for row in shown] == [
            ("1", "2", "0"),
            ("0", "0", "2"),
        ]
        facts = (await reader.read("/console/record/sequences?key=3")).facts
        assert (
            facts.items()
            >= {
                "acknowledged": "1-5, 7",
                "gaps": "6, 8-9",
                "room": "7",
                "last": "9",
                "queue": "orders",
                "identifier": "urn:in:3",
            }.items()
        )

    play(tmp_path, scene)


VALUES: Final = {
    "outgoing": {"state": "connected", "messages": "0", "delivered": "1", "failures": "0"},
    "streams": {"protocol": "srmp", "direction": "in", "last": "1", "acknowledged": "1"},
    "channels": {
        "role": "server",
        "name": "orders",
        "state": "ready",
        "connected": "yes",
        "last received ID": "0000000000000001",
        "last received outcome": "COMMIT",
        "failures": "0",
    },
    "sequences": {
        "direction": "in",
        "state": "open",
        "queue": "orders",
        "version": "1.1",
        "acknowledged": "1",
        "gaps": "-",
        "room": "8",
    },
    "rpc": {
        "direction": "in",
        "peer": "127.0.0.1",
        "user": "anonymous",
        "interfaces": "qm2qm",
        "queues": r"DIRECT=OS:.\private$\nothing",
        "pending": "1",
    },
    "sessions": {
        "direction": "in",
        "peer": "127.0.0.1",
        "state": "open",
        "window": "64",
        "sent": "0",
        "received": "1",
    },
    "transactions": {"transaction": IN_DOUBT, "stage": "prepared", "owner": "shop", "operations": "1"},
    "writers": {"query": "query-7", "writers": "lake", "batch": "3", "rows": "2", "total": "2"},
}
"""What the page of a record shows after the exchange."""


def test_records_of_all_protocols_show_their_values(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        async with AsyncExitStack() as more:
            await exchange(harness, tmp_path / "far", more)
            reader = Reader(harness)
            for plural in LISTS:
                page = await reader.read(f"/console/records/{plural}")
                links = [link for link in page.links if link.startswith(f"/console/record/{plural}?")]
                assert len(links) == len(page.rows) - 1, plural
                records = [(await reader.read(link)).facts for link in links]
                expected = VALUES[plural]
                assert any(expected.items() <= each.items() for each in records), (plural, records)

    play(tmp_path / "here", scene, tables=TABLES)


def targets_of(page: Outline) -> set[str]:
    """Return where the buttons of the records of a list lead to."""
    return {target for each in page.all("button") if (target := each.get("formaction"))}


def test_an_outgoing_queue_is_paused_and_resumed_from_the_list(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        name = "DIRECT=OS:elsewhere\\private$\\orders"
        await harness.send("DIRECT=OS:elsewhere%5Cprivate$%5Corders", "far away")
        reader, listed = Reader(harness), "/console/records/outgoing"
        assert "/console/record/outgoing/pause" in targets_of(await reader.read(listed))
        page = await reader.submit(listed, "/console/record/outgoing/pause", key=name)
        assert "on-hold" in page.text
        assert [each.get("action") for each in page.all("form")] == ["/console/record/outgoing/resume", None]
        assert targets_of(await reader.read(listed)) == {"/console/record/outgoing/resume"}
        page = await reader.submit(listed, "/console/record/outgoing/resume", key=name)
        assert "on-hold" not in page.text

    play(tmp_path, scene)


def test_an_act_with_a_choice_is_refused_until_one_was_chosen(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send(quote("DIRECT=HTTPR://127.0.0.1:9/x#orders", safe=""), "far away")
        reader, record = Reader(harness), "/console/record/channels?key=1"
        page = await reader.read(record)
        chosen = [each.get("value") for each in page.all("input") if each.get("type") == "radio"]
        assert chosen == ["arrived", "lost"]
        assert "in place of an agent that is gone for good" in page.text
        settle = "/console/record/channels/settle"
        assert "choose one: arrived or lost" in await reader.refused(record, settle, 400, key="1")

    play(tmp_path, scene)
