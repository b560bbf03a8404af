"""Tests that objects of the directory are found, written, checked and removed."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import in_whole_seconds
from reliquary.queueing.directory import registry
from reliquary.queueing.directory.results import DirectoryResult
from reliquary.queueing.model.directory.objects import (
    DirectoryObject,
    DistributionList,
    Enterprise,
    ManagerObject,
    ObjectKind,
    QueueObject,
    RoutingLink,
    Site,
)
from reliquary.queueing.model.message import NO_GUID
from tests.queueing.directory.harness import NORTH, OTHER, SOUTH, add, add_sites
from tests.queueing.manager_harness import NOON, Bench
from tests.queueing.state_checks import check, durable

LIST = DistributionList(
    identifier=UUID(int=7), name="shops", format_names=("DIRECT=OS:a\\x", "DIRECT=OS:b\\x")
)


def test_a_distribution_list_stands_for_its_format_names() -> None:
    bench = Bench()
    add(bench, LIST)
    assert registry.resolve_list(bench.state, LIST.identifier) == LIST.format_names
    assert registry.resolve_list(bench.state, UUID(int=8)) is None


@pytest.mark.spec("DM-003")
def test_what_was_written_is_there_after_a_restart_and_what_was_removed_is_not() -> None:
    bench = Bench()
    add(bench, LIST)
    add(bench, Site(identifier=NORTH, name="north"))
    registry.delete(bench.state, ObjectKind.SITE, NORTH)
    bench.flush()
    live = durable(bench.state)
    bench.restart(crash=True, start=False)
    assert durable(bench.state) == live
    check(bench.state)
    assert bench.state.directory.objects[ObjectKind.DISTRIBUTION_LIST] == {LIST.identifier: LIST}
    assert bench.state.directory.objects[ObjectKind.SITE] == {}
    assert bench.state.directory.names == {(ObjectKind.DISTRIBUTION_LIST, "shops"): LIST.identifier}


@pytest.mark.spec("DM-239")
def test_the_directory_gives_what_a_new_object_does_not_have() -> None:
    bench = Bench()
    made = add(bench, QueueObject(pathname="OTHER\\orders")).subject
    assert isinstance(made, QueueObject)
    assert made.identifier != NO_GUID
    assert made.create_time == made.modify_time == in_whole_seconds(NOON)
    assert made.full_path.startswith("CN=orders,")
    assert made.directory_path.startswith("LDAP://CN=orders,")


@pytest.mark.spec("DM-033")
def test_no_two_sites_have_one_name() -> None:
    bench = Bench()
    add_sites(bench)
    answer = add(bench, Site(name="NORTH"))
    assert answer.result is DirectoryResult.OBJECT_ALREADY_EXISTS
    assert answer.why == f"the site {NORTH} has the name 'NORTH' already"
    renamed = Site(identifier=SOUTH, name="North")
    assert registry.write(bench.state, renamed, None, NOON).result is DirectoryResult.OBJECT_ALREADY_EXISTS
    assert registry.write(bench.state, Site(identifier=SOUTH, name="South"), None, NOON).succeeded


SAME: list[DirectoryObject] = [
    Enterprise(name="another"),
    ManagerObject(computer_name="other"),
    QueueObject(pathname="OTHER\\Orders"),
    Site(identifier=NORTH, name="a third"),
]


@pytest.mark.parametrize("subject", SAME, ids=[type(each).__name__ for each in SAME])
def test_what_is_there_already_is_not_made_again(subject: DirectoryObject) -> None:
    bench = Bench()
    add_sites(bench)
    add(bench, Enterprise(name="all"))
    add(bench, ManagerObject(computer_name="OTHER"))
    add(bench, QueueObject(pathname="OTHER\\orders"))
    before = durable(bench.state)
    assert add(bench, subject).result is DirectoryResult.OBJECT_ALREADY_EXISTS
    assert durable(bench.state) == before


@pytest.mark.spec("DM-035")
def test_a_link_joins_sites_that_the_directory_has() -> None:
    bench = Bench()
    add_sites(bench)
    answer = add(bench, RoutingLink(site1=NORTH, site2=OTHER))
    assert answer.why == f"site2 is {OTHER}, and the directory has no site with this identifier"
    with pytest.raises(UsageError, match="still joins the site 'north'"):
        registry.delete(bench.state, ObjectKind.SITE, NORTH)


@pytest.mark.spec("DM-035")
def test_a_links_references_are_those_it_names() -> None:
    bench = Bench()
    add_sites(bench)
    add(bench, ManagerObject(identifier=OTHER, computer_name="GATE"))
    link = RoutingLink(site1=NORTH, site2=SOUTH, site_gates=(OTHER, UUID(int=99)))
    one, two = registry.sites_of(bench.state.directory, link)
    assert (one and one.name, two and two.name) == ("north", "south")
    assert set(registry.gates_of(bench.state.directory, link)) == {OTHER}


@pytest.mark.spec("DM-253")
def test_a_write_changes_the_attributes_that_it_names() -> None:
    bench = Bench()
    add(bench, ManagerObject(identifier=OTHER, computer_name="OTHER", quota=5))
    bench.advance(100)
    subject = ManagerObject(identifier=OTHER, routing_server=True)
    answer = registry.write(bench.state, subject, ("routing_server",), bench.now)
    assert isinstance(answer.subject, ManagerObject)
    assert (answer.subject.routing_server, answer.subject.quota) == (True, 5)
    assert answer.subject.modify_time == in_whole_seconds(bench.now)
    unknown = registry.write(bench.state, ManagerObject(identifier=NORTH), None, bench.now)
    assert unknown.why == f"the directory has no queue manager {NORTH}"


@pytest.mark.spec("DM-242")
def test_what_is_not_there_cannot_be_deleted() -> None:
    answer = registry.delete(Bench().state, ObjectKind.USER, OTHER)
    assert answer.result is DirectoryResult.OBJECT_NOT_FOUND


def test_an_import_takes_all_objects_in_any_order() -> None:
    bench = Bench()
    link = RoutingLink(identifier=OTHER, site1=NORTH, site2=SOUTH)
    sites = [Site(identifier=NORTH, name="north"), Site(identifier=SOUTH, name="south")]
    assert registry.take_in(bench.state, [link, *sites]).succeeded
    assert bench.state.directory.every(RoutingLink) == [link]
    before = len(bench.facts)
    registry.take_in(bench.state, [link, *sites])
    assert len(bench.facts) == before, "nothing changed, so nothing is written"


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        (Site(name="x"), "object 2, the site x: identifier is missing"),
        (Site(identifier=OTHER), f"object 2, the site {OTHER}: name is empty"),
        (Site(identifier=OTHER, name="north"), "object 2, the site north: the site .* has the name"),
        (RoutingLink(identifier=OTHER, site1=NORTH, site2=SOUTH), "object 2, .*: site2 is"),
    ],
)
def test_an_import_with_one_bad_object_changes_nothing(subject: DirectoryObject, why: str) -> None:
    bench = Bench()
    before = durable(bench.state)
    with pytest.raises(UsageError, match=why):
        registry.take_in(bench.state, [Site(identifier=NORTH, name="north"), subject])
    assert durable(bench.state) == before
