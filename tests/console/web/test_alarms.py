"""Alarms: what is wrong with a server is named, with what can be done."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from reliquary.console.web.alarms import Weight, alarms
from reliquary.queueing.feed.events import LookAtFeeds, MoveConsumer, OpenConsumer, SetConsumer
from reliquary.queueing.model.events import FlowControl, TakeOffline
from reliquary.queueing.model.keep import Keep
from tests.console.harness import Harness, play


async def poisoned(harness: Harness, *texts: str) -> None:
    """Send messages to `orders` and fail to consume them, so that they go to its poison queue."""
    await harness.ok("PATCH", "/queues/orders", {"poison_limit": 1})
    await harness.send("orders", *texts)
    for _ in range(2):
        held = await harness.data.request(
            "POST", "/api/v1/queues/orders/receive", b'{"hold": 30, "count": 9}'
        )
        receipt = held.body.partition(b'"receipt":"')[2].partition(b'"')[0].decode()
        if receipt:
            await harness.data.request("POST", f"/api/v1/receipts/{receipt}", b'{"delete": false}')


def test_a_server_that_is_well_has_no_alarm_and_one_that_is_not_says_why(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        opened = harness.server.opened
        assert opened.history is not None
        status = opened.history.status()
        assert alarms(opened.state, status) == []
        await opened.engine.ask(TakeOffline)
        opened.engine.submit(FlowControl(True, "the disk is full"))
        await opened.settled()
        wrong = replace(status, stopped=True, missing=7, error="no room")
        found = alarms(opened.state, wrong)
        assert [each.weight for each in found] == [Weight.BAD, *[Weight.LOOK] * 3]
        assert [each.about for each in found] == ["manager", "manager", "history", "history"]
        assert "accepts no messages" in found[0].what
        assert "7 events are missing" in found[2].what
        assert all(each.advice.endswith(".") and each.link.startswith("/console") for each in found)

    play(tmp_path, scene)


def test_dead_letters_poison_and_losses_are_alarms(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await poisoned(harness, "bad")
        body = b'{"text": "late", "deadletter": true}'
        await harness.data.request("POST", "/api/v1/queues/orders/messages", body)
        await harness.ok("POST", "/queues/orders/purge")
        found = {each.about: each.what for each in alarms(harness.server.opened.state, None)}
        assert found == {
            "system$;deadletter": "1 dead letter waits.",
            "orders;poison": "1 message waits: handed out too often.",
        }

    play(tmp_path, scene)


def test_a_consumer_that_lost_messages_is_an_alarm_until_it_reads_on(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        opened = harness.server.opened
        ask = opened.engine.ask
        await ask(lambda to: OpenConsumer(to, "orders", "lake"))
        await ask(lambda to: SetConsumer(to, "orders", "lake", Keep(count=2)))
        await harness.send("orders", "a", "b", "c")
        assert alarms(opened.state, None) == []
        await harness.data.request("POST", "/api/v1/queues/orders/receive", b'{"count": 9}')
        [alarm] = alarms(opened.state, None)
        assert alarm.about == "lake of orders"
        assert alarm.what.startswith("The consumer lost 1 message (")
        await ask(lambda to: LookAtFeeds(to, ("orders",)))
        await ask(lambda to: MoveConsumer(to, "orders", "lake", opened.state.numbers.sequence))
        assert alarms(opened.state, None) == []

    play(tmp_path, scene)
