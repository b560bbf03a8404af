"""A run of several sites that use MQQB meets some of everything."""

from __future__ import annotations

from collections import Counter

import pytest

from reliquary.base.rows import Rows
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Count, State
from reliquary.sim.mqqb.plugin import MqqbPlugin
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.run import World, simulate

SEEDS = range(1, 13)
MET = (
    Count.SENT,
    Count.RECEIVED,
    Count.RETRANSMITTED,
    Count.DUPLICATES,
    Count.SESSION_ACKS,
    Count.ORDER_ACKS_SENT,
    Count.ORDER_ACKS_RECEIVED,
    Count.FINAL_ACKS_SENT,
    Count.FINAL_ACKS_RECEIVED,
)


def test_a_seed_repeats_its_run() -> None:
    assert str(simulate(3, [MqqbPlugin])) == str(simulate(3, [MqqbPlugin]))


def test_all_kinds_of_packets_and_endings_are_met(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[Count] = Counter()
    real = State.__init__

    def made(self: State, rows: Rows, settings: MqqbSettings) -> None:
        real(self, rows, settings)
        self.counts = counts  # those of all sites and of all their processes

    monkeypatch.setattr(State, "__init__", made)
    for seed in SEEDS:
        assert not simulate(seed, [MqqbPlugin]).failure
    assert [each for each in MET if not counts[each]] == []


def test_a_chain_leads_from_one_protocol_to_the_other() -> None:
    world = World(1, [SrmpPlugin, MqqbPlugin])
    assert world.chains
    for chain in world.chains:
        assert [each.name for each in chain.plugins] == ["srmp", "mqqb"]
