"""A feature is one object: everything that it adds to the queue manager.

    Feature   rules, signals, timers --> `manager`: each event, signal and timer goes to its rule
              permits -------------> `manager`: checks who may make a request, before its rule
              appliers, recorders ---> `changes.apply`: changes memory and rows, and notes history events

`queueing.features` lists the features and joins their tables.  A type or a timer that two of them claim is an
assertion failure at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from reliquary.base.ruled import Rule, TimerRule
from reliquary.base.turn import Event, Fact, Signal
from reliquary.queueing.model.directory.objects import QueueObject
from reliquary.queueing.model.events import Request
from reliquary.queueing.model.history.notes import Notes

if TYPE_CHECKING:
    from reliquary.queueing.model.state import State

Applier = Callable[["State", Any], None]
"""Changes memory and rows as a fact says."""
Recorder = Callable[["State", Notes, Any], None]
"""Notes the history events of a fact."""
Permit = Callable[["State", Any], str]
"""Returns why a request is refused, or an empty string when its rule may run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """The tables and functions that one feature adds to the queue manager."""

    name: str
    rules: Mapping[type[Event], Rule[State]] = field(default_factory=dict)
    signals: Mapping[type[Signal], Rule[State]] = field(default_factory=dict)
    """The rules of signals that other machines send."""
    timers: Mapping[str, TimerRule[State]] = field(default_factory=dict)
    """The rules of timers, by the first part of their names."""
    permits: Mapping[type[Request], Permit] = field(default_factory=dict)
    appliers: Mapping[type[Fact], Applier] = field(default_factory=dict)
    recorders: Mapping[type[Fact], Recorder | None] = field(default_factory=dict)
    at_any_time: frozenset[type[Event]] = frozenset()
    """Events that are taken before the manager is ready and while it stops."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions of features that lower layers call; `features` sets them, so that imports go down only."""

    appliers: Mapping[type[Fact], Applier] = field(default_factory=dict)
    recorders: Mapping[type[Fact], Recorder | None] = field(default_factory=dict)
    published_queue: Callable[[State, UUID], QueueObject | None] = lambda _state, _identifier: None
    """Returns the queue with this identifier from the directory."""
    list_members: Callable[[State, UUID], tuple[str, ...] | None] = lambda _state, _identifier: None
    """Returns the members of a distribution list, or None when the directory does not know them."""
    computer_name: Callable[[State, UUID], str] = lambda _state, _identifier: ""
    """Returns the name of the computer with this identifier; empty when the directory does not know it."""
