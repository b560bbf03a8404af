"""Tests of the limits that the connections of one RPC listener share."""

from __future__ import annotations

from reliquary.protocols.rpc.mgmt import Statistics
from reliquary.wire.rpc.syntaxes import EPM, MGMT, QM2QM, QMCOMM
from tests.net.rpc.harness import ManualService, share


def test_a_port_of_the_mapper_serves_the_mapper_and_others_the_services() -> None:
    shared = share(ManualService())
    shared.mapper_ports.add(135)
    assert shared.interfaces_at(135) == (EPM, MGMT)
    assert shared.interfaces_at(2105) == (QM2QM, QMCOMM, MGMT)


def test_the_management_interface_says_what_was_counted() -> None:
    shared = share(ManualService())
    shared.calls, shared.reads, shared.writes = 3, 5, 4
    server = shared.server_at(2105)
    assert server.statistics == Statistics(calls_in=3, calls_out=0, packets_in=5, packets_out=4)
    assert server.interfaces == shared.interfaces_at(2105)
