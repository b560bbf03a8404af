"""Tests initialization: the record of the manager, and its object in the directory."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.directory.events import WriteDirectory
from reliquary.queueing.directory.upkeep import PERIODS
from reliquary.queueing.initialization import HostIdentity, identify
from reliquary.queueing.model.directory.connection import Connection
from reliquary.queueing.model.directory.holdings import Surroundings
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.directory.objects import ManagerObject, ObjectKind, QueueObject
from reliquary.queueing.model.events import StartManager
from reliquary.queueing.model.queue import ManagerState
from tests.queueing.directory.harness import NORTH, add_sites, detach, integrated, notified
from tests.queueing.manager_harness import COMPUTER, Bench
from tests.queueing.state_checks import durable

DOMAIN = UUID(int=50)
KEYS = Integration(
    site=NORTH, servers=("dc1",), encryption_keys=(b"e1", b"e2", b"e3"), signing_keys=(b"s1", b"s2", b"s3")
)


@pytest.mark.spec("DM-082", "DM-083")
def test_the_computers_names_come_from_the_host() -> None:
    host = identify(StartManager("SHOP", dns_domain="example.com", machine_domain=DOMAIN))
    assert host == HostIdentity("SHOP", "SHOP.example.com", DOMAIN)
    assert identify(StartManager("SHOP")).qualified_computer_name == "SHOP"


@pytest.mark.spec("DM-082", "DM-098")
@pytest.mark.parametrize("name", ["", "A\\B", "X" * 300])
def test_without_an_identity_nothing_starts_and_nothing_changes(name: str) -> None:
    """T02: a start that is refused stops the manager and changes nothing else."""
    bench = Bench(start=False)
    before = durable(bench.state)
    turn = bench.handle(StartManager(name, directory=KEYS))
    assert bench.answers[0][-1].status is HResult.INVALID_PARAMETER
    assert bench.answers[0][-1].why.startswith("the computer's name")
    assert (turn.facts, bench.timers, bench.state.manager.record) == ((), {}, None)
    assert bench.state.manager.state is ManagerState.STOPPED
    assert durable(bench.state) == before


@pytest.mark.spec("DM-084", "DM-085", "DM-086", "DM-088", "DM-089", "DM-093")
def test_a_first_start_with_a_directory_has_all_that_it_was_given() -> None:
    """T01, first start with provisioning: retry time, site, providers and five system queues are set."""
    bench = Bench(directory=KEYS)
    record = bench.state.identity()
    assert record.initialization_retry_seconds == 120
    assert record.site_identifiers == (NORTH,)
    assert record.directory_servers == ("dc1",)
    assert record.public_encryption_keys == KEYS.encryption_keys
    assert record.public_signing_keys == KEYS.signing_keys
    assert record.directory_integrated
    assert len([name for name in bench.state.names.by_path if name.startswith("system$;")]) == 5


@pytest.mark.spec("DM-084")
def test_the_retry_duration_is_there_without_a_directory_too() -> None:
    """AN-44: provisioning always sets the retry time; system queues exist in every mode."""
    assert Bench().state.identity().initialization_retry_seconds == 120


@pytest.mark.spec("DM-090")
def test_a_manager_that_the_directory_does_not_know_enters_it() -> None:
    bench = Bench(directory=KEYS)
    record = bench.state.identity()
    [own] = bench.state.directory.every(ManagerObject)
    assert (own.identifier, own.computer_name) == (record.identifier, COMPUTER)
    assert own.full_path == record.full_path != ""
    assert own.public_signing_keys == KEYS.signing_keys


@pytest.mark.spec("DM-090")
def test_what_the_directory_says_of_the_manager_holds_after_a_start() -> None:
    bench = integrated()
    own = ManagerObject(identifier=bench.state.identity().identifier, journal_quota=5, routing_server=True)
    bench.ask(WriteDirectory(0, own, ("journal_quota", "routing_server")))
    bench.restart()
    record = bench.state.identity()
    assert (record.journal_quota, record.routing_server) == (5, True)


def test_a_setting_wins_over_the_directory_and_is_written_there() -> None:
    bench = integrated()
    bench.quota = 7
    bench.restart()
    [own] = bench.state.directory.every(ManagerObject)
    assert own.quota == bench.state.identity().quota == 7
    assert notified(bench)[-1] == ("queue-manager-update", COMPUTER)
    said = len(bench.facts)
    bench.restart()
    assert not [fact for fact in bench.facts[said:] if type(fact).__name__.startswith("Directory")]


@pytest.mark.spec("DM-095")
def test_hardened_security_is_what_was_said_last_at_a_start() -> None:
    bench = Bench()
    assert not bench.state.identity().hardened_security
    for said, holds in ((True, True), (None, True), (False, False), (None, False)):
        bench.hardened = said
        bench.restart()
        assert bench.state.identity().hardened_security is holds
        before = durable(bench.state)
        bench.restart(start=False)
        assert durable(bench.state) == before


@pytest.mark.spec("DM-090")
def test_the_sites_of_the_manager_are_read() -> None:
    bench = integrated()
    add_sites(bench)
    bench.directory = KEYS
    bench.restart()
    assert [site.name for site in bench.state.directory.around.sites.values()] == ["north"]
    bench.restart()
    assert bench.state.identity().site_identifiers == (NORTH,), "once is enough"


@pytest.mark.spec("DM-087", "DM-092")
def test_the_timers_of_the_directory_run_with_integration_only() -> None:
    assert set(PERIODS) <= set(integrated().timers)
    assert not set(PERIODS) & set(Bench().timers)


@pytest.mark.spec("DM-014")
def test_a_start_without_integration_is_never_offline() -> None:
    bench = integrated()
    detach(bench)
    bench.directory = None
    bench.restart()
    assert bench.state.directory.connection is Connection.APART
    assert not bench.state.identity().directory_integrated


def test_a_start_without_the_directory_is_a_start() -> None:
    bench = integrated(".\\shop")
    detach(bench)
    bench.restart()
    assert bench.state.manager.state is ManagerState.READY
    assert bench.state.directory.offline
    assert bench.queue(".\\shop").record.full_path


def test_public_queues_enter_the_directory_with_their_manager() -> None:
    bench = Bench("orders", ".\\shop")
    shop = bench.queue(".\\shop").record.identifier
    bench.directory = KEYS
    bench.restart()
    assert list(bench.state.directory.objects[ObjectKind.QUEUE]) == [shop]
    bench.restart()
    assert [each.pathname for each in bench.state.directory.every(QueueObject)] == [f"{COMPUTER}\\shop"]


@pytest.mark.spec("DM-082")
def test_the_domain_is_known_and_remembered() -> None:
    bench = Bench(start=False)
    bench.handle(StartManager("SHOP", machine_domain=DOMAIN))
    assert bench.state.directory.around.machine_domain == DOMAIN
    bench.restart(start=False)
    assert Surroundings() == bench.state.directory.around, "it is volatile"
    assert bench.state.identity().last_domain == DOMAIN


def test_what_the_directory_would_refuse_does_not_stop_a_start() -> None:
    bench = Bench(directory=Integration(encryption_keys=(b"twice", b"twice")))
    assert bench.state.manager.state is ManagerState.READY
    assert bench.state.directory.every(ManagerObject) == []
    odd = Bench()
    odd.create(".\\shop", security=b"no descriptor")
    odd.directory = Integration()
    odd.restart()
    assert odd.state.manager.state is ManagerState.READY
    assert odd.state.directory.every(QueueObject) == []
