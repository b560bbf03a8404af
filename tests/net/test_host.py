"""Tests of the name and the addresses of this computer."""

from __future__ import annotations

import socket
from ipaddress import ip_address

import pytest

from reliquary.net.host import is_loopback, own_addresses, own_name


@pytest.mark.parametrize(
    ("host", "name"),
    [
        pytest.param("lamp", "LAMP", id="in capitals"),
        pytest.param("lamp.shop.example", "LAMP", id="the first label"),
        pytest.param("a-very-long-name-indeed", "A-VERY-LONG-NAM", id="fifteen characters"),
        pytest.param("under_score", "UNDER-SCORE", id="only what NetBIOS takes"),
        pytest.param("", "RELIQUARY", id="a computer without a name"),
    ],
)
def test_the_name_is_written_as_msmq_would(monkeypatch: pytest.MonkeyPatch, host: str, name: str) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    assert own_name() == name


def test_an_address_of_the_loopback_is_known() -> None:
    assert [is_loopback(host) for host in ("127.0.0.9", "::1", "localhost", "0.0.0.0", "h")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_own_addresses_are_those_of_the_loopback_and_of_this_computer() -> None:
    found = own_addresses()
    assert {"127.0.0.1", "::1"} <= set(found)
    assert len(found) == len(set(found))
    for address in found:
        ip_address(address.partition("%")[0])


def test_a_computer_without_a_network_has_its_loopback_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    monkeypatch.setattr(socket, "socket", fails)
    assert own_addresses() == ("127.0.0.1", "::1")
