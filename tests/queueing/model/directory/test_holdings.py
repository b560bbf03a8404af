"""The objects of the directory in memory, with their unique names."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.queueing.model.directory.connection import Connection
from reliquary.queueing.model.directory.holdings import Directory, Surroundings, own_name
from reliquary.queueing.model.directory.objects import Enterprise, ObjectKind, RoutingLink, Site, User

ONE, TWO = UUID(int=1), UUID(int=2)


def test_an_empty_directory_has_a_place_for_each_type() -> None:
    assert Directory().objects == {kind: {} for kind in ObjectKind}
    assert Directory().objects is not Directory().objects


def test_an_object_is_found_by_type_and_identifier_and_its_name_is_taken() -> None:
    directory = Directory()
    directory.put(Site(identifier=ONE, name="North"))
    assert directory.get(Site, ONE) == Site(identifier=ONE, name="North")
    assert directory.get(RoutingLink, ONE) is None
    assert directory.names == {(ObjectKind.SITE, "north"): ONE}
    directory.put(Site(identifier=ONE, name="South"))
    assert directory.names == {(ObjectKind.SITE, "south"): ONE}
    directory.remove(ObjectKind.SITE, ONE)
    assert (directory.names, directory.every(Site)) == ({}, [])


def test_all_objects_of_a_type_come_by_identifier() -> None:
    directory = Directory()
    for identifier in (TWO, ONE):
        directory.put(Site(identifier=identifier, name=str(identifier)))
    assert [site.identifier for site in directory.every(Site)] == [ONE, TWO]


def test_a_copy_can_change_alone() -> None:
    directory = Directory()
    directory.put(Site(identifier=ONE, name="a"))
    copy = directory.copy()
    copy.put(Site(identifier=TWO, name="b"))
    copy.remove(ObjectKind.SITE, ONE)
    assert [site.name for site in directory.every(Site)] == ["a"]


def test_there_is_one_enterprise_and_links_have_no_name_of_their_own() -> None:
    assert own_name(Enterprise(name="a")) == own_name(Enterprise(name="b"))
    assert own_name(RoutingLink(description="a")) is None


@pytest.mark.spec("DM-014")
def test_only_a_manager_with_a_directory_can_be_offline() -> None:
    assert [Directory(connection=each).offline for each in Connection] == [False, False, True]


@pytest.mark.spec("DM-019")
def test_a_user_has_one_internal_certificate() -> None:
    around, user = Surroundings(), User(identifier=ONE, security_identifier="S-1-5-1")
    around.keep_certificate(b"old", user)
    around.keep_certificate(b"new", user)
    around.keep_certificate(b"hers", User(identifier=TWO, security_identifier="S-1-5-2"))
    assert [each.certificate for each in around.certificates.values()] == [b"new", b"hers"]
    with pytest.raises(UsageError, match="empty"):
        around.keep_certificate(b"", user)
