"""Tests alarms: what is wrong with a server is named, with what can be done."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from reliquary.base.time import SECOND, as_datetime
from reliquary.console.samples import Sample
from reliquary.console.web.alarm_kinds import AlarmKind, Weight
from reliquary.console.web.alarms import (
    IN_DOUBT,
    SPAN,
    Alarm,
    alarms,
    of_channels,
    of_manager,
    of_outgoing,
    of_samples,
)
from reliquary.protocols.httpr.nouns import BatchInfo, ChannelInfo
from reliquary.queueing.feed.events import LookAtFeeds, MoveConsumer, OpenConsumer, SetConsumer
from reliquary.queueing.model.events import FlowControl, TakeOffline
from reliquary.queueing.model.keep import Keep
from reliquary.views.manager import manager_view
from reliquary.views.outgoing_queues import outgoing_queues
from tests.console.harness import Harness, play


def alarms_of(harness: Harness) -> list[Alarm]:
    return alarms(harness.server.opened, None, harness.server.sampler)


def sample(at: int, **counts: int) -> Sample:
    return Sample(at, 0, 0, 0, 0, counts.pop("syncs", 0), 0, **counts)


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
        assert alarms(opened, status, harness.server.sampler) == []
        await opened.engine.ask(TakeOffline)
        opened.engine.submit(FlowControl(True, "the disk is full"))
        await opened.settled()
        wrong = replace(status, stopped=True, missing=7, error="no room")
        found = alarms(opened, wrong, harness.server.sampler, "the log of acts cannot be written: full")
        assert [each.weight for each in found] == [*[Weight.BAD] * 2, *[Weight.LOOK] * 3]
        assert [each.about for each in found] == ["acts", "manager", "manager", "history", "history"]
        assert [each.kind for each in found] == [
            AlarmKind.ACTS_NOT_LOGGED,
            AlarmKind.ACCEPTS_NOTHING,
            AlarmKind.OFFLINE,
            AlarmKind.HISTORY_STOPPED,
            AlarmKind.HISTORY_NOT_EXPORTED,
        ]
        assert found[0].what == "The log of acts cannot be written: full."
        assert "accepts no messages" in found[1].what
        assert "7 events are missing" in found[3].what
        assert all(each.advice.endswith(".") and each.link.startswith("/console") for each in found)

    play(tmp_path, scene)


def test_dead_letters_poison_and_losses_are_alarms(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await poisoned(harness, "bad")
        body = b'{"text": "late", "deadletter": true}'
        await harness.data.request("POST", "/api/v1/queues/orders/messages", body)
        await harness.ok("POST", "/queues/orders/purge")
        found = {each.about: each.what for each in alarms_of(harness)}
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
        assert alarms_of(harness) == []
        await harness.data.request("POST", "/api/v1/queues/orders/receive", b'{"count": 9}')
        [alarm] = alarms_of(harness)
        assert alarm.about == "lake of orders"
        assert alarm.what.startswith("The consumer lost 1 message (")
        await ask(lambda to: LookAtFeeds(to, ("orders",)))
        await ask(lambda to: MoveConsumer(to, "orders", "lake", opened.state.numbers.sequence))
        assert alarms_of(harness) == []

    play(tmp_path, scene)


def test_a_full_manager_undecided_transactions_and_lost_copies_are_alarms(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        view = manager_view(harness.server.opened.state)
        assert list(of_manager(view)) == []
        wrong = replace(
            view, quota_kilobytes=1, bytes=1000, transactions_prepared=2, copies_lost={"journal": 3}
        )
        full, prepared, lost = of_manager(wrong)
        assert (full.kind, full.what) == (AlarmKind.NEARLY_FULL, "Messages take 1,000 of 1,024 bytes.")
        assert (prepared.kind, prepared.what) == (
            AlarmKind.TRANSACTION_IN_DOUBT,
            "2 prepared transactions wait for a decision.",
        )
        assert lost.kind is AlarmKind.COPIES_LOST

    play(tmp_path, scene)


def test_a_destination_that_fails_is_paused_or_refuses_messages_is_an_alarm(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("DIRECT%3DTCP%3A192.0.2.1%5Cprivate$%5Cfar", "x")
        [far] = outgoing_queues(harness.server.opened.state)
        assert list(of_outgoing([far, replace(far, failures=2)])) == []
        failing, paused = of_outgoing([replace(far, failures=3), replace(far, state="on-hold")])
        assert (failing.kind, paused.kind) == (AlarmKind.PEER_UNREACHABLE, AlarmKind.OUTGOING_PAUSED)
        assert failing.about == paused.about == far.destination
        [queue] = harness.server.opened.state.names.outgoing.values()
        assert queue.link is not None
        queue.link.refused = 2
        await harness.server.sampler.take()
        [refuses] = alarms_of(harness)
        assert (refuses.kind, refuses.about) == (AlarmKind.PEER_REFUSES, far.destination)
        assert "refused 2 messages for good" in refuses.what

    play(tmp_path, scene)


def test_a_batch_is_an_alarm_when_it_was_in_doubt_for_long() -> None:
    now = 10 * IN_DOUBT
    batches = [
        BatchInfo(id="a", queue="q", messages=3, since=as_datetime(now - IN_DOUBT)),
        BatchInfo(id="b", queue="q", messages=4, since=as_datetime(now - IN_DOUBT + SECOND)),
        BatchInfo(id="c", queue="q", messages=5, since=None),
    ]
    channel = ChannelInfo(
        number=7, role="client", requester="here", name="x", responder="there", state="ready",
        last_source_id="", source_forgotten=False, in_doubt=batches, last_received_id="",
        last_received_outcome="", last_sent_id="",
    )  # fmt: skip
    assert list(of_channels([channel], [])) == []
    [young] = of_channels([channel], [sample(now - SECOND), sample(now)])
    assert (young.kind, young.about) == (AlarmKind.BATCH_IN_DOUBT, "channel 7 with there")
    assert "1 of its batches" in young.what
    assert "3 messages wait" in young.what
    [old] = of_channels([channel], [sample(now - IN_DOUBT), sample(now)])
    assert "8 messages wait" in old.what


def test_slow_syncs_and_a_busy_loop_are_alarms_when_they_last() -> None:
    calm = [sample(0), sample(SPAN, syncs=100, ticks=100), sample(2 * SPAN, syncs=200, ticks=200)]
    assert list(of_samples([])) == list(of_samples(calm)) == []
    once = [*calm[:2], sample(2 * SPAN, syncs=200, slow_syncs=50, ticks=200, late_ticks=50)]
    assert list(of_samples(once)) == []
    lasting = [
        sample(0),
        sample(SPAN, syncs=100, slow_syncs=2, ticks=100, late_ticks=3),
        sample(2 * SPAN, syncs=200, slow_syncs=50, ticks=200, late_ticks=50),
    ]
    assert list(of_samples(lasting[1:])) == []  # the server is too young
    slow, busy = of_samples(lasting)
    assert (slow.kind, slow.about) == (AlarmKind.SYNCS_ARE_SLOW, "store")
    assert slow.what.startswith("At least 2% of the syncs")
    assert (busy.kind, busy.about) == (AlarmKind.LOOP_IS_BUSY, "event loop")
