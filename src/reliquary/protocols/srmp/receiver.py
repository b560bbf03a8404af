"""A message comes, [MC-MQSRM] 3.1.5.1."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.srmp.events import ApduArrived, PostArrived
from reliquary.protocols.srmp.state import State
from reliquary.queueing.travel.transfer import ArrivalJudged, ListenersChanged


def on_post(state: State, event: PostArrived, now: Instant) -> None:
    """Somebody posted a message."""
    del state, event, now


def on_apdu(state: State, event: ApduArrived, now: Instant) -> None:
    """A message came by multicast."""
    del state, event, now


def on_judged(state: State, signal: ArrivalJudged, now: Instant) -> None:
    """The manager took a message, or did not."""
    del state, signal, now


def on_listeners_changed(state: State, signal: ListenersChanged, now: Instant) -> None:
    """Queues listen to other multicast addresses."""
    del state, signal, now
