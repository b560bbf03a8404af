"""Tests of which peers may connect, and how addresses are written."""

from __future__ import annotations

import pytest

from reliquary.net.mqqb.shared import SessionShared, plain_address
from reliquary.protocols.mqqb.settings import MqqbSettings


def shared(*networks: str, window: int = 64) -> SessionShared:
    settings = MqqbSettings(window=window)
    return SessionShared(lambda _: None, settings, networks=networks, connections=1, now=0)


@pytest.mark.parametrize(
    ("address", "admitted"),
    [
        ("10.1.2.3", True),
        ("10.2.0.1", False),
        ("fe80::1", True),
        ("fe80::1%eth0", True),
        ("2001:db8::1", False),
        ("", False),
        ("no address", False),
    ],
)
def test_only_addresses_of_the_networks_are_admitted(address: str, admitted: bool) -> None:
    assert shared("10.1.0.0/16", "fe80::/10").admits(address) is admitted


def test_without_networks_no_client_is_admitted() -> None:
    assert not shared().admits("127.0.0.1")


def test_an_address_of_ipv4_in_the_form_of_ipv6_is_that_of_ipv4() -> None:
    assert plain_address("::ffff:127.0.0.1") == "127.0.0.1"
    assert plain_address("FE80::1") == "fe80::1"
    assert plain_address("Host") == "host"


def test_a_large_window_lets_more_packets_wait() -> None:
    assert shared(window=64).most_unjudged == 256
    assert shared(window=1000).most_unjudged == 2000
