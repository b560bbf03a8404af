"""Shows the progress of a pipeline: one changing line on a terminal, plain lines elsewhere.

    silver  batch 12  1,200,000 rows  58,310 rows/s

Steps report their work; this module limits how often it is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.status import Status

EVERY: Final = 5.0
"""The seconds between plain lines of one step."""


class Progress(AbstractContextManager["Progress"]):
    """Shows nothing; `run_lake` and other pipelines take it when no progress is wanted."""

    def tell(self, step: str, what: str, rows: int = 0, lag: int | None = None) -> None:
        """Note the progress of a step: the number of new rows, and the known backlog."""

    def __exit__(
        self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing; `Shown` ends its line here."""


class Shown(Progress):
    """Shows progress on a stream, as a terminal or as lines."""

    def __init__(self, stream: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._began = clock()
        self._rows: dict[str, int] = {}
        self._logged_at: dict[str, float] = {}
        self._status: Status | None = None

    def __enter__(self) -> Shown:
        if self._stream.isatty():
            from rich.console import Console

            self._status = Console(file=self._stream).status("starting Spark")
            self._status.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._status is not None:
            self._status.stop()

    def tell(self, step: str, what: str, rows: int = 0, lag: int | None = None) -> None:
        """Show the progress, unless this step was shown a moment ago."""
        total = self._rows[step] = self._rows.get(step, 0) + rows
        now = self._clock()
        line = line_of(step, what, total, now - self._began, lag)
        if self._status is not None:
            self._status.update(line)
        elif now - self._logged_at.get(step, -EVERY) >= EVERY:
            self._logged_at[step] = now
            self._stream.write(f"{line}\n")
            self._stream.flush()


def line_of(step: str, what: str, rows: int, seconds: float, lag: int | None) -> str:
    """Return one line of progress.

    >>> line_of("bronze", "batch 3", 1200, 2.0, 50)
    'bronze  batch 3  1,200 rows  600 rows/s  50 to go'
    """
    parts = [step, what]
    if rows:
        parts.append(f"{rows:,} rows")
        if seconds > 0:
            parts.append(f"{rows / seconds:,.0f} rows/s")
    if lag is not None:
        parts.append(f"{lag:,} to go")
    return "  ".join(part for part in parts if part)
