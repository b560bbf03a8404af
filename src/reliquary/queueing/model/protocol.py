"""Defines the declaration with which a protocol joins a queue manager: one object with all its parts.

The engine builds the machine on the rows of its tables, gives it the events, signals and timers that are
named here, and registers its carrier and its reader with the queue manager.
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
"""For each effect that needs a network: makes the event that answers it without one, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The declaration of a protocol."""

    name: str
    """The name, unique among the protocols of a manager; signals for its machine carry it."""
    machine: Callable[[Rows], Machine]
    """Builds the machine from the stored rows; the settings are already bound."""
    tables: tuple[str, ...] = ()
    signals: tuple[type[Signal], ...] = ()
    """The signals of other machines that it handles; a `DirectedSignal` must also name it."""
    takes: tuple[type[Event], ...] = ()
    """The events that it handles."""
    timers: tuple[str, ...] = ()
    """The first parts of the names of its timers."""
    carrier: Carrier | None = None
    reader: RemoteReader | None = None
    unplugged: Unplugged = field(default_factory=dict)
    """The answers to its effects in a process without a network."""

    def __post_init__(self) -> None:
        for part in (self.carrier, self.reader):
            assert part is None or part.name == self.name, f"{part} is not named {self.name}"
