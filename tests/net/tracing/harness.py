"""An observer with a clock that a test sets, and spans in memory."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from reliquary.base.time import Instant
from reliquary.base.turn import Effect, Event
from reliquary.engine.loop import Answered, Engine
from reliquary.engine.syncs import Syncs
from reliquary.net.tracing.observer import Observer
from reliquary.net.tracing.spans import Spans
from reliquary.queueing.model.state import State

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = "00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01"


class HandClock:
    """A clock that a test sets."""

    jumps = 0
    time = 1_700_000_000_000_000

    def now(self) -> Instant:
        return Instant(self.time)

    def monotonic(self) -> int:
        return self.time


class Edge:
    """What an observer uses of an engine."""

    def __init__(self, *effects: type[Effect]) -> None:
        self.observer: Callable[[Event], Event] | None = None
        self.performed: list[Effect] = []
        self.performers: dict[type[Effect], Callable[[Any], None]] = dict.fromkeys(
            effects, self.performed.append
        )
        self.answers: dict[int, Answered] = {}

    def intercept(self, caller: int, wrap: Callable[[Answered], Answered]) -> None:
        if caller in self.answers:
            self.answers[caller] = wrap(self.answers[caller])


class Bench:
    """An observer, its edge, and the spans that ended."""

    def __init__(self, *effects: type[Effect]) -> None:
        self.clock = HandClock()
        self.syncs = SimpleNamespace(began=0.0, ended=0.0)
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.spans = Spans(provider.get_tracer("test"), self.clock, cast(Syncs, self.syncs))
        self.edge = Edge(*effects)
        state = cast(State, SimpleNamespace(open=SimpleNamespace(handles={})))
        self.observer = Observer(cast(Engine, self.edge), state, self.spans)
        self.observer.attach()

    @property
    def ended(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def perform(self, *effects: Effect) -> None:
        for effect in effects:
            self.edge.performers[type(effect)](effect)
