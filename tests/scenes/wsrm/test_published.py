"""Tests the seven messages of [MS-WSRVCRM] 4, seen from both roles, in every dialect.

The destination has room for two messages and its application is away; the source has three messages.

    1   source -> destination   message 1
    2   destination -> source   acknowledged 1-1, room for 1
    3   source -> destination   message 2
    4   destination -> source   acknowledged 1-2, room for 0: the source stops and polls
        the application comes back and processes message 1
    5   destination -> source   acknowledged 1-2, room for 1: the source goes on
    6   source -> destination   message 3
    7   destination -> source   acknowledged 1-3, room for 0
"""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.protocols.wsrm.codec.addressing import ANONYMOUS
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Addressing,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Reference,
    Soap,
    Version,
)
from reliquary.protocols.wsrm.settings import EndpointSettings, PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.flow import Polling
from tests.protocols.wsrm.wsrm_harness import WsrmBench, acknowledged, message

SEQUENCE = "urn:uuid:0b162747-99cf-479c-972f-95b776e141c3"
ACKS_TO = Reference("http://source.example/acks")
DIALECTS = [
    pytest.param(Dialect(*each), id="-".join(part.value for part in each))
    for each in product(Version, Soap, Addressing)
]


@pytest.mark.wsrm("T17", "T27")
@pytest.mark.spec("FC-004", "FC-005", "FC-014", "FC-016", "FC-017", "FC-021")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_destination_writes_messages_2_4_5_and_7(dialect: Dialect) -> None:
    endpoint = EndpointSettings(name="orders", window=2, bounded=True)
    bench = WsrmBench(settings=WsrmSettings(endpoints=(endpoint,), seed=b"x"))
    sequence = bench.sequence_to(ACKS_TO, dialect)
    bench.out.clear()

    def said() -> list[tuple[tuple[tuple[int, int], ...], int]]:
        written = [acknowledged(envelope) for _, envelope in bench.posted]
        bench.out.clear()
        return [(each.ranges, each.buffer) for each in written]

    bench.post(message(sequence, 1, dialect=dialect))
    assert said() == [(((1, 1),), 1)]
    bench.post(message(sequence, 2, dialect=dialect))
    assert said() == [(((1, 2),), 0)]
    bench.receive("orders")
    assert said() == [(((1, 2),), 1)]
    bench.post(message(sequence, 3, dialect=dialect))
    assert said() == [(((1, 3),), 0)]
    assert len(bench.bodies()) == 2


@pytest.mark.wsrm("T17", "T27")
@pytest.mark.spec("FC-030", "FC-036", "FC-037", "FC-038", "FC-040", "FC-042", "FC-043")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_source_writes_messages_1_3_and_6(dialect: Dialect) -> None:
    peer = PeerSettings(address="wsrm://far.example/*", dialect=dialect)
    bench = WsrmBench(settings=WsrmSettings(peers=(peer,), seed=b"x"))
    for number in (1, 2, 3):
        bench.send("DIRECT=WSRM://far.example/AFCEExample", b"<m>%d</m>" % number)
    ((create, asked),) = bench.posted
    anonymous = Reference(ANONYMOUS[dialect.addressing])
    created = CreateSequenceResponse(SEQUENCE)
    response = Envelope(dialect=dialect, to=anonymous, relates_to=asked.message_id, body=created)
    bench.answer(create, response)
    (state,) = bench.wsrm.source.sequences.values()

    def numbers() -> list[int]:
        return [envelope.sequence.number for _, envelope in bench.posted if envelope.sequence is not None]

    def polls() -> bool:
        return state.flow.polling is Polling.POLLING

    def acknowledge(upper: int, room: int) -> None:
        (post, _) = bench.posted[-1]
        said = Acknowledgement(SEQUENCE, ((1, upper),), buffer=room)
        bench.answer(post, Envelope(dialect=dialect, to=anonymous, acknowledgements=(said,)))

    assert numbers() == [1]
    acknowledge(1, 1)
    assert numbers() == [1, 2]
    assert not polls()
    acknowledge(2, 0)
    assert numbers() == [1, 2]  # nothing new at room 0
    assert polls()
    bench.advance(31)
    assert bench.posted[-1][1].ack_requests == (SEQUENCE,)  # the poll, which has message 5 as its answer here
    acknowledge(2, 1)
    assert numbers() == [1, 2, 3]
    acknowledge(3, 0)
    assert polls()
