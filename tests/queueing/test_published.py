"""What the directory says about names elsewhere."""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.directory.objects import DistributionList, ManagerObject, QueueObject
from reliquary.queueing.published import PublishedQueue, computer_name, published_queue, resolve_list
from tests.queueing.directory.scenery import add, detach
from tests.queueing.manager_harness import Bench

GUID = UUID("0F0E0D0C-0B0A-0908-0706-050403020100")
QUEUE = QueueObject(identifier=GUID, queue_manager=GUID, pathname="OTHER\\orders", base_priority=4)
LIST = DistributionList(identifier=GUID, name="shops", format_names=("DIRECT=OS:a\\x",))


def test_what_the_directory_does_not_know_is_nothing() -> None:
    state = Bench().state
    assert (resolve_list(state, GUID), published_queue(state, GUID)) == (None, None)
    assert computer_name(state, GUID) == ""


def test_what_it_knows_is_told_while_it_can_be_reached() -> None:
    bench = Bench()
    for subject in (ManagerObject(identifier=GUID, computer_name="OTHER"), QUEUE, LIST):
        add(bench, subject)
    assert computer_name(bench.state, GUID) == "OTHER"
    assert published_queue(bench.state, GUID) == PublishedQueue("OTHER\\orders", GUID, 4)
    assert resolve_list(bench.state, GUID) == LIST.format_names
    detach(bench)
    assert (resolve_list(bench.state, GUID), published_queue(bench.state, GUID)) == (None, None)
    assert computer_name(bench.state, GUID) == ""
