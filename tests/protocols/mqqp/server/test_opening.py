"""A queue is opened in two steps: qmcomm decides who may read it, qm2qm takes it over."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE
from reliquary.protocols.mqqp.server.opening import ACCESS, SHARE
from reliquary.protocols.mqqp.server.phases import Phase
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.model.events import Access, AccessChange, ChangeAccess, Share
from reliquary.queueing.model.security.principals import EVERYONE
from reliquary.queueing.model.security.rights import QueueRight
from tests.protocols.mqqp.server.server_harness import HERE, ServerBench, message_of, user

INVALID_PARAMETER, RESOURCES = 0xC00E0006, 0xC00E0027
READ = int(QueueRight.RECEIVE_MESSAGE | QueueRight.PEEK_MESSAGE)
DIRECT = r"DIRECT=OS:bench\private$\orders"


# -- R_QMOpenRemoteQueue


@pytest.mark.spec("QP-165")
def test_the_client_gets_one_number_three_times_and_a_handle() -> None:
    bench = ServerBench()
    opened = bench.client().open_remote()
    assert opened.status == 0
    assert opened.handle != NO_HANDLE
    assert opened.context == opened.queue == opened.queue_again != 0
    (queue,) = bench.server.queues.values()
    assert (queue.number, queue.phase) == (opened.queue, Phase.OPENED)
    assert bench.state.open.handles[queue.descriptor].access is Access.RECEIVE


@pytest.mark.parametrize(
    ("name", "access", "share", "status"),
    [
        pytest.param(None, 1, 0, INVALID_PARAMETER, id="NULL"),
        pytest.param(DIRECT, 2, 0, INVALID_PARAMETER, id="to send"),
        pytest.param(DIRECT, 0x21, 0, INVALID_PARAMETER, id="to peek and to receive"),
        pytest.param(DIRECT, 0, 0, INVALID_PARAMETER, id="for nothing"),
        pytest.param(DIRECT, 1, 2, INVALID_PARAMETER, id="another way of sharing"),
        pytest.param("", 1, 0, 0xC00E001E, id="no name"),
        pytest.param("orders", 1, 0, 0xC00E001E, id="a path name"),
        pytest.param("DIRECT=OS:", 1, 0, 0xC00E001E, id="half a name"),
        pytest.param("DIRECT=OS:bench\\private$\\" + "x" * 300, 1, 0, 0xC00E001E, id="too long"),
        pytest.param(r"DIRECT=OS:bench\private$\none", 1, 0, 0xC00E0003, id="no queue of that name"),
        pytest.param("DIRECT=HTTP://bench/msmq/private$/orders", 1, 0, 0xC00E0020, id="by HTTP"),
        pytest.param("MULTICAST=239.1.1.1:5", 1, 0, 0xC00E0020, id="multicast"),
        pytest.param(f"DL={HERE}", 1, 0, 0xC00E0020, id="a distribution list"),
        pytest.param(f"{DIRECT},{DIRECT}", 1, 0, 0xC00E0020, id="several queues"),
        pytest.param(rf"PRIVATE={HERE}\1", 1, 0, 0xC00E0003, id="of another manager"),
        pytest.param(f"PUBLIC={HERE}", 1, 0, 0xC00E0003, id="a public queue that is not ours"),
    ],
)
def test_what_is_not_valid_is_refused_and_nothing_is_opened(
    name: str | None, access: int, share: int, status: int
) -> None:
    bench = ServerBench()
    client = bench.client()
    refused = client.open_remote(name, access, share)
    assert refused == qmcomm.RemoteQueueOpened(NO_HANDLE, 0, 0, 0, status)
    client.lose()
    assert bench.is_idle


@pytest.mark.parametrize(
    "name",
    [
        r"DIRECT=OS:bench\private$\orders",
        r"DIRECT=OS:alias.example\private$\orders",
        r"DIRECT=TCP:192.0.2.7\private$\orders",
        r"direct=tcp:127.0.0.1\PRIVATE$\orders",
        r"DIRECT=OS:.\private$\orders",
    ],
)
def test_a_client_may_know_us_by_any_name(name: str) -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    assert client.receive(client.open(name)).status == 0


@pytest.mark.parametrize("journal", [False, True])
def test_private_names_and_journals_are_opened_by_their_numbers(*, journal: bool) -> None:
    bench = ServerBench()
    identity, queue = bench.state.identity(), bench.queue()
    suffix = ";JOURNAL" if journal else ""
    client = bench.client()
    opened = client.open(rf"PRIVATE={identity.identifier}\{queue.number:x}{suffix}")
    assert client.receive(opened).status == 0xC00E001B


@pytest.mark.parametrize("kind", ["direct", "private", "machine"])
def test_local_queues_in_a_message_get_the_name_that_the_client_uses(kind: str) -> None:
    bench = ServerBench()
    identity, number = bench.state.identity(), bench.queue().number
    bench.send("orders", b"m", response_queue="orders", negative_journaling=True, time_to_be_received=1)
    name, computer = {
        "direct": (r"DIRECT=OS:far.example\private$\orders", "far.example"),
        "private": (rf"PRIVATE={identity.identifier}\{number:x}", "BENCH"),
        "machine": (f"MACHINE={identity.identifier};DEADLETTER", "BENCH"),
    }[kind]
    if kind == "machine":
        bench.advance(2)
    client = bench.client()
    found = message_of(client.receive(client.open(name)))
    assert found.response_queue == rf"DIRECT=OS:{computer}\private$\orders"


def test_each_access_and_each_share_mode_of_the_text_has_one_of_ours() -> None:
    assert ACCESS == {1: Access.RECEIVE, 0x20: Access.PEEK}
    assert SHARE == {0: Share.DENY_NONE, 1: Share.DENY_RECEIVE}


def test_a_queue_that_is_open_to_receive_cannot_be_opened_alone() -> None:
    bench = ServerBench()
    client, other = bench.client(), bench.client()
    alone = client.open(share=1)
    assert other.open_remote().status == 0xC0000043
    assert other.open_remote(share=1).status == 0xC0000043
    client.close(alone)
    other.open()
    assert client.open_remote(share=1).status == 0xC0000043


def test_a_queue_that_is_open_to_peek_permits_nothing_else() -> None:
    bench = ServerBench()
    bench.send("orders", b"m")
    client = bench.client()
    queue = client.open(access=0x20)
    assert client.peek(queue).status == 0
    assert client.receive(queue).status == 0xC00E0025
    assert (
        client.look_up(queue, bench.queue().order.some(-1, 1)[0].lookup_id, 0x40000020).status == 0xC00E0025
    )
    assert client.call(qm2qm.PurgeQueue(queue.number)) == 0xC00E0025
    assert bench.bodies() == [b"m"]


@pytest.mark.spec("QP-006")
@pytest.mark.mqqp("T05")
def test_the_access_list_of_the_queue_decides_who_may_open_it() -> None:
    bench = ServerBench()
    ann = user("ann")
    for change, sid in ((AccessChange.REVOKE, EVERYONE), (AccessChange.GRANT, ann.user)):
        bench.ask(ChangeAccess(0, "orders", change, sid, READ))
    assert bench.client().open_remote().status == 0xC00E0025
    assert bench.client(user("bob")).open_remote().status == 0xC00E0025
    assert bench.client(ann).open_remote().status == 0


def test_rights_that_are_taken_away_end_what_is_open() -> None:
    bench = ServerBench()
    client = bench.client(user("ann"))
    queue = client.open()
    waits = client.begin_reading(queue)
    bench.ask(ChangeAccess(0, "orders", AccessChange.REVOKE, EVERYONE, READ))
    bench.send("orders", b"m")
    assert client.answer(waits).status == 0xC00E0025
    assert client.receive(queue).status == 0xC00E0025
    assert bench.bodies() == [b"m"]


def test_the_open_queues_of_a_client_are_limited() -> None:
    bench = ServerBench(settings=MqqpSettings(queues=2))
    client, other = bench.client(), bench.client()
    opened = [client.open_remote() for _ in range(3)]
    assert [each.status for each in opened] == [0, 0, RESOURCES]
    assert other.open_remote().status == 0
    client.call(qmcomm.CloseRemoteQueueContext(opened[0].handle))
    assert client.open_remote().status == 0


def test_the_sessions_of_a_client_are_limited() -> None:
    bench = ServerBench(settings=MqqpSettings(queues=1))
    client, helper = bench.client(), bench.client()
    client.open()
    opened = helper.open_remote()
    answer = client.call(qm2qm.OpenQueue(HERE, 0, 0, opened.queue, opened.context))
    assert answer == qm2qm.HandleReturned(NO_HANDLE, RESOURCES)
    assert bench.server.queues[opened.queue].phase is Phase.OPENED


def test_a_manager_that_is_not_ready_opens_nothing() -> None:
    bench = ServerBench()
    client = bench.client()
    bench.stop()
    assert client.open_remote().status == 0xC00E000B


# -- RemoteQMOpenQueue


@pytest.mark.spec("QP-033", "QP-086", "QP-089", "QP-092", "QP-093", "QP-098")
@pytest.mark.mqqp("T10")
def test_a_session_takes_over_what_qmcomm_opened_and_closing_it_closes_the_queue() -> None:
    bench = ServerBench()
    client = bench.client()
    opened = client.open_remote()
    licence = UUID(int=5)
    answer = client.call(qm2qm.OpenQueue(licence, 0, 12345, opened.queue, opened.context))
    assert answer.status == 0
    assert answer.handle not in (NO_HANDLE, opened.handle)
    (session,) = bench.server.associations[client.association].sessions.values()
    assert (session.client, session.queue.number) == (licence, opened.queue)
    assert session.queue.phase is Phase.READY_FOR_READ
    assert client.call(qm2qm.CloseQueue(answer.handle)) == qm2qm.HandleReturned(NO_HANDLE, 0)
    assert not bench.server.queues
    assert not bench.server.associations[client.association].sessions
    assert not bench.state.open.handles


@pytest.mark.spec("QP-090", "QP-091")
@pytest.mark.mqqp("T09")
@pytest.mark.parametrize(
    ("queue_again", "context"),
    [
        pytest.param(0, "own", id="pQueue 0"),
        pytest.param("own", 0, id="dwpContext 0"),
        pytest.param("own", "other", id="pQueue is not dwpContext"),
        pytest.param("other", "own", id="dwpContext is not pQueue"),
        pytest.param("other", "other", id="it was not opened"),
    ],
)
def test_a_session_needs_the_number_that_qmcomm_gave(queue_again: Any, context: Any) -> None:
    bench = ServerBench()
    client = bench.client()
    own = client.open_remote().context
    numbers = {0: 0, "own": own, "other": own ^ 1}
    answer = client.call(qm2qm.OpenQueue(HERE, 0, own, numbers[queue_again], numbers[context]))
    assert answer == qm2qm.HandleReturned(NO_HANDLE, INVALID_PARAMETER)
    assert not bench.server.associations[client.association].sessions


@pytest.mark.spec("QP-088")
@pytest.mark.mqqp("T32")
@pytest.mark.parametrize("level", [0, 1, 16])
def test_every_level_is_welcome(level: int) -> None:
    assert ServerBench().client().open(level=level).session != NO_HANDLE


def test_a_queue_has_one_session() -> None:
    bench = ServerBench()
    client = bench.client()
    queue = client.open()
    again = client.call(qm2qm.OpenQueue(HERE, 0, queue.number, queue.number, queue.number))
    assert again == qm2qm.HandleReturned(NO_HANDLE, INVALID_PARAMETER)
    assert client.close(queue).status == 0
