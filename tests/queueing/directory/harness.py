"""Helpers for tests of the directory: managers that have one, and objects to write into it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from reliquary.base.turn import Signal
from reliquary.queueing.directory.events import CreateDirectoryObject, ReadDirectory, SwitchDirectory
from reliquary.queueing.directory.queries import Filter, Operator
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.directory.objects import DirectoryObject, ObjectKind, RoutingLink, Site, name_of
from reliquary.queueing.model.facts import ChangeNotified
from tests.queueing.manager_harness import Bench

NORTH, SOUTH, OTHER = UUID(int=1), UUID(int=2), UUID(int=3)


def integrated(*queues: str, **given: Any) -> Bench:
    """Return a manager that takes part in a directory and receives its notifications."""
    subscribed: tuple[type[Signal], ...] = (ChangeNotified,)
    return Bench(*queues, subscribed=subscribed, **{"directory": Integration(), **given})


def add(bench: Bench, subject: DirectoryObject) -> Any:
    """Create an object as an administrator does."""
    return bench.ask(CreateDirectoryObject(0, subject))


def add_sites(bench: Bench) -> None:
    """Add two sites, with three links between them."""
    add(bench, Site(identifier=NORTH, name="north"))
    add(bench, Site(identifier=SOUTH, name="south"))
    for cost in (5, 1, 9):
        add(bench, RoutingLink(identifier=UUID(int=10 + cost), site1=NORTH, site2=SOUTH, actual_cost=cost))


def find(bench: Bench, kind: ObjectKind, identifier: UUID, **given: Any) -> Any:
    """Read an object by its identifier."""
    return bench.ask(ReadDirectory(0, kind, (Filter("identifier", Operator.EQUALS, identifier),), **given))


def detach(bench: Bench) -> Any:
    """Put the directory out of reach."""
    return bench.ask(SwitchDirectory(0, attached=False))


def attach(bench: Bench) -> Any:
    """Let it be reached again."""
    return bench.ask(SwitchDirectory(0, attached=True))


def notified(bench: Bench) -> list[tuple[str, str]]:
    """Return the notifications to other managers, each as operation and name."""
    return [
        (each.operation.value, name_of(each.subject))
        for each in bench.signals
        if isinstance(each, ChangeNotified)
    ]
