"""A server that watches itself: `python -m bench.observed calls|samples FILE`.

    SIGUSR1   begin to observe
    SIGUSR2   end it, and write what was observed to FILE as JSON

`calls` counts the Python calls of the loop's thread.  That slows the server down, so times mean nothing then.

`samples` looks every few milliseconds of processor time (ITIMER_PROF) at what the loop's thread is doing.  A
sample has the weight of the processor time that this thread used since the sample before, so what other
threads use is not put down to it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from time import process_time, thread_time
from types import CodeType, FrameType
from typing import Final, Protocol

from bench.stages import STAGES, functions_in, module_of, stage_of, working
from reliquary.server.__main__ import main

INTERVAL: Final = 0.001
"""Seconds of processor time between samples; the kernel makes it one of its ticks."""


class Observer(Protocol):
    """An observer of a thread, such as a counter of calls or a sampler."""

    def begin(self) -> None:
        """Observe from now on, in the thread that calls this."""

    def end(self) -> dict[str, object]:
        """Stop observing and return the figures."""


class Calls:
    """Counts the calls of functions of Reliquary."""

    def __init__(self) -> None:
        self._calls: Counter[CodeType] = Counter()

    def begin(self) -> None:
        """Count calls in this thread from now on."""
        self._calls.clear()
        sys.setprofile(self._on_event)

    def _on_event(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._calls[frame.f_code] += 1

    def end(self) -> dict[str, object]:
        """Return the number of calls of each function."""
        sys.setprofile(None)
        functions: Counter[str] = Counter()
        for code, count in self._calls.items():
            if module_of(code):
                functions[f"{module_of(code)} {code.co_name}"] += count
        return {"calls": sum(functions.values()), "functions": functions}


class Samples:
    """Adds up the processor time of the loop's thread by stage, by function and by line."""

    def __init__(self) -> None:
        self._stages: Counter[str] = Counter()
        self._lines: Counter[str] = Counter()
        self._count = 0
        self._last = self._began = self._process_began = 0.0

    def begin(self) -> None:
        """Sample the process from now on."""
        self._last = self._began = thread_time()
        self._process_began = process_time()
        signal.signal(signal.SIGPROF, self._on_tick)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)

    def _on_tick(self, _: int, frame: FrameType | None) -> None:
        now = thread_time()
        weight, self._last = now - self._last, now
        at = working(frame)
        stage = stage_of(at)
        self._stages[stage] += weight  # type: ignore[assignment]
        self._lines[f"{stage:<7} {_line_of(at)}"] += weight  # type: ignore[assignment]
        self._count += 1

    def end(self) -> dict[str, object]:
        """Return seconds of the loop's thread by stage and line, and those of all threads."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        return {
            "samples": self._count,
            "stages": {stage: self._stages[stage] for stage in STAGES},
            "lines": self._lines,
            "loop_thread": thread_time() - self._began,
            "process": process_time() - self._process_began,
        }


def _line_of(frame: FrameType | None) -> str:
    """Return the innermost line of Reliquary in a stack, with its function."""
    while frame is not None and not module_of(frame.f_code):
        frame = frame.f_back
    if frame is None:
        return "-"
    module, function = next(functions_in(frame))
    return f"{module}.py:{frame.f_lineno or frame.f_code.co_firstlineno} {function}"


OBSERVERS: Final[dict[str, type[Observer]]] = {"calls": Calls, "samples": Samples}


def observe(observer: Observer, file: Path) -> None:
    """Let signals begin and end the observation."""

    def begin(_: int, __: FrameType | None) -> None:
        observer.begin()

    def end(_: int, __: FrameType | None) -> None:
        partial = file.with_suffix(".partial")
        partial.write_text(json.dumps(observer.end()))
        os.replace(partial, file)

    signal.signal(signal.SIGUSR1, begin)
    signal.signal(signal.SIGUSR2, end)


if __name__ == "__main__":
    observe(OBSERVERS[sys.argv[1]](), Path(sys.argv[2]))
    sys.exit(main(sys.argv[3:]))
