"""Tests the common part of the plugins of SRMP and MQQB."""

from __future__ import annotations

from reliquary.sim.mqqb.plugin import MqqbPlugin
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.streams import StreamPlugin
from tests.streams.streams_harness import begin, new_state, reborn


def test_both_protocols_with_streams_share_the_common_plugin() -> None:
    assert issubclass(SrmpPlugin, StreamPlugin)
    assert issubclass(MqqbPlugin, StreamPlugin)


def test_the_durable_state_of_streams_is_unchanged_after_a_restart() -> None:
    state = new_state()
    begin(state, 11, 12)
    plugin = MqqbPlugin()
    found = plugin.durable_state(state)
    assert found == plugin.durable_state(reborn(state))
    assert found["order of numbers"] == {4: [11, 12]}
