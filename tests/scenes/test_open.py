"""Scenes of Open Queue: names of every kind, several queues at once, queues of other managers."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.directory.events import CreateDirectoryObject, WriteDirectory
from reliquary.queueing.model.directory.objects import DistributionList
from reliquary.queueing.model.events import Access, CreateQueue, GetQueuePath, OpenQueue, Share
from reliquary.queueing.model.names.expand import expand
from reliquary.queueing.model.names.formats import key_of, parse_format, parse_single
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.rules.outgoing import link_of
from tests.queueing.answers import everything
from tests.scenes.harness import Scene

GUID = UUID("0F0E0D0C-0B0A-0908-0706-050403020100")
A, B, MISSING = (f"DIRECT=OS:BENCH\\private$\\{name}" for name in ("a", "b", "missing"))
REMOTE = "DIRECT=OS:elsewhere\\private$\\orders"
WEB = "DIRECT=HTTP://h/msmq/q"


def opening(scene: Scene, name: str, access: Access, share: Share = Share.DENY_NONE) -> HResult:
    """Return the status of an Open Queue."""
    status: HResult = scene.ask(OpenQueue(0, name, access, share)).status
    return status


def outgoing(scene: Scene, name: str) -> QueueState:
    """Return the OutgoingQueue to a destination."""
    return scene.state.names.outgoing[key_of(parse_single(name))]


@pytest.mark.scene("T17")
@pytest.mark.spec("DM-163")
def test_no_client_receives_from_a_web_address() -> None:
    assert opening(Scene(), WEB, Access.RECEIVE) is HResult.UNSUPPORTED_FORMATNAME_OPERATION


@pytest.mark.scene("T18")
@pytest.mark.spec("DM-164")
def test_no_client_sends_to_a_machines_dead_letters() -> None:
    scene = Scene()
    name = f"MACHINE={scene.state.identity().identifier};DEADLETTER"
    assert opening(scene, name, Access.SEND) is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    assert opening(scene, name, Access.PEEK) is HResult.OK


@pytest.mark.scene("T19")
@pytest.mark.spec("DM-165", "DM-174")
def test_a_multicast_name_is_for_sending() -> None:
    scene, name = Scene(), "MULTICAST=224.1.1.1:8000"
    assert opening(scene, name, Access.RECEIVE) is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    assert opening(scene, name, Access.SEND) is HResult.OK
    made = outgoing(scene, name).record.outgoing
    assert made is not None
    assert made.multicast


@pytest.mark.scene("T20")
@pytest.mark.spec("DM-168")
def test_a_local_queue_that_does_not_exist_is_not_found() -> None:
    scene = Scene()
    assert opening(scene, MISSING, Access.SEND) is HResult.QUEUE_NOT_FOUND
    assert not scene.state.names.outgoing


@pytest.mark.scene("T21")
@pytest.mark.spec("DM-171", "DM-178")
def test_a_remote_name_opened_twice_makes_one_outgoing_queue() -> None:
    scene = Scene()
    assert scene.open(REMOTE, Access.SEND) != scene.open(REMOTE, Access.SEND)
    assert len(scene.state.names.outgoing) == 1
    queue = outgoing(scene, REMOTE)
    assert link_of(queue).state is OutgoingState.INACTIVE
    assert queue.record.settings.label == REMOTE
    assert len(queue.readers.descriptors) == 2


@pytest.mark.scene("T22")
@pytest.mark.spec("DM-173")
@pytest.mark.parametrize(
    ("name", "state"),
    [("DIRECT=TCP:10.0.0.1\\private$\\q", OutgoingState.LOCKED), (WEB, OutgoingState.INACTIVE)],
)
def test_hardened_security_locks_what_does_not_go_by_http(name: str, state: OutgoingState) -> None:
    scene = Scene(hardened=True)
    assert opening(scene, name, Access.SEND) is HResult.OK
    assert link_of(outgoing(scene, name)).state is state


@pytest.mark.scene("T23")
@pytest.mark.spec("DM-169")
def test_a_public_name_that_the_directory_does_not_know() -> None:
    assert opening(Scene(), f"PUBLIC={GUID}", Access.SEND) is HResult.UNSUPPORTED_FORMATNAME_OPERATION


@pytest.mark.scene("T24")
@pytest.mark.spec("DM-160", "DM-161", "DM-162", "DM-067")
def test_several_queues_are_opened_as_one() -> None:
    scene = Scene("a", "b")
    parent = scene.state.open.handles[scene.open(f"{A},{B}", Access.SEND)]
    assert parent.queue is None
    assert [scene.state.open.handles[child].queue for child in parent.children] == [
        scene.queue("a").number,
        scene.queue("b").number,
    ]
    denied = opening(scene, f"{A},{B}", Access.SEND, Share.DENY_RECEIVE)
    assert denied is HResult.UNSUPPORTED_ACCESS_MODE
    assert opening(scene, f"{A},{B}", Access.RECEIVE) is HResult.UNSUPPORTED_FORMATNAME_OPERATION


@pytest.mark.scene("T25")
@pytest.mark.spec("DM-162")
def test_several_queues_are_opened_all_or_none() -> None:
    scene = Scene("a")
    before = everything(scene.state)
    assert opening(scene, f"{A},{MISSING}", Access.SEND) is HResult.QUEUE_NOT_FOUND
    assert everything(scene.state) == before


@pytest.mark.scene("T26")
@pytest.mark.spec("DM-319", "DM-320", "DM-321")
def test_a_distribution_list_becomes_the_queues_it_lists() -> None:
    first, second = UUID(int=1), UUID(int=2)
    lists: dict[UUID, tuple[str, ...]] = {first: (A, A.lower(), f"DL={second}"), second: (B,)}
    assert str(expand(parse_format(f"DL={first}"), lists.get)) == f"{A},{B}"
    assert expand(parse_format(f"DL={GUID}"), lists.get) is None


@pytest.mark.spec("DM-159", "DM-319")
def test_a_distribution_list_is_opened_as_the_queues_it_lists() -> None:
    """The scene follows T26: Open Queue expands the name before all else."""
    scene = Scene("a", "b")
    listed = DistributionList(identifier=GUID, name="all", format_names=(A, B))
    assert scene.ask(CreateDirectoryObject(0, listed)).succeeded
    scene.send(scene.open(f"DL={GUID}", Access.SEND), b"m1")
    assert scene.bodies("a") == scene.bodies("b") == [b"m1"]
    before = everything(scene.state)
    unknown = opening(scene, f"DL={UUID(int=7)}", Access.SEND)
    assert unknown is not HResult.OK
    assert everything(scene.state) == before


@pytest.mark.spec("DM-159", "DM-319")
def test_a_list_of_one_queue_that_changes_leads_to_the_other_queue_at_once() -> None:
    scene = Scene("a", "b")
    listed = DistributionList(identifier=GUID, name="all", format_names=(A,))
    assert scene.ask(CreateDirectoryObject(0, listed)).succeeded
    assert scene.send(f"DL={GUID}", b"m1").status is HResult.OK
    changed = DistributionList(identifier=GUID, format_names=(B,))
    assert scene.ask(WriteDirectory(0, changed, ("format_names",))).succeeded
    assert scene.send(f"DL={GUID}", b"m2").status is HResult.OK
    assert (scene.bodies("a"), scene.bodies("b")) == ([b"m1"], [b"m2"])


@pytest.mark.scene("T72")
@pytest.mark.spec("DM-259", "DM-260", "DM-261")
def test_the_path_of_a_format_name_is_found() -> None:
    scene = Scene("orders", ".\\sales")
    orders, sales = scene.queue("orders").record, scene.queue(".\\sales").record
    here = scene.state.identity()
    for name, path, machine in (
        ("DIRECT=HTTP://host/msmq/q", "", "host"),
        ("DIRECT=OS:host\\private$\\q", "host\\private$\\q", "host"),
        (f"PUBLIC={sales.identifier}", sales.pathname, here.computer_name),
        (f"PRIVATE={here.identifier}\\{orders.number:x}", orders.pathname, here.computer_name),
    ):
        answer = scene.ask(GetQueuePath(0, name))
        assert (answer.status, answer.path, answer.machine) == (HResult.OK, path, machine), name
    assert scene.ask(GetQueuePath(0, f"PUBLIC={GUID}")).status is HResult.ILLEGAL_FORMATNAME


@pytest.mark.scene("T73")
@pytest.mark.spec("DM-264", "DM-265")
def test_one_message_to_several_queues_stops_at_the_first_that_is_full() -> None:
    scene = Scene("a")
    scene.ask(CreateQueue(0, "b", QueueSettings(quota=0)))
    answer = scene.send(scene.open(f"{A},{B}", Access.SEND), b"m1")
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    copies = [each.message for each in scene.receive("a").messages]
    assert [(each.body, each.destination_queue, each.destination_queues) for each in copies] == [
        (b"m1", A, (A, B))
    ]
    assert scene.bodies("b") == []
