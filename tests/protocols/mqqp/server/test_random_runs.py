"""Tests several clients with random calls, rundowns and restarts, against a simple model.

The model knows which messages were sent, which were acknowledged, and who has which one.  A message is always
in one place: available, locked by one reader, or gone.  None is lost, and none is handed to two readers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import FOREVER, NO_HANDLE, Acknowledge, Action
from reliquary.protocols.mqqp.server.phases import Phase
from reliquary.protocols.mqqp.settings import MqqpSettings
from tests.protocols.mqqp.server.server_harness import Client, Open, ServerBench, body_of
from tests.queueing.state_checks import check

LIMITS = MqqpSettings(seed=b"runs", queues=4, pending=4)
ACTIONS = (Action.RECEIVE, Action.RECEIVE, Action.PEEK_CURRENT)
READS = (qm2qm.StartReceive, qm2qm.StartReceive2)


@dataclass
class Reader:
    """What the model knows of one client."""

    client: Client
    queues: list[Open] = field(default_factory=list)
    waiting: dict[tuple[int, int], tuple[Open, int]] = field(default_factory=dict)
    """Calls without a response, with their queue and dwRequestID."""
    held: dict[UUID, bytes] = field(default_factory=dict)


class ServerRuns(RuleBasedStateMachine):
    """Clients that open, read, cancel, end, close, die; and a server that dies."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = ServerBench(settings=LIMITS)
        self.readers = [Reader(self.bench.client()) for _ in range(3)]
        self.bodies = count()
        self.left: set[bytes] = set()
        """The messages that were sent and not acknowledged."""

    # -- what happens

    @rule(amount=st.integers(1, 3))
    def send(self, amount: int) -> None:
        bodies = [b"%d" % next(self.bodies) for _ in range(amount)]
        self.bench.send("orders", *bodies)
        self.left.update(bodies)

    @rule(who=st.integers(0, 2), half=st.booleans())
    def open(self, who: int, half: bool) -> None:
        reader = self.readers[who]
        opened = reader.client.open_remote()
        full = len(self.bench.server.associations[reader.client.association].contexts) >= LIMITS.queues
        if opened.status:
            assert full
            assert opened.status == 0xC00E0027
        elif half:
            reader.client.call(qmcomm.CloseRemoteQueueContext(opened.handle))
        else:
            number = opened.queue
            session = reader.client.call(qm2qm.OpenQueue(UUID(int=1), 0, number, number, number))
            assert session.status == 0
            reader.queues.append(Open(number, opened.handle, session.handle))

    @rule(data=st.data(), method=st.sampled_from(READS), timeout=st.sampled_from([0, 500, FOREVER]))
    def start(self, data: st.DataObject, method: Any, timeout: int) -> None:
        found = self._some_queue(data)
        if found is not None:
            reader, queue = found
            wanted = reader.client.read(queue, data.draw(st.sampled_from(ACTIONS)), timeout=timeout)
            reader.waiting[reader.client.begin(method(wanted))] = (queue, wanted.request)

    @rule(data=st.data(), receives=st.booleans())
    def look_up(self, data: st.DataObject, receives: bool) -> None:
        found = self._some_queue(data)
        if found is not None:
            reader, queue = found
            action = Action.LOOKUP_RECEIVE_NEXT if receives else Action.LOOKUP_PEEK_NEXT
            wanted = reader.client.read(queue, action)
            place = reader.client.begin(qm2qm.StartReceiveByLookupId(0, wanted))
            reader.waiting[place] = (queue, wanted.request)

    @rule(data=st.data(), acknowledge=st.sampled_from(Acknowledge))
    def end(self, data: st.DataObject, acknowledge: Acknowledge) -> None:
        able = [reader for reader in self.readers if reader.held]
        if able:
            reader = data.draw(st.sampled_from(able))
            handle = data.draw(st.sampled_from(sorted(reader.held)))
            body = reader.held.pop(handle)
            assert reader.client.end(handle, acknowledge) == qm2qm.HandleReturned(NO_HANDLE, 0)
            if acknowledge is Acknowledge.ACK:
                self.left.remove(body)

    @rule(data=st.data(), way=st.sampled_from(["method", "call", "forgotten"]))
    def cancel(self, data: st.DataObject, way: str) -> None:
        able = [reader for reader in self.readers if reader.waiting]
        if able:
            reader = data.draw(st.sampled_from(able))
            place = data.draw(st.sampled_from(sorted(reader.waiting)))
            queue, request = reader.waiting[place]
            if way == "method":
                answer = reader.client.call(qm2qm.CancelReceive(queue.number, queue.number, request))
                assert answer.status == 0
                assert reader.client.answer(place).status == 0x400E03E9
            else:
                reader.client.cancel(place, forgotten=way == "forgotten")
                assert (reader.client.answer(place) is None) is (way == "forgotten")
                del reader.waiting[place]

    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        found = self._some_queue(data)
        if found is not None:
            reader, queue = found
            assert reader.client.close(queue).status == 0
            reader.queues.remove(queue)

    @rule(seconds=st.sampled_from([0.1, 1]))
    def pass_time(self, seconds: float) -> None:
        self.bench.advance(seconds)

    @rule(who=st.integers(0, 2))
    def die(self, who: int) -> None:
        self.readers[who].client.lose()
        self.readers[who] = Reader(self.bench.client())

    @rule(crash=st.sampled_from([None, None, False, True]))
    def restart(self, crash: bool | None) -> None:
        if crash is None:
            return
        self.bench.flush()
        self.bench.restart(crash=crash)
        self.readers = [Reader(self.bench.client()) for _ in range(3)]

    # -- what is always true

    @invariant()
    def each_message_is_in_one_place(self) -> None:
        for reader in self.readers:
            self._take_answers(reader)
        held = [body for reader in self.readers for body in reader.held.values()]
        available = self.bench.bodies()
        assert sorted([*held, *available]) == sorted(self.left)
        self._compare()

    def _compare(self) -> None:
        """Both sides agree on what is open, waits, and is locked."""
        server = self.bench.server
        assert len(self.bench.queue().order.locked) == sum(len(reader.held) for reader in self.readers)
        for reader in self.readers:
            association = server.associations[reader.client.association]
            assert set(association.held) == set(reader.held)
            assert set(association.sessions) == {queue.session for queue in reader.queues}
            assert len(association.reads) == len(reader.waiting)
            assert association.load <= LIMITS.pending
        opened = {
            handle.queue for handle in server.handles.values() if handle.queue.phase is not Phase.CLOSED
        }
        assert {queue.descriptor for queue in opened} == set(self.bench.state.open.handles)
        assert len(server.asked) == sum(len(reader.waiting) for reader in self.readers)
        check(self.bench.state)

    def teardown(self) -> None:
        """Disconnect all clients, and check that only the messages are left."""
        for reader in self.readers:
            reader.client.lose()
        assert self.bench.is_idle
        assert sorted(self.bench.bodies()) == sorted(self.left)

    # -- how

    def _some_queue(self, data: st.DataObject) -> tuple[Reader, Open] | None:
        able = [(reader, queue) for reader in self.readers for queue in reader.queues]
        return able[data.draw(st.integers(0, len(able) - 1))] if able else None

    def _take_answers(self, reader: Reader) -> None:
        for place in list(reader.waiting):
            answer = reader.client.answer(place)
            if answer is None:
                continue
            del reader.waiting[place]
            assert not isinstance(answer, int)
            if answer.handle != NO_HANDLE:
                reader.held[answer.handle] = body_of(answer)
            elif answer.status == 0:
                assert body_of(answer) in self.left


SHORT = settings(
    max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
LONG = settings(SHORT, max_examples=500, stateful_step_count=60)


@pytest.mark.spec("QP-031", "QP-032", "QP-034", "QP-064", "QP-140", "QP-141", "QP-142")
@pytest.mark.mqqp("T40", "T41")
def test_no_message_is_lost_and_none_is_handed_to_two_readers() -> None:
    _run(SHORT)


@pytest.mark.long
@pytest.mark.mqqp("T41")
def test_no_message_is_lost_in_many_random_runs() -> None:
    _run(LONG)


def _run(chosen: settings) -> None:
    run_state_machine_as_test(ServerRuns, settings=chosen)
