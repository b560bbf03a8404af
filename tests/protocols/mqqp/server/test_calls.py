"""Each method has its rule, and not every client may call it."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, Acknowledge, PortKind, ReadDescriptor, Request
from reliquary.protocols.mqqp.server.calls import FREE, METHODS
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.wire.rpc.protection import Protection
from tests.protocols.mqqp.server.server_harness import HERE, ServerBench, user

READ = ReadDescriptor(1, 0, 0, 1, queue_again=1)
REQUESTS: dict[type[Request], Request] = {
    qm2qm.StartReceive: qm2qm.StartReceive(READ),
    qm2qm.EndReceive: qm2qm.EndReceive(HERE, Acknowledge.ACK),
    qm2qm.OpenQueue: qm2qm.OpenQueue(HERE, 0, 1, 1, 1),
    qm2qm.CloseQueue: qm2qm.CloseQueue(HERE),
    qm2qm.CloseCursor: qm2qm.CloseCursor(1, 1),
    qm2qm.CancelReceive: qm2qm.CancelReceive(1, 1, 1),
    qm2qm.PurgeQueue: qm2qm.PurgeQueue(1),
    qm2qm.GetServerPort: qm2qm.GetServerPort(PortKind.READ),
    qm2qm.GetVersion: qm2qm.GetVersion(),
    qm2qm.StartReceive2: qm2qm.StartReceive2(READ),
    qm2qm.StartReceiveByLookupId: qm2qm.StartReceiveByLookupId(1, READ),
    qmcomm.OpenRemoteQueue: qmcomm.OpenRemoteQueue(r"DIRECT=OS:bench\private$\orders", 1, 0, HERE),
    qmcomm.CloseRemoteQueueContext: qmcomm.CloseRemoteQueueContext(HERE),
    qmcomm.CreateRemoteCursor: qmcomm.CreateRemoteCursor(1),
    qmcomm.GetServerPort: qmcomm.GetServerPort(PortKind.READ),
}
STRONG = MqqpSettings(protection=Protection.INTEGRITY)


def subclasses(kind: type[Request]) -> set[type[Request]]:
    return {each for each in kind.__subclasses__() if each.__module__.startswith("reliquary")}


def test_each_request_of_both_interfaces_has_a_method() -> None:
    assert set(METHODS) == subclasses(Request) == set(REQUESTS)


@pytest.mark.spec("QP-159")
@pytest.mark.mqqp("T05")
@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind not in FREE])
@pytest.mark.parametrize(
    ("by", "protection"),
    [
        pytest.param(ANONYMOUS, Protection.NONE, id="anonymous"),
        pytest.param(ANONYMOUS, Protection.PRIVACY, id="anonymous and encrypted"),
        pytest.param(user("ann"), Protection.CONNECT, id="not signed"),
    ],
)
def test_calls_with_less_protection_are_refused(
    kind: type[Request], by: Principal, protection: Protection
) -> None:
    bench = ServerBench(settings=STRONG)
    client = bench.client(by, protection)
    answer = client.call(REQUESTS[kind])
    if isinstance(answer, int):
        assert answer in (0xC00E0025, 5)
    else:
        assert answer.status == 0xC00E0025
    assert not bench.server.queues


@pytest.mark.parametrize("protection", [Protection.INTEGRITY, Protection.PRIVACY])
def test_calls_with_enough_protection_are_taken(protection: Protection) -> None:
    client = ServerBench(settings=STRONG).client(user("ann"), protection)
    assert client.open().session != NO_HANDLE


@pytest.mark.spec("QP-006")
@pytest.mark.mqqp("T05")
def test_every_client_may_call_without_a_setting() -> None:
    bench = ServerBench()
    client = bench.client()
    assert client.open().session != NO_HANDLE
    ann = bench.client(user("ann"), Protection.PRIVACY)
    ann.call(qm2qm.GetVersion())
    assert bench.server.associations[ann.association].by is ann.by


@pytest.mark.parametrize("kind", METHODS)
def test_every_call_of_a_client_that_opened_nothing_is_answered_once(kind: type[Request]) -> None:
    client = ServerBench().client()
    assert client.call(REQUESTS[kind]) is not None
