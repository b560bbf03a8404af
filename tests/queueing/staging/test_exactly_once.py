"""Random runs show that each batch is published once, with retries, crashes, and repeated or late publishes.

A plain list is kept beside the manager: an accepted publish adds the rows of its parts to it, in their order;
a crash resets it to what was on disk; nothing else changes it.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reliquary.base.hresult import HResult
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.staging.events import (
    BeginStage,
    CompleteStage,
    DropStages,
    PublishBatch,
    StageMessages,
)
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import check

TINY = Sizes(window=2, at_once=2, sequence_block=8, cache_bytes=5, placed=3)
QUEUES = ("plain", "strict")
small = st.integers(0, 2)
ahead = st.sampled_from((1, 1, 1, 1, 0, 2))
"""Mostly it is the next batch."""
WRITE = st.tuples(
    st.just("write"), ahead, small, st.sampled_from("ab"), st.sampled_from(QUEUES), st.integers(1, 4)
)
PARTS = st.lists(st.tuples(st.sampled_from(QUEUES), st.integers(1, 4)), min_size=1, max_size=3)
STEPS = st.one_of(
    WRITE,
    WRITE,
    st.tuples(st.just("write_all"), PARTS),
    st.tuples(st.just("write_all"), PARTS),
    st.tuples(st.just("begin"), ahead, small, st.sampled_from("ab")),
    st.tuples(st.just("stage"), small, st.sampled_from(QUEUES), st.integers(1, 4)),
    st.tuples(st.just("complete"), small),
    st.tuples(st.just("publish"), ahead),
    st.tuples(st.just("publish"), st.just(1)),
    st.tuples(st.just("repeat"), small),
    st.tuples(st.just("drop"), small),
    st.tuples(st.just("flush")),
    st.tuples(st.just("crash")),
    st.tuples(st.just("restart")),
    st.tuples(st.just("later")),
)


@dataclass
class Part:
    """A part as its writer knows it."""

    batch: int
    part: int
    rows: list[tuple[str, bytes]] = field(default_factory=list)
    complete: bool = False


@dataclass
class Known:
    """The expected content of the queues, as plain lists."""

    shown: dict[str, list[bytes]] = field(default_factory=lambda: {queue: [] for queue in QUEUES})
    last: int = -1
    parts: dict[int, Part] = field(default_factory=dict)


class Story:
    """The manager, the plain list, and the requests to both."""

    def __init__(self) -> None:
        self.bench = Bench("plain", sizes=TINY)
        self.bench.create("strict", transactional=True)
        self.known = Known()
        self.asked: list[tuple[int, tuple[int, ...]]] = []
        self.rows = 0
        self.flush()

    def _one(self, which: int) -> int:
        parts = list(self.known.parts)
        return parts[-1 - which % len(parts)] if parts else 1

    def begin(self, batch: int, part: int, attempt: str) -> None:
        batch = max(self.known.last + batch, 0)
        answer = self.bench.ask(BeginStage(0, "q", batch, part, attempt))
        assert answer.status is HResult.OK
        self.known.parts[answer.stage] = Part(batch, part)

    def write(self, batch: int, part: int, attempt: str, queue: str, count: int) -> None:
        self.begin(batch, part, attempt)
        self.stage(0, queue, count)
        self.complete(0)

    def write_all(self, parts: list[tuple[str, int]]) -> None:
        """Write all parts of the next batch, the last one first."""
        for part, (queue, count) in reversed(list(enumerate(parts))):
            self.write(1, part, "a", queue, count)

    def stage(self, which: int, queue: str, count: int) -> None:
        number = self._one(which)
        bodies = [b"%d" % (self.rows + each) for each in range(count)]
        self.rows += count
        messages = tuple(message(body) for body in bodies)
        if self.bench.ask(StageMessages(0, number, queue, messages)).status is HResult.OK:
            self.known.parts[number].rows += [(queue, body) for body in bodies]

    def complete(self, which: int) -> None:
        number = self._one(which)
        if self.bench.ask(CompleteStage(0, number)).status is HResult.OK:
            self.known.parts[number].complete = True

    def publish(self, ahead: int) -> None:
        batch = self.known.last + ahead
        chosen = {
            part.part: number
            for number, part in self.known.parts.items()
            if part.complete and part.batch == batch and self.bench.state.staging.find(number)
        }
        self._publish(batch, tuple(number for _, number in sorted(chosen.items())))

    def repeat(self, which: int) -> None:
        if self.asked:
            self._publish(*self.asked[-1 - which % len(self.asked)])

    def _publish(self, batch: int, stages: tuple[int, ...]) -> None:
        if batch < 0:
            return
        self.asked.append((batch, stages))
        answer = self.bench.ask(PublishBatch(0, "q", batch, stages))
        assert answer.already is (batch <= self.known.last)
        if answer.status is HResult.OK and not answer.already:
            rows = [row for number in stages for row in self.known.parts[number].rows]
            assert answer.messages == len(rows)
            for queue, body in rows:
                self.known.shown[queue].append(body)
            self.known.last = batch
            assert not self.bench.state.staging.settled("q", batch)

    def drop(self, which: int) -> None:
        self.bench.ask(DropStages(0, (self._one(which), *(self.asked[-1][1] if self.asked else ()))))

    def flush(self) -> None:
        self.bench.flush()
        self.safe = deepcopy(self.known)

    def crash(self) -> None:
        self.bench.restart(crash=True)
        self.known = deepcopy(self.safe)

    def restart(self) -> None:
        self.bench.restart()
        self.safe = deepcopy(self.known)

    def later(self) -> None:
        self.bench.advance(2 * 24 * 3600)

    def compare(self) -> None:
        for queue in QUEUES:
            assert self.bench.bodies(queue) == self.known.shown[queue]
        check(self.bench.state)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, min_size=10, max_size=30))
def test_every_row_of_what_was_published_is_there_once_and_in_order(steps: list[tuple[Any, ...]]) -> None:
    story = Story()
    for name, *arguments in steps:
        getattr(story, name)(*arguments)
        story.compare()
    story.later()
    story.compare()
    assert story.bench.state.staging.stages == {}
