"""A task's rows on their way to several managers at once: a lane for each, which is a thread.

    rows --split--> lane north  ==> PUT, while more rows come
              '---> lane south  ==> PUT

A lane holds a few batches at most, so a slow manager slows the task and fills no memory.  When a lane fails,
the others break off: the managers drop parts that do not come to their end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Full, Queue
from threading import Thread
from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.client.feed import Staged

WAITING: Final = 2
"""Batches that may wait in a lane."""
PATIENCE: Final = 0.2
"""Seconds after which a lane that is full is asked whether it still works."""

StageRows = Callable[[str, Iterator[pa.RecordBatch]], Staged]
"""Sends batches to a manager, to the end."""


class _BrokenOff(Exception):
    """The task ended before all rows were there."""


class _Lane:
    """The rows for one manager."""

    def __init__(self, manager: str, stage: StageRows) -> None:
        self._rows: Queue[pa.RecordBatch | _BrokenOff | None] = Queue(WAITING)
        self._error: Exception | None = None
        self._staged: Staged | None = None
        self._thread = Thread(target=self._run, args=(manager, stage), daemon=True)
        self._thread.start()

    def _run(self, manager: str, stage: StageRows) -> None:
        try:
            self._staged = stage(manager, self._batches())
        except Exception as error:  # noqa: BLE001 - it is raised in the task
            self._error = error

    def _batches(self) -> Iterator[pa.RecordBatch]:
        while True:
            batch = self._rows.get()
            if isinstance(batch, _BrokenOff):
                raise batch
            if batch is None:
                return
            yield batch

    def put(self, batch: pa.RecordBatch | _BrokenOff | None) -> None:
        """Give the lane rows, None for the end, or an error that stops it."""
        while self._thread.is_alive():
            try:
                self._rows.put(batch, timeout=PATIENCE)
            except Full:
                continue
            return
        if self._error is not None:
            raise self._error

    def end(self) -> Staged:
        """Wait until all rows are sent; return the stage, or raise the error of the lane."""
        self.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._staged is not None, "a lane without an error has ended well"
        return self._staged

    def break_off(self) -> None:
        """Let the manager drop the part."""
        try:
            self.put(_BrokenOff())
        except Exception:  # noqa: BLE001 - it has failed by itself
            return
        self._thread.join()


def stage_all(rows: Iterator[tuple[str, pa.RecordBatch]], stage: StageRows) -> dict[str, Staged]:
    """Send each row to its manager; return what was staged by manager, or raise the first error of a lane."""
    lanes: dict[str, _Lane] = {}
    try:
        for manager, batch in rows:
            if manager not in lanes:
                lanes[manager] = _Lane(manager, stage)
            lanes[manager].put(batch)
        return {manager: lane.end() for manager, lane in lanes.items()}
    except BaseException:
        for lane in lanes.values():
            lane.break_off()
        raise
