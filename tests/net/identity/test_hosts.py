"""Tests which Host a server goes by: addresses and its own names, and no name of another site."""

from __future__ import annotations

import pytest

from reliquary.net.identity.hosts import KEPT, Hosts, WrongHost, host_of, is_address

HOSTS = Hosts(["localhost", "Mq.Example", "port.example:81", "HERE"])


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "localhost:8480", "LOCALHOST:1", "localhost.", "mq.example", "MQ.example:9",
        "port.example", "port.example:82", "here", "127.0.0.1", "127.0.0.1:8480", "10.1.2.3:80",
        "[::1]", "[::1]:8480", "[2001:db8::1]:1", " localhost ",
    ],
)  # fmt: skip
def test_addresses_and_own_names_pass_with_any_port(host: str) -> None:
    HOSTS.check(host.encode())
    assert host.encode() in HOSTS.known


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8480", "localhost.evil.example", "notlocalhost", "127.0.0.1.evil", "",
        ":8480", "::1", "[localhost]", "[127.0.0.1]", "127.1", "0x7f.1", "2130706433", "127.0.0.1@evil",
        "evil.example:80@localhost", "[::1", "\xff", "localhost..",
    ],
)  # fmt: skip
def test_a_name_of_another_site_does_not_pass(host: str) -> None:
    with pytest.raises(WrongHost, match="this server has no name"):
        HOSTS.check(host.encode("latin-1"))
    assert host.encode("latin-1") not in HOSTS.known


def test_localhost_is_a_name_like_any_other() -> None:
    with pytest.raises(WrongHost, match="no name 'localhost'; `names` in its settings may add it"):
        Hosts(["mq.example"]).check(b"localhost:8480")


def test_what_is_remembered_of_good_values_is_bounded() -> None:
    hosts = Hosts([])
    for port in range(KEPT + 10):
        hosts.check(b"127.0.0.1:%d" % port)
    assert len(hosts.known) == KEPT


def test_a_long_name_is_not_repeated_whole() -> None:
    with pytest.raises(WrongHost) as refused:
        HOSTS.check(b"x" * 100_000)
    assert len(str(refused.value)) < 200


def test_hosts_and_addresses_are_read() -> None:
    assert [host_of(each) for each in ("a:b:c", "[::1]", "[::1]:8", "A.")] == ["a", "[::1]", "[::1]", "a"]
    assert not is_address("")
