"""Tests that the manager refreshes itself, its sites and their gates from the directory."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from reliquary.base.time import HOUR, MINUTE
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.directory.events import CheckDirectoryOnline, WriteDirectory
from reliquary.queueing.directory.operations import ONLINE_TIMER
from reliquary.queueing.directory.registry import write
from reliquary.queueing.directory.results import DirectoryResult
from reliquary.queueing.directory.upkeep import GATES_TIMER, PERIODS, SERVERS_TIMER, SITES_TIMER
from reliquary.queueing.model.directory.connection import Connection
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.directory.objects import (
    ConnectedNetwork,
    DirectoryObject,
    Enterprise,
    ManagerObject,
    ObjectKind,
    QueueObject,
    RoutingLink,
    Site,
)
from reliquary.queueing.model.facts import DirectoryServersWanted, ManagerNamed
from tests.queueing.directory.harness import NORTH, SOUTH, add, add_sites, attach, detach, integrated
from tests.queueing.manager_harness import Bench

GATE, AWAY = UUID(int=30), UUID(int=31)


def in_the_north() -> Bench:
    """Return a manager in the site north, with a gate, an intermediary and a network."""
    bench = integrated()
    add_sites(bench)
    add(bench, ManagerObject(identifier=GATE, computer_name="GATE", site_identifiers=(NORTH,)))
    add(bench, ManagerObject(identifier=AWAY, computer_name="AWAY", site_identifiers=(SOUTH,)))
    add(bench, ConnectedNetwork(identifier=UUID(int=40), name="mainframe"))
    link = RoutingLink(identifier=UUID(int=11), site_gates=(GATE, AWAY))
    bench.ask(WriteDirectory(0, link, ("site_gates",)))
    own = ManagerObject(
        identifier=bench.state.identity().identifier,
        out_routing_servers=(GATE, UUID(int=98)),
        in_routing_servers=(GATE,),
        connected_network_identifiers=(UUID(int=40), UUID(int=41)),
    )
    named = ("out_routing_servers", "in_routing_servers", "connected_network_identifiers")
    bench.ask(WriteDirectory(0, own, named))
    bench.directory = Integration(site=NORTH)
    bench.restart()
    return bench


def behind_our_back(bench: Bench, subject: DirectoryObject, *attributes: str) -> None:
    """Change the directory without a notification to the manager."""
    assert write(bench.state, subject, attributes, bench.now).succeeded


@pytest.mark.spec("DM-016")
def test_the_collections_hold_what_the_lists_name() -> None:
    bench = in_the_north()
    around, identity = bench.state.directory.around, bench.state.identity()
    assert {site.name for site in around.sites.values()} == {"north"}
    assert set(around.sites) <= set(identity.site_identifiers)
    assert set(around.out_routing_servers) == {GATE} <= set(identity.out_routing_servers)
    assert set(around.in_routing_servers) == {GATE}
    assert set(around.connected_networks) == set(identity.connected_network_identifiers)
    assert around.connected_networks[UUID(int=40)].name == "mainframe"
    assert {identifier: set(gates) for identifier, gates in around.site_gates.items()} == {NORTH: {GATE}}


@pytest.mark.spec("DM-091")
@pytest.mark.parametrize(
    ("subject", "said"),
    [
        (None, True),
        (Enterprise(name="all"), True),
        (Enterprise(name="all", non_ldap_notification=False), False),
    ],
)
def test_the_enterprise_is_the_directorys_or_one_that_notifies(subject: Any, said: bool) -> None:
    bench = integrated()
    if subject is not None:
        add(bench, subject)
    bench.restart()
    enterprise = bench.state.directory.around.enterprise
    assert enterprise is not None
    assert enterprise.non_ldap_notification is said


@pytest.mark.spec("DM-074", "DM-081", "DM-128")
def test_the_sites_are_read_again_every_twelve_hours() -> None:
    bench = in_the_north()
    assert PERIODS[SITES_TIMER] == 12 * HOUR
    for name in ("upper north", "far north"):
        behind_our_back(bench, Site(identifier=NORTH, name=name), "name")
        bench.advance(12 * 3600 - 1)
        assert bench.state.directory.around.sites[NORTH].name != name
        bench.advance(1)
        assert bench.state.directory.around.sites[NORTH].name == name


@pytest.mark.spec("DM-128")
def test_a_site_that_is_not_answered_stays_as_it_is() -> None:
    bench = in_the_north()
    detach(bench)
    bench.advance(12 * 3600)
    assert bench.state.directory.around.sites[NORTH].name == "north"
    assert SITES_TIMER in bench.timers


@pytest.mark.spec("DM-075", "DM-081", "DM-129")
def test_the_gates_are_read_again_every_hour() -> None:
    bench = in_the_north()
    assert PERIODS[GATES_TIMER] == HOUR
    for quota in (7, 8):
        behind_our_back(bench, ManagerObject(identifier=GATE, quota=quota), "quota")
        bench.advance(3600)
        assert bench.state.directory.around.site_gates[NORTH][GATE].quota == quota


@pytest.mark.spec("DM-087")
def test_the_servers_are_looked_for_again_every_day() -> None:
    bench = Bench(directory=Integration(), subscribed=[DirectoryServersWanted])
    assert PERIODS[SERVERS_TIMER] == 24 * HOUR
    bench.advance(24 * 3600)
    bench.advance(24 * 3600)
    assert bench.signals.count(DirectoryServersWanted()) == 2


@pytest.mark.spec("DM-078", "DM-255", "DM-256")
def test_when_the_directory_is_back_the_manager_and_its_queues_are_as_it_says() -> None:
    """T69, the directory returns: online, and refreshed."""
    bench = integrated(".\\shop")
    own, shop = bench.state.identity().identifier, bench.queue(".\\shop").record.identifier
    detach(bench)
    behind_our_back(bench, ManagerObject(identifier=own, journal_quota=77), "journal_quota")
    behind_our_back(bench, QueueObject(identifier=shop, label="till"), "label")
    bench.advance(59)
    assert bench.state.directory.offline
    switch_without_notice(bench, detached=False)
    bench.advance(1)
    assert bench.state.directory.connection is Connection.ONLINE
    assert bench.state.identity().journal_quota == 77
    assert bench.queue(".\\shop").record.settings.label == "till"
    assert ONLINE_TIMER not in bench.timers


def switch_without_notice(bench: Bench, *, detached: bool) -> None:
    apply(bench.state, ManagerNamed(replace(bench.state.identity(), directory_detached=detached)))


@pytest.mark.spec("DM-257")
def test_a_directory_that_is_away_is_tried_every_minute() -> None:
    """T69: while the directory cannot be reached, the manager tries again every minute."""
    bench = integrated()
    detach(bench)
    for _ in range(3):
        due = bench.timers[ONLINE_TIMER]
        bench.advance(60)
        assert bench.timers[ONLINE_TIMER] == due + MINUTE
        assert bench.state.directory.offline


@pytest.mark.spec("DM-257")
def test_a_check_that_fails_while_all_was_well_watches_and_changes_nothing_yet() -> None:
    bench = integrated()
    switch_without_notice(bench, detached=True)
    assert bench.ask(CheckDirectoryOnline(0)).result is DirectoryResult.NOT_CONNECTED
    assert bench.state.directory.connection is Connection.ONLINE
    assert ONLINE_TIMER in bench.timers


def test_a_manager_that_was_started_without_its_directory_enters_it_later() -> None:
    bench = Bench()
    detach(bench)
    bench.directory = Integration()
    bench.restart()
    own = bench.state.identity().identifier
    assert own not in bench.state.directory.objects[ObjectKind.QUEUE_MANAGER]
    assert bench.state.directory.offline
    attach(bench)
    assert own in bench.state.directory.objects[ObjectKind.QUEUE_MANAGER]
    assert bench.state.directory.connection is Connection.ONLINE
