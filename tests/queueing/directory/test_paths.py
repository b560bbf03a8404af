"""Tests of the distinguished names that directory objects get."""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.directory.paths import escape, with_paths
from reliquary.queueing.model.directory.objects import (
    ConnectedNetwork,
    ManagerObject,
    QueueObject,
    RoutingLink,
    Site,
)

HOST = "bench.shop.example"


def test_each_object_of_a_tree_gets_its_path() -> None:
    queue = with_paths(QueueObject(pathname="BENCH\\orders"), HOST)
    assert isinstance(queue, QueueObject)
    assert queue.full_path == "CN=orders,CN=msmq,CN=BENCH,CN=Computers,DC=shop,DC=example"
    assert queue.directory_path == f"LDAP://{queue.full_path}"
    manager = with_paths(ManagerObject(computer_name="BENCH"), "bench")
    assert isinstance(manager, ManagerObject)
    assert manager.full_path == "CN=msmq,CN=BENCH,CN=Computers"
    site = with_paths(Site(name="north, upper"), HOST)
    assert isinstance(site, Site)
    assert site.full_path.startswith("CN=north\\, upper,CN=Sites,")
    link = with_paths(RoutingLink(identifier=UUID(int=1)), HOST)
    assert isinstance(link, RoutingLink)
    assert link.full_path.startswith(f"CN={UUID(int=1)},")


def test_a_path_that_is_there_stays_and_a_network_has_none() -> None:
    site = Site(name="a", full_path="CN=x")
    assert with_paths(site, HOST) is site
    queue = QueueObject(pathname="A\\b", full_path="CN=x")
    assert with_paths(queue, HOST) is queue
    network = ConnectedNetwork(name="n")
    assert with_paths(network, HOST) is network


def test_what_would_be_read_as_a_separator_is_escaped() -> None:
    assert escape("a=b+c") == "a\\=b\\+c"
    assert escape(" a ") == "\\ a\\ "
