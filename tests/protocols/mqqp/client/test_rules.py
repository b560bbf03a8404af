"""Tests the client role as tables."""

from __future__ import annotations

from reliquary.protocols.mqqp.client import calling, doubts, links
from reliquary.protocols.mqqp.client.rules import RULES, SIGNAL_RULES, TIMERS
from reliquary.protocols.mqqp.events import LinkLost, ServerFaulted, ServerResponded
from reliquary.queueing.travel.remote import ReadElsewhere, ReaderGone


def test_every_event_signal_and_timer_of_the_role_has_a_rule() -> None:
    assert set(RULES) == {ServerResponded, ServerFaulted, LinkLost}
    assert set(SIGNAL_RULES) == {ReadElsewhere, ReaderGone}
    own = {calling.TIMER, doubts.TIMER, links.HOLD_TIMER, links.IDLE_TIMER, links.LEASE_TIMER}
    assert set(TIMERS) == own
    assert all(name.startswith("mqqp-") for name in own)
