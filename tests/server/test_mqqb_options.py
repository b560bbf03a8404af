"""Tests the table [mqqb]: every setting from file and environment, each wrong one named."""

from __future__ import annotations

from dataclasses import fields
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.server.loading import load
from reliquary.server.mqqb_options import NAMES, PRIVATE_NETWORKS, MqqbOptions

EVERYTHING = """
open_to_network = true
[mqqb]
enabled = true
host = "10.0.0.1"
listen_port = 11801
networks = ["10.0.0.0/8"]
addresses = ["192.0.2.7", "2001:db8::7"]
names = ["queues.example.com"]
connections = 1
anonymous_senders = true
port = 2
window = 3
retry = 4
ack_wait = 25
resend_ladder = [5, 6]
insecure_nacks = true
ping = true
[mqqb.ports]
"Far" = 7
"""


def options_of(tmp_path: Path, text: str, **environment: str) -> MqqbOptions:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    return load(file, environment).table(MqqbOptions)


def test_settings_of_server_and_protocol_can_be_given_in_the_file(tmp_path: Path) -> None:
    assert options_of(tmp_path, EVERYTHING) == MqqbOptions(
        enabled=True,
        host="10.0.0.1",
        listen_port=11801,
        networks=("10.0.0.0/8",),
        addresses=("192.0.2.7", "2001:db8::7"),
        names=("queues.example.com",),
        connections=1,
        anonymous_senders=True,
        protocol=MqqbSettings(
            port=2,
            window=3,
            retry=seconds(4),
            ack_wait=seconds(25),
            resend_ladder=(seconds(5), seconds(6)),
            insecure_nacks=True,
            ping=True,
            ports={"far": 7},
        ),
    )
    own = {each.name for each in fields(MqqbOptions)} - {"protocol"}
    assert set(NAMES) == own | {each.name for each in fields(MqqbSettings)}


@pytest.mark.spec("QB-001", "QB-002", "QB-088", "QB-101", "QB-158")
def test_mqqb_is_off_and_has_the_numbers_of_windows_by_default(tmp_path: Path) -> None:
    found = options_of(tmp_path, "")
    assert found == MqqbOptions()
    assert not found.enabled
    assert (found.own_port, found.protocol.port, found.protocol.ping_port) == (1801, 1801, 3527)
    assert (found.protocol.window, found.protocol.insecure_nacks, found.protocol.ping) == (64, False, False)


def test_one_setting_switches_mqqb_on(tmp_path: Path) -> None:
    assert options_of(tmp_path, "", RELIQUARY_MQQB_ENABLED="true") == MqqbOptions(enabled=True)


def test_only_private_networks_come_in_by_default() -> None:
    admitted = {
        address: any(ip_address(address) in ip_network(network) for network in PRIVATE_NETWORKS)
        for address in ("127.0.0.1", "10.9.8.7", "192.168.1.1", "::1", "fd00::1", "192.0.2.1", "2001:db8::1")
    }
    assert list(admitted.values()) == [True, True, True, True, True, False, False]


def test_the_port_that_is_listened_to_may_differ_from_that_of_peers() -> None:
    assert MqqbOptions(protocol=MqqbSettings(port=5)).own_port == 5
    assert MqqbOptions(listen_port=6, protocol=MqqbSettings(port=5)).own_port == 6


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("listen_port = 65536", "listen_port is 65536"),
        ("connections = 0", "connections is 0"),
        ('networks = ["10.0.0.1/8"]', "'10.0.0.1/8'"),
        ('networks = ["all of them"]', "'all of them'"),
        ('addresses = ["host"]', "'host'"),
        ('names = ["a b"]', "'a b'"),
        ("window = 65536", "window is 65536"),
        ("ack_wait = 5", "ack_wait is"),
        ('ports = {"h" = 0}', "has 0 for h"),
        ('host = "10.0.0.1"', "open_to_network"),
        ("windows = 1", "windows"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match="mqqb") as refused:
        options_of(tmp_path, f"[mqqb]\n{text}\n")
    assert why in str(refused.value)
