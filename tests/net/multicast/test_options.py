"""Tests of the options of multicast."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.multicast.options import MulticastOptions
from reliquary.protocols.pgm.settings import PgmSettings


@pytest.mark.spec("SR-007")
def test_the_rate_is_the_one_of_the_specification_unless_it_is_chosen() -> None:
    assert MulticastOptions().protocol == PgmSettings()
    assert MulticastOptions(rate=5_000_000).protocol.rate == 5_000_000


def test_the_guide_has_every_setting() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "srmp.md").read_text()
    table = guide.partition("| Name of `[multicast]` |")[2].partition("\n\n")[0]
    rows = table.splitlines()[2:]
    named = [name for row in rows for name in re.findall("`([a-z_]+)`", row.split("|")[1])]
    assert named == [field.name for field in fields(MulticastOptions)]


def test_one_port_may_serve_both_roles() -> None:
    options = MulticastOptions(source_port=7500, group_port=7500)
    assert (options.source_port, options.group_port) == (7500, 7500)


@pytest.mark.parametrize(("mtu", "packet"), [(576, 544), (1500, 1468), (9000, 8968)])
def test_a_packet_of_pgm_leaves_room_for_the_headers_of_ip_and_udp(mtu: int, packet: int) -> None:
    assert MulticastOptions(mtu=mtu).protocol.largest_packet == packet


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"ttl": 256}, "multicast.ttl is 0 to 255"),
        ({"rate": 999}, "multicast.rate is at least 1000"),
        ({"group_port": 0}, "multicast.group_port is 1 to 65535"),
        ({"mtu": 575}, "multicast.mtu is 576 to 65000 bytes, not 575"),
        ({"mtu": 65_001}, "multicast.mtu is 576 to 65000 bytes, not 65001"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        MulticastOptions(**wrong)
