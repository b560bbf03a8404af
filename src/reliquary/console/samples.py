"""Takes samples of the manager every two seconds, and keeps them for half an hour for the charts.

    manager --every 2 s--> Sample --> a ring of 900 samples --> rates between two samples

A rate needs no counter on the path of a message.  Each message that comes gets the next number of the
manager, so the numbers that were given between two samples are the messages that came; those that left
are the rest.  The time of a confirmation is measured: the sampler waits for a sync of the engine, as a
sender does.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Final, NamedTuple

from reliquary.base.time import SECOND
from reliquary.console.growth import Growth
from reliquary.console.loop_lag import LoopLag
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.clock import RealClock
from reliquary.views.manager import manager_view
from reliquary.views.outgoing_queues import refusals
from reliquary.views.queues import queue_states

PERIOD: Final = 2.0
"""The least seconds between two samples."""
SHARE: Final = 0.005
"""The part of the time that samples may take; with very many queues they are taken less often."""
KEPT: Final = 900
"""The number of kept samples: half an hour."""
SLOW_SYNC: Final = 0.25
"""The seconds from which on a sync of the store counts as slow."""
LATE_TICK: Final = 0.5
"""The seconds from which on a timer of the loop counts as late."""
QUEUES: Final = 500
"""The queues whose depth is sampled, in the order of their names; the charts of others stay empty."""


class Sample(NamedTuple):
    """The numbers of the manager at one moment."""

    moment: int
    """The time of the sample, in microseconds since 1970."""
    messages: int
    bytes: int
    numbered: int
    """The last number that a message got; the difference of two samples is the count of new messages."""
    turns: int
    syncs: int
    confirm: int
    """The microseconds from an event to the sync that covers it."""
    lag: int = 0
    """The microseconds by which the loop was late to take the sample."""
    cost: int = 0
    """The microseconds that the loop needed to take the sample."""
    slow_syncs: int = 0
    """The syncs of `syncs` that took longer than `SLOW_SYNC`."""
    ticks: int = 0
    """The timers by which the lag of the loop was measured."""
    late_ticks: int = 0
    """The timers of `ticks` that were later than `LATE_TICK`."""


class Rate(NamedTuple):
    """The averages per second between two samples."""

    moment: int
    arrived: float
    left: float
    syncs: float


def rates(samples: Sequence[Sample]) -> Iterator[Rate]:
    """Yield the rates between samples that follow each other."""
    for before, after in pairwise(samples):
        seconds = max(after.moment - before.moment, 1) / SECOND
        arrived = max(after.numbered - before.numbered, 0)
        left = max(arrived - (after.messages - before.messages), 0)
        yield Rate(after.moment, arrived / seconds, left / seconds, (after.syncs - before.syncs) / seconds)


class Sampler:
    """Takes samples of one manager while it runs."""

    def __init__(self, opened: OpenedEngine, clock: RealClock) -> None:
        self._opened = opened
        self._clock = clock
        self._stopped = asyncio.Event()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.lag = LoopLag(clock)
        """Measures how late the loop is with its timers."""
        self.samples: deque[Sample] = deque(maxlen=KEPT)
        self.refused = Growth()
        """Messages that other managers refused, by destination."""
        self.depths: dict[int, deque[tuple[int, int]]] = {}
        """For the number of each queue, times with the count of messages that can be received."""

    def start(self) -> None:
        """Begin to take samples of the manager."""
        self._task = asyncio.ensure_future(self._run())
        self.lag.start(asyncio.get_running_loop())

    async def stop(self) -> None:
        """Stop taking samples, and end the streams of events."""
        self.lag.stop()
        self._stopped.set()
        self._news.set()
        if self._task is not None:
            await self._task

    @property
    def is_stopped(self) -> bool:
        """Whether no further sample comes."""
        return self._stopped.is_set()

    async def wait(self) -> Sample | None:
        """Return the next sample; None if the sampler ends before."""
        await self._news.wait()
        return None if self.is_stopped or not self.samples else self.samples[-1]

    async def take(self, lag: int = 0) -> Sample:
        """Take a sample now; `lag` is its delay by the loop, in microseconds."""
        opened, began = self._opened, self._clock.monotonic()
        await opened.settled()
        confirm = self._clock.monotonic() - began
        state, engine, moment = opened.state, opened.engine, self._clock.now()
        view = manager_view(state)
        self._take_depths(moment)
        self.refused.note(moment, refusals(state))
        sample = Sample(
            moment,
            view.messages,
            view.bytes,
            state.numbers.sequence,
            engine.turns,
            engine.syncs.count,
            confirm,
            lag,
            self._clock.monotonic() - began - confirm,
            engine.syncs.durations.above(SLOW_SYNC),
            self.lag.late.count,
            self.lag.late.above(LATE_TICK),
        )
        self.samples.append(sample)
        self._news.set()
        self._news.clear()
        return sample

    def _take_depths(self, moment: int) -> None:
        found: dict[int, deque[tuple[int, int]]] = {}
        for queue in queue_states(self._opened.state):
            kept = self.depths.get(queue.number) or deque(maxlen=KEPT)
            kept.append((moment, len(queue.order)))
            found[queue.number] = kept
            if len(found) >= QUEUES:
                break
        self.depths = found

    async def _run(self) -> None:
        lag = 0
        with suppress(EngineStopped):
            while not self.is_stopped:
                sample = await self.take(lag)
                period = max(PERIOD, sample.cost / SECOND / SHARE)
                began = self._clock.monotonic()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), period)
                lag = max(self._clock.monotonic() - began - int(period * SECOND), 0)
