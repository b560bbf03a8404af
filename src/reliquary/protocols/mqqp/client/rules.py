"""Defines the tables of the client role: a rule for each event, each signal and each timer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.base.ruled import Rule, TimerRule
from reliquary.base.turn import Event, Signal
from reliquary.protocols.mqqp.client import (
    calling,
    doubts,
    links,
    losing,
    opening,
    receipts,
    requests,
    responses,
)
from reliquary.protocols.mqqp.events import LinkLost, ServerFaulted, ServerResponded
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.travel.remote import ReadElsewhere, ReaderGone

RULES: Final[Mapping[type[Event], Rule[State]]] = {
    ServerResponded: responses.on_responded,
    ServerFaulted: responses.on_faulted,
    LinkLost: losing.on_link_lost,
}
SIGNAL_RULES: Final[Mapping[type[Signal], Rule[State]]] = {
    ReadElsewhere: requests.on_request,
    ReaderGone: requests.on_reader_gone,
}
TIMERS: Final[Mapping[str, TimerRule[State]]] = {
    calling.TIMER: losing.on_call_time,
    links.HOLD_TIMER: receipts.on_hold_end,
    links.LEASE_TIMER: opening.on_lease_end,
    links.IDLE_TIMER: opening.on_idle,
    doubts.TIMER: doubts.on_timer,
}
