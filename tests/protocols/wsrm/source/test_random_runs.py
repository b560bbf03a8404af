"""Tests exactly once and in order, over a faulty network and restarts of both sides."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec.values import Dialect, Version
from reliquary.protocols.wsrm.events import CloseSequence, TerminateSequence
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.flow import Polling
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.state import Count
from reliquary.queueing.model.events import BringOnline, PauseQueue, PurgeQueue, ResumeQueue, TakeOffline
from reliquary.queueing.travel.failures import Failure
from tests.protocols.wsrm.source.far_destination import FarDestination, Network
from tests.protocols.wsrm.source.source_bench import SHOP, Source, SourceBench, durable

STEP = st.one_of(
    st.tuples(st.just("put"), st.integers(1, 12)),
    st.tuples(st.just("arrive"), st.integers(1, 6)),
    st.tuples(st.just("respond"), st.integers(1, 6)),
    st.tuples(st.just("letter"), st.integers(0, 5)),
    st.tuples(st.just("letter twice"), st.integers(0, 5)),
    st.tuples(st.just("lost letter"), st.integers(0, 5)),
    st.tuples(st.just("stray"), st.integers(0, 20)),
    st.tuples(st.just("break"), st.sampled_from([0, 1, 2])),
    st.tuples(st.just("wait"), st.sampled_from([1, 3, 40, 400])),
    st.tuples(st.just("restart"), st.just(0)),
    st.tuples(st.just("read"), st.integers(1, 10)),
    st.tuples(st.just("end"), st.just(0)),
)
STEPS = st.lists(STEP, max_size=60)
FAILURES = (Failure.LOST, Failure.TIMED_OUT, Failure.NO_CONNECTION)
CHOICES = st.fixed_dictionaries(
    {
        "version": st.sampled_from(Version),
        "addressable": st.booleans(),
        "bounded": st.booleans(),
        "flow_control": st.booleans(),
        "window": st.sampled_from([1, 2, 8]),
        "ours": st.sampled_from([1, 3, 64]),
    }
)
SILENT = st.fixed_dictionaries(
    {
        "silent": st.just(True),
        "version": st.just(Version.RM11),
        "addressable": st.just(False),
        "bounded": st.booleans(),
        "flow_control": st.booleans(),
        "window": st.sampled_from([1, 2, 8]),
        "ours": st.sampled_from([1, 3, 64]),
    }
)


DISTURBANCES = st.lists(
    st.one_of(
        STEP,
        st.tuples(st.just("short"), st.integers(1, 5)),
        st.tuples(st.just("urgent"), st.integers(1, 5)),
        st.tuples(st.just("pause"), st.just(0)),
        st.tuples(st.just("resume"), st.just(0)),
        st.tuples(st.just("offline"), st.just(0)),
        st.tuples(st.just("online"), st.just(0)),
        st.tuples(st.just("purge"), st.just(0)),
        st.tuples(st.just("close"), st.just(0)),
        st.tuples(st.just("terminate"), st.just(0)),
    ),
    max_size=60,
)


class RandomRun:
    """A manager, its peer, and all that can happen to both."""

    def __init__(self, choices: dict[str, Any]) -> None:
        self.choices = choices
        peer = PeerSettings(
            address="*",
            dialect=Dialect(version=choices["version"]),
            addressable=choices["addressable"],
            window=choices["ours"],
        )
        self.bench = SourceBench(settings=WsrmSettings(peers=(peer,), retries=1000))
        self.far = FarDestination(
            window=choices["window"],
            bounded=choices["bounded"],
            flow_control=choices["flow_control"],
            silent=choices.get("silent", False),
        )
        self.network = Network(self.bench, self.far, addressable=choices["addressable"])
        self.words = count(1)
        self.steps: dict[str, Callable[[int], Any]] = {
            "put": self.put,
            "short": lambda how: self.put(how, time_to_reach_queue=20),
            "urgent": lambda how: self.put(how, priority=7),
            "arrive": lambda how: [self.network.arrive() for _ in range(how)],
            "respond": lambda how: [self.network.respond() for _ in range(how)],
            "letter": self.network.deliver_request,
            "letter twice": lambda how: self.network.deliver_request(how, keep=True),
            "lost letter": self.network.lose_request,
            "stray": self.stray,
            "break": lambda how: self.network.break_off(FAILURES[how]),
            "wait": self.bench.advance,
            "restart": lambda _: self.restart(),
            "read": self.read,
            "end": lambda _: self.end(),
            "pause": lambda _: self.bench.ask(PauseQueue(0, SHOP)),
            "resume": lambda _: self.bench.ask(ResumeQueue(0, SHOP)),
            "offline": lambda _: self.bench.ask(TakeOffline(0)),
            "online": lambda _: self.bench.ask(BringOnline(0)),
            "purge": lambda _: self.bench.ask(PurgeQueue(0, SHOP)),
            "close": lambda _: self.administer(CloseSequence),
            "terminate": lambda _: self.administer(TerminateSequence),
        }

    def play(self, steps: list[tuple[str, int]]) -> None:
        """Let all of it happen, then heal the network."""
        for what, how in steps:
            self.steps[what](how)
            self.network.collect()
        self.bench.ask(BringOnline(0))
        self.bench.ask(ResumeQueue(0, SHOP))
        self.network.settle()

    def check_end(self) -> None:
        """Check that no sequence, no session and no timer is left."""
        for _ in range(20):
            self.bench.advance(400)
            self.network.settle()
        assert self.bench.wsrm.source.sequences == {}
        assert self.bench.wsrm.source.sessions == {}
        assert not [name for name in self.bench.timers if name[0].startswith("wsrm")]

    def put(self, how: int, **attributes: Any) -> None:
        self.bench.put(*(str(next(self.words)) for _ in range(how)), **attributes)

    def stray(self, how: int) -> None:
        # WS-RM 1.0 has no close: a message that arrives after the last acknowledgement arrives twice
        if self.choices["version"] is Version.RM11:
            self.network.repeat(how)

    def restart(self) -> None:
        self.network.collect()
        assert durable(Source(self.bench.rows, self.bench.settings).state) == durable(self.bench.wsrm)
        self.network.restart()

    def read(self, how: int) -> None:
        self.far.read = min(self.far.read + how, len(self.far.delivered))

    def end(self) -> None:
        for sequence in self.far.sequences.values():
            sequence.terminated |= not sequence.buffered  # else an acknowledged message would be lost there

    def administer(self, event: type[CloseSequence] | type[TerminateSequence]) -> None:
        """An administrator ends what goes out; not twice, which would be an order to send again."""
        for number, sequence in list(self.bench.wsrm.source.sequences.items()):
            if sequence.phase is Phase.OPEN:
                self.bench.ask(event(0, number))


@settings(max_examples=150)
@given(STEPS, CHOICES)
def test_every_message_arrives_once_and_in_order(
    steps: list[tuple[str, int]], choices: dict[str, Any]
) -> None:
    run = RandomRun(choices)
    run.play(steps)
    assert run.far.delivered == [str(each) for each in range(1, next(run.words))]
    run.check_end()


@settings(max_examples=100)
@given(STEPS, SILENT)
def test_a_peer_that_acknowledges_at_the_end_alone_gets_every_message_once_and_in_order(
    steps: list[tuple[str, int]], choices: dict[str, Any]
) -> None:
    run = RandomRun(choices)
    run.play(steps)
    assert run.far.delivered == [str(each) for each in range(1, next(run.words))]
    run.check_end()


@settings(max_examples=150)
@given(DISTURBANCES, CHOICES)
def test_no_message_arrives_twice_and_only_those_that_were_withdrawn_do_not_arrive(
    steps: list[tuple[str, int]], choices: dict[str, Any]
) -> None:
    run = RandomRun(choices)
    run.play(steps)
    arrived = run.far.delivered
    assert len(set(arrived)) == len(arrived)
    if not {"short", "purge"} & {what for what, _ in steps}:
        assert sorted(arrived, key=int) == [str(each) for each in range(1, next(run.words))]
    run.check_end()


@pytest.mark.wsrm("T20")
def test_a_destination_without_flow_control_is_never_polled() -> None:
    choices = {"version": Version.RM11, "addressable": False, "bounded": False, "flow_control": False}
    run = RandomRun(choices | {"window": 8, "ours": 8})
    run.play([("put", 12)] * 5)
    assert run.bench.wsrm.counts[Count.POLLS] == 0
    assert run.bench.sequence.flow.polling is Polling.NOT_POLLING


@pytest.mark.spec("FC-030")
def test_a_slow_reader_holds_the_source_without_one_retransmission() -> None:
    choices = {"version": Version.RM11, "addressable": False, "bounded": True, "flow_control": True}
    run = RandomRun(choices | {"window": 8, "ours": 64})
    run.play([("put", 12)] * 5 + [("arrive", 6), ("respond", 6), ("read", 3), ("wait", 40)] * 40)
    assert run.far.past_the_window == 0
    assert run.bench.wsrm.counts[Count.RETRANSMISSIONS] == 0
