"""Tests facts in memory and on disk: what is rebuilt from the rows equals what was live."""

from __future__ import annotations

import pytest

from reliquary.base.turn import Fact
from reliquary.protocols.httpr import facts
from reliquary.protocols.httpr.apply import APPLIED, apply
from reliquary.protocols.httpr.codec.values import Outcome
from reliquary.protocols.httpr.facts import Side
from reliquary.protocols.httpr.recovery import recover
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import TABLES, Channel, Memory, Role
from reliquary.store import MemoryDisk, StagedRows

SERVED = Channel(1, Role.SERVER, "httpr://me/app", "primary", "httpr://you/mq")
DRIVEN = Channel(2, Role.CLIENT, "httpr://you/mq", "primary", "httpr://me/app")
LIFE = (
    facts.ChannelOpened(SERVED),
    facts.ChannelOpened(DRIVEN),
    facts.SessionNumbered(1_700_000_000_000_000),
    facts.BatchPrepared(2, 1),
    facts.BatchPrepared(2, 2),
    facts.BatchesSettled(2, committed=(1,)),
    facts.BatchReceived(1, 9, Outcome.ROLLBACK),
    facts.PeerReported(1, 12),
    facts.FetchingSeen(1),
    facts.SideForgotten(1, Side.SOURCE),
    facts.SideForgotten(1, Side.SINK),
    facts.EraNoted(1_700_000_000_000_001),
    facts.MemoryJudged(1, Memory.OUTDATED, 1_700_000_000_000_001),
)


def fresh(disk: MemoryDisk) -> State:
    state = State(StagedRows(disk), HttprSettings())
    recover(state)
    return state


@pytest.mark.spec("HR-031", "HR-050")
def test_the_rebuilt_state_equals_the_live_state_after_each_fact() -> None:
    assert {type(fact) for fact in LIFE} == set(APPLIED)
    disk = MemoryDisk(TABLES)
    rows = StagedRows(disk)
    live = State(rows, HttprSettings())
    for fact in LIFE:
        apply(live, fact)
        disk.apply(rows.take())
        rebuilt = fresh(disk)
        assert (rebuilt.channels, rebuilt.numbers) == (live.channels, live.numbers), fact
    assert live.channels[2].in_doubt == (2,)
    assert live.find(*SERVED.identity) is live.channels[1]
    assert live.find(*DRIVEN.identity) is live.channels[2]


def after(*reported: Fact) -> Channel:
    state = fresh(MemoryDisk(TABLES))
    for fact in reported:
        apply(state, fact)
    return state.channels[1]


@pytest.mark.spec("HR-052", "HR-102", "HR-103")
def test_ids_never_decrease_even_after_a_forget() -> None:
    opened = facts.ChannelOpened(SERVED)
    settled = facts.BatchesSettled(1, committed=(5,))
    channel = after(opened, facts.BatchPrepared(1, 5), settled, facts.SideForgotten(1, Side.SOURCE))
    assert (channel.last_source_id, channel.source_forgotten) == (5, True)
    with pytest.raises(AssertionError):
        after(opened, facts.BatchPrepared(1, 5), facts.BatchPrepared(1, 5))


def test_what_is_in_doubt_is_not_forgotten() -> None:
    with pytest.raises(AssertionError):
        after(facts.ChannelOpened(SERVED), facts.BatchPrepared(1, 5), facts.SideForgotten(1, Side.SOURCE))


@pytest.mark.spec("HR-059")
def test_a_forgotten_sink_is_as_at_the_beginning() -> None:
    received = facts.BatchReceived(1, 9, Outcome.ROLLBACK)
    channel = after(
        facts.ChannelOpened(SERVED), received, facts.PeerReported(1, 9), facts.SideForgotten(1, Side.SINK)
    )
    assert channel == SERVED
