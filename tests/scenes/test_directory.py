"""Scenes of the directory: which objects enter it, and what a manager knows while it is away."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.directory.events import (
    ReadDirectory,
    ReadDirectoryBegin,
    ReadDirectoryNext,
    SwitchDirectory,
    WriteDirectory,
)
from reliquary.queueing.directory.operations import ONLINE_TIMER
from reliquary.queueing.directory.queries import Filter, Operator, SortOrder
from reliquary.queueing.directory.results import DirectoryResult
from reliquary.queueing.model.directory.connection import Connection
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.directory.objects import ObjectKind, QueueObject, Site
from reliquary.queueing.model.events import CreateQueue, StartManager
from reliquary.queueing.model.facts import ChangeNotified
from tests.queueing.directory.harness import NORTH, OTHER, add, add_sites, find
from tests.queueing.manager_harness import COMPUTER
from tests.queueing.state_checks import durable
from tests.scenes.harness import Scene

KEYS = (b"base", b"enhanced", b"aes")


def in_a_directory(*queues: str, **given: Any) -> Scene:
    return Scene(*queues, subscribed=[ChangeNotified], **{"directory": Integration(), **given})


def reported(scene: Scene) -> list[str]:
    return [each.operation.value for each in scene.signals if isinstance(each, ChangeNotified)]


@pytest.mark.scene("T01")
@pytest.mark.spec("DM-084", "DM-088", "DM-093")
def test_a_new_manager_has_its_site_its_keys_and_its_queues() -> None:
    scene = in_a_directory(directory=Integration(site=NORTH, encryption_keys=KEYS, signing_keys=KEYS))
    record = scene.state.identity()
    assert record.initialization_retry_seconds == 120
    assert record.site_identifiers == (NORTH,)
    assert record.public_encryption_keys == record.public_signing_keys == KEYS
    assert sum(name.startswith("system$;") for name in scene.state.names.by_path) == 5


@pytest.mark.scene("T02")
@pytest.mark.spec("DM-082")
def test_a_computer_without_a_name_does_not_start() -> None:
    scene = Scene(start=False)
    before = durable(scene.state)
    assert scene.handle(StartManager("", directory=Integration())).facts == ()
    assert durable(scene.state) == before
    assert scene.timers == {}


@pytest.mark.scene("T09")
@pytest.mark.spec("DM-142", "DM-238")
def test_a_public_queue_is_in_the_directory() -> None:
    scene = in_a_directory()
    made = scene.create(".\\shop").queue
    assert reported(scene) == ["queue-creation"]
    found = find(scene, ObjectKind.QUEUE, made.identifier).subject
    assert (found.full_path, found.directory_path) == (made.full_path, made.directory_path)
    assert made.full_path


@pytest.mark.scene("T10")
@pytest.mark.spec("DM-144")
def test_a_public_queue_can_stay_out_of_the_directory() -> None:
    scene = in_a_directory()
    made = scene.ask(CreateQueue(0, ".\\shop", skip_directory=True)).queue
    assert reported(scene) == []
    assert find(scene, ObjectKind.QUEUE, made.identifier).result is DirectoryResult.OBJECT_NOT_FOUND


@pytest.mark.scene("T11")
@pytest.mark.spec("DM-143")
def test_a_queue_that_the_directory_refuses_is_not_made() -> None:
    scene = in_a_directory()
    add(scene, QueueObject(pathname=f"{COMPUTER}\\shop"))
    assert scene.create(".\\shop").status is HResult.OBJECT_EXISTS
    assert scene.state.find(scene.state.parse(".\\shop")) is None


@pytest.mark.scene("T67")
@pytest.mark.spec("DM-253", "DM-240")
def test_a_write_without_a_directory_starts_one_timer() -> None:
    scene = in_a_directory()
    add_sites(scene)
    scene.ask(SwitchDirectory(0, attached=False))
    answer = scene.ask(WriteDirectory(0, Site(identifier=NORTH, name="new")))
    assert answer.result is DirectoryResult.NOT_CONNECTED
    assert scene.state.directory.offline
    assert [name for name in scene.timers if name == ONLINE_TIMER] == [ONLINE_TIMER]


@pytest.mark.scene("T68")
@pytest.mark.spec("DM-245", "DM-247")
def test_without_a_directory_a_manager_knows_its_own_queues() -> None:
    scene = in_a_directory(".\\shop")
    add_sites(scene)
    scene.ask(SwitchDirectory(0, attached=False))
    shop = scene.queue(".\\shop").record.identifier
    assert find(scene, ObjectKind.QUEUE, shop).result is DirectoryResult.SUCCESS
    assert find(scene, ObjectKind.QUEUE, OTHER).result is DirectoryResult.OBJECT_NOT_FOUND
    assert find(scene, ObjectKind.SITE, NORTH).result is DirectoryResult.NOT_CONNECTED


@pytest.mark.scene("T69")
@pytest.mark.spec("DM-256", "DM-257")
def test_the_directory_is_tried_every_minute_until_it_is_back() -> None:
    scene = in_a_directory(".\\shop")
    scene.ask(SwitchDirectory(0, attached=False))
    scene.advance(60)
    assert scene.state.directory.offline
    assert ONLINE_TIMER in scene.timers
    scene.ask(SwitchDirectory(0, attached=True))
    shop = QueueObject(identifier=scene.queue(".\\shop").record.identifier, label="till")
    scene.ask(WriteDirectory(0, shop, ("label",)))
    scene.advance(60)
    assert scene.state.directory.connection is Connection.ONLINE
    assert scene.queue(".\\shop").record.settings.label == "till"


@pytest.mark.scene("T70")
@pytest.mark.spec("DM-249", "DM-250", "DM-251")
def test_links_are_read_by_cost() -> None:
    scene = in_a_directory()
    add_sites(scene)
    query = ReadDirectoryBegin(
        0,
        ObjectKind.ROUTING_LINK,
        (Filter("actual_cost", Operator.LESS_THAN, 9),),
        ("actual_cost",),
        (SortOrder(1, ascending=False),),
    )
    handle = scene.ask(query).handle
    answers = [scene.ask(ReadDirectoryNext(0, handle)) for _ in range(3)]
    assert [each.subject.actual_cost for each in answers[:2]] == [5, 1]
    assert answers[2].result is DirectoryResult.END_OF_DATA


@pytest.mark.scene("T71")
@pytest.mark.spec("DM-254")
def test_only_a_write_that_succeeds_is_reported() -> None:
    scene = in_a_directory(".\\shop")
    shop = QueueObject(identifier=scene.queue(".\\shop").record.identifier, label="till")
    scene.ask(WriteDirectory(0, shop, ("label",)))
    assert reported(scene)[-1] == "queue-update"
    count = len(reported(scene))
    scene.ask(WriteDirectory(0, QueueObject(identifier=OTHER, label="x"), ("label",)))
    scene.ask(SwitchDirectory(0, attached=False))
    scene.ask(WriteDirectory(0, shop, ("label",)))
    assert len(reported(scene)) == count
    assert scene.ask(ReadDirectory(0, ObjectKind.SITE)).result is DirectoryResult.NOT_CONNECTED
