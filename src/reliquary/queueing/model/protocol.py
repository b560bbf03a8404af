"""What a protocol brings along when a queue manager is opened: one object, and nothing is wired by hand.

The engine builds the machine on the rows of its tables, hands it the events, signals and timers that
it names here, and lets the queue manager know its carrier and its reader.
docs/contributing/add-a-protocol.md shows how to write one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reliquary.base.rows import Rows
from reliquary.base.turn import Effect, Event, Machine, Signal
from reliquary.queueing.model.travel.carriers import Carrier, RemoteReader

Unplugged = Mapping[type[Effect], Callable[[Any], Event | None]]
"""For each effect that needs a network: the event that answers it where there is none, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A protocol beside the queue manager."""

    name: str
    """Unique among the protocols of a manager; signals for its machine name it by this."""
    machine: Callable[[Rows], Machine]
    """Builds the machine from the rows of an earlier process; its settings are bound in."""
    tables: tuple[str, ...] = ()
    hears: tuple[type[Signal], ...] = ()
    """Signals of other machines that it takes; of a `DirectedSignal` only those that name it."""
    takes: tuple[type[Event], ...] = ()
    """Events that are its own."""
    timers: tuple[str, ...] = ()
    """The first parts of its timers' names."""
    carrier: Carrier | None = None
    reader: RemoteReader | None = None
    unplugged: Unplugged = field(default_factory=dict)
    """What becomes of its effects in a process without a network."""

    def __post_init__(self) -> None:
        for part in (self.carrier, self.reader):
            assert part is None or part.name == self.name, f"{part} is not named {self.name}"
