"""Every client may ask for ports and for the version."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import PortKind, PortReturned, VersionReturned
from reliquary.protocols.mqqp.events import PortsKnown
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.wire.rpc.protection import Protection
from tests.protocols.mqqp.server.server_harness import ServerBench

EXPECTED = {
    PortKind.HANDSHAKE: 2103,
    PortKind.READ: 2105,
    PortKind.IPX_HANDSHAKE: 0,
    PortKind.IPX_READ: 0,
}


@pytest.mark.spec("QP-003", "QP-116", "QP-117")
@pytest.mark.mqqp("T04")
@pytest.mark.parametrize("kind", PortKind)
@pytest.mark.parametrize("request_type", [qm2qm.GetServerPort, qmcomm.GetServerPort])
def test_the_interfaces_return_ports_of_tcp_and_none_of_spx(
    request_type: type[qm2qm.GetServerPort] | type[qmcomm.GetServerPort], kind: PortKind
) -> None:
    assert ServerBench().client().call(request_type(kind)) == PortReturned(EXPECTED[kind])


@pytest.mark.spec("QP-116")
def test_a_kind_of_port_that_is_not_known_has_none() -> None:
    assert ServerBench().client().call(qmcomm.GetServerPort(77)) == PortReturned(0)


@pytest.mark.spec("QP-116")
def test_an_interface_that_is_not_listened_to_has_no_port() -> None:
    bench = ServerBench()
    bench.handle(PortsKnown(handshake=2114))
    client = bench.client()
    assert client.call(qm2qm.GetServerPort(PortKind.HANDSHAKE)) == PortReturned(2114)
    assert client.call(qm2qm.GetServerPort(PortKind.READ)) == PortReturned(0)


@pytest.mark.spec("QP-119", "QP-120", "QP-121")
@pytest.mark.mqqp("T07")
def test_the_version_is_one_that_clients_take_for_a_current_one() -> None:
    version = ServerBench().client().call(qm2qm.GetVersion())
    assert isinstance(version, VersionReturned)
    assert (version.major, version.minor) == (6, 1)
    assert version.build >= 6531


@pytest.mark.spec("QP-159")
@pytest.mark.mqqp("T05")
def test_ports_and_version_need_no_protection() -> None:
    client = ServerBench(settings=MqqpSettings(protection=Protection.PRIVACY)).client()
    assert client.call(qm2qm.GetServerPort(PortKind.READ)) == PortReturned(2105)
    assert client.call(qmcomm.GetServerPort(PortKind.READ)) == PortReturned(2105)
    assert client.call(qm2qm.GetVersion()).major == 6
