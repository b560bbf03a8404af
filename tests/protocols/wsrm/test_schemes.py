"""Tests names of endpoints: `wsrm://host/path`, and those of sequences that clients offered."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm import schemes
from reliquary.queueing.model.names.formats import DirectName, parse_single
from reliquary.queueing.model.names.schemes import is_bare_url


def named(text: str) -> DirectName:
    """Parse a direct format name."""
    name = parse_single(text)
    assert isinstance(name, DirectName)
    return name


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("DIRECT=WSRM://shop.example/wsrm/orders", "http://shop.example/wsrm/orders"),
        ("DIRECT=WSRMS://shop.example:8443/svc", "https://shop.example:8443/svc"),
        ("DIRECT=WSRM://shop.example/svc?a=b#urn%3Ax", "http://shop.example/svc?a=b"),
    ],
)
def test_an_endpoint_is_reached_at_its_url(name: str, url: str) -> None:
    assert schemes.names_endpoint(named(name))
    assert schemes.url_of(named(name)) == url


@pytest.mark.parametrize("name", ["DIRECT=HTTP://h/msmq/q", r"DIRECT=OS:h\q"])
def test_names_of_other_protocols_are_refused(name: str) -> None:
    assert not schemes.names_endpoint(named(name))


def test_a_bare_url_needs_no_direct() -> None:
    assert is_bare_url("wsrm://shop.example/wsrm/orders")
    assert is_bare_url("wsrms://shop.example/wsrm/orders")


@pytest.mark.parametrize(
    ("path", "queue"),
    [
        ("/wsrm/orders", "orders"),
        ("/wsrm/private$/a%20b", r"private$\a b"),
        ("/other/orders", ""),
        ("/wsrm", ""),
    ],
)
def test_the_path_of_a_reliquary_endpoint_names_a_queue(path: str, queue: str) -> None:
    assert named(f"DIRECT=WSRM://h{path}").queue_path == queue


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://h:81/a/b?c", "DIRECT=WSRM://h:81/a/b?c"),
        ("HTTPS://h/", "DIRECT=WSRMS://h/"),
        ("urn:x", ""),
        ("ftp://h/", ""),
        ("http://", ""),
    ],
)
def test_a_url_has_a_name(url: str, name: str) -> None:
    assert schemes.name_of_url(url) == name


@pytest.mark.parametrize("url", ["", "http://client.example:9/acks?x=1"])
@pytest.mark.parametrize("identifier", ["urn:uuid:1", "http://x/y#z?é", "a b%20"])
def test_the_name_of_an_offered_sequence_holds_its_identifier(url: str, identifier: str) -> None:
    name = named(schemes.offered_name(identifier, url))
    assert schemes.offered_in(name) == identifier
    assert (schemes.url_of(name) == url) is bool(url)


def test_other_names_hold_no_offered_sequence() -> None:
    assert schemes.offered_in(named("DIRECT=WSRM://h/wsrm/orders")) == ""
