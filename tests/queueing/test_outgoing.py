"""Outgoing queues: how they come to be."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.queueing import facts
from reliquary.queueing.apply import apply
from reliquary.queueing.formats import key_of, parse_single
from reliquary.queueing.outgoing import create_outgoing
from reliquary.queueing.queue import QueueSettings, QueueType
from tests.queueing.manager_harness import Bench, check, durable

ELSEWHERE = r"DIRECT=OS:elsewhere\private$\orders"


@pytest.mark.spec("DM-171", "DM-283")
def test_a_new_outgoing_queue_has_the_defaults_and_its_destination_for_a_label() -> None:
    bench = Bench()
    name = parse_single(ELSEWHERE)
    queue = create_outgoing(bench.state, name, bench.now)
    record = queue.record
    assert record.outgoing is not None
    assert (record.outgoing.destination, record.pathname, record.settings.label) == (ELSEWHERE,) * 3
    assert msgspec.structs.replace(record.settings, label="") == QueueSettings()
    assert not record.outgoing.multicast
    assert not record.outgoing.locked
    assert bench.state.outgoing[key_of(name)] is queue
    assert bench.state.by_identifier[record.identifier] is queue


def test_an_outgoing_queue_survives_a_restart() -> None:
    bench = Bench()
    create_outgoing(bench.state, parse_single(ELSEWHERE), bench.now)
    before = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == before
    assert list(bench.state.outgoing) == [ELSEWHERE.casefold()]
    check(bench.state)


@pytest.mark.spec("DM-173", "DM-031")
@pytest.mark.parametrize(
    ("name", "locked"),
    [
        (ELSEWHERE, True),
        ("MULTICAST=224.1.1.1:8001", True),
        ("PUBLIC=6ba7b810-9dad-11d1-80b4-00c04fd430c8", True),
        ("DIRECT=HTTP://elsewhere/msmq/private$/orders", False),
        ("DIRECT=HTTPS://elsewhere/msmq/private$/orders", False),
    ],
)
def test_a_hardened_manager_locks_what_does_not_go_by_http(name: str, locked: bool) -> None:
    bench = Bench()
    record = msgspec.structs.replace(bench.state.identity(), hardened_security=True)
    apply(bench.state, facts.ManagerNamed(record))
    outgoing = create_outgoing(bench.state, parse_single(name), bench.now).record.outgoing
    assert outgoing is not None
    assert outgoing.locked is locked


@pytest.mark.spec("DM-174", "DM-027")
@pytest.mark.parametrize(
    ("name", "kind", "multicast"),
    [
        (ELSEWHERE, QueueType.PRIVATE, False),
        ("MULTICAST=224.1.1.1:8001", QueueType.PRIVATE, True),
        ("PUBLIC=6ba7b810-9dad-11d1-80b4-00c04fd430c8", QueueType.PUBLIC, False),
        ("CONNECTOR=6ba7b810-9dad-11d1-80b4-00c04fd430c8", QueueType.CONNECTOR, False),
    ],
)
def test_the_name_decides_on_kind_and_multicast(name: str, kind: QueueType, multicast: bool) -> None:
    bench = Bench()
    record = create_outgoing(bench.state, parse_single(name), bench.now).record
    assert record.outgoing is not None
    assert (record.kind, record.outgoing.multicast) == (kind, multicast)
