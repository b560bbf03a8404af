"""Collects the data that one turn handles at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from reliquary.queueing.model.history.notes import API, Initiator
from reliquary.queueing.model.message import Message, MessageClass
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.tables import Copy


class Owed(NamedTuple):
    """An acknowledgement or a report that a message asked for; sent at the end of the turn (`rules.news`)."""

    queue: int
    """The number of the message's queue; 0 for none."""
    message: Message
    reason: MessageClass
    asks: int
    """The requests of the position that this reason answers."""


@dataclass(slots=True)
class CurrentTurn:
    """The turn that runs now.

    Written by: changes.retention, feed.trimming, manager, rules.enqueue, rules.leave, rules.losses,
    rules.news, rules.read, travel.arrivals, travel.reservations, travel.runs, model.state.
    """

    by: Principal = MANAGER
    """The user on whose behalf the turn runs."""
    initiator: Initiator = API
    """The origin of its messages, for the history."""
    owed: list[Owed] = field(default_factory=list)
    """Acknowledgements and reports that this turn has to send."""
    losses: dict[tuple[str, Copy], tuple[str, int]] = field(default_factory=dict)
    """The copies that this turn could not keep: by queue and kind, the cause and the count."""
    woken: dict[int, QueueState] = field(default_factory=dict)
    """Queues with new messages for readers that wait."""
    overfull: dict[int, QueueState] = field(default_factory=dict)
    """Queues that keep more for consumers of their feeds than the limits of these allow."""
