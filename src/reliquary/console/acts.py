"""Logs administrative acts: who changed what, from where, and whether it was done.

    a request that changes something --> done or refused --> its line is on disk --> the answer leaves
    a wrong token, many times        --> the first at once, then a line a minute with the number
    a change, refused at admission   --> as a wrong token
    a move over the data plane       --> as above; whether it was done is in the history of the message

The act itself is on disk before its line is.  So a crash between the two leaves an act without a line, and
the client without an answer; no act that was answered is without a line, unless the log could not be written.
Then the act is done nevertheless, and the reason is in the server's log and on the page of alarms.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Final, TypeVar

from reliquary.base.time import SECOND
from reliquary.client.records import ActInfo
from reliquary.console.acts_file import ActsFile, KeptActs, read_acts
from reliquary.engine.clock import Clock
from reliquary.engine.throttle import Due, Throttle
from reliquary.queueing.model.security.principals import Principal
from reliquary.views.pages import Page, PageWanted

T = TypeVar("T")

DONE: Final = "done"
REFUSED: Final = "refused"
ASKED: Final = "asked"
"""The outcome of an act that the data plane passed to the manager."""
_SPLIT: Final = "\0"
LONGEST: Final = 500
"""The most characters of a text in a line; the rest is omitted."""


class ActsLog:
    """Writes lines in a thread of its own, one after the other."""

    def __init__(
        self, file: ActsFile | None, clock: Clock, warn: Callable[[str], None] = lambda _: None
    ) -> None:
        """Write acts to `file`, or nowhere without one; `warn` is called if a line is not on disk."""
        self._file = file
        self._clock = clock
        self._warn = warn
        self._throttle = Throttle()
        self._thread = ThreadPoolExecutor(1, "acts")
        self.trouble = ""
        """The reason why the last line is not on disk; empty if it is."""

    async def note(
        self,
        who: str,
        source: str,
        act: str,
        about: str = "",
        *,
        outcome: str = DONE,
        detail: str = "",
        why: str = "",
    ) -> None:
        """Log an act; after the return it is on disk, or `trouble` has the reason."""
        await self._write(self._line(who, source, act, about, outcome, detail, why, 1))

    def count(self, source: str, act: str, why: str, who: str = "") -> None:
        """Log a refused attempt of a client that may make very many; the line is written soon."""
        self._count((source, who, REFUSED), act, why)

    def count_asked(self, by: Principal, source: str, act: str, about: str) -> None:
        """Log an act of the data plane, where applications may do very many; the line is written soon."""
        self._count((source, by.name, ASKED), act, about)

    def _count(self, key: tuple[str, str, str], act: str, why: str) -> None:
        for due in self._throttle.add(_SPLIT.join(key), act, why, 1, self._clock.monotonic()):
            self._write_soon(due)

    async def read(self, wanted: PageWanted, who: str = "", act: str = "") -> Page[ActInfo]:
        """Return a page of acts, the latest first."""
        if self._file is None:
            return Page([])
        return await self._run(partial(read_acts, self._file.folder, wanted, who, act))

    def keep(self, kept: KeptActs) -> None:
        """Keep lines for another time from the next file on."""
        if self._file is not None:
            self._file.kept = kept

    async def close(self) -> None:
        """Write what was counted, and close the file."""
        for due in self._throttle.overdue(self._clock.monotonic() + 60 * SECOND):
            self._write_soon(due)
        if self._file is not None:
            await self._run(self._file.close)
        self._file = None
        self._thread.shutdown(wait=False)

    def _write_soon(self, due: Due) -> None:
        if self._file is None:
            return
        source, who, outcome = due.about.split(_SPLIT) if _SPLIT in due.about else ("", "", REFUSED)
        about, why = (due.why, "") if outcome == ASKED else ("", due.why)
        line = self._line(who, source, due.what, about, outcome, "", why, due.times)
        self._thread.submit(self._append, line)

    async def _write(self, line: ActInfo) -> None:
        await self._run(lambda: self._append(line))
        if self.trouble:
            self._warn(self.trouble)

    def _append(self, line: ActInfo) -> None:
        """Write a line, in the thread."""
        try:
            if self._file is not None:
                self._file.append(line)
            self.trouble = ""
        except OSError as why:
            self.trouble = f"the log of acts cannot be written: {why.strerror or why}"

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _line(
        self, who: str, source: str, act: str, about: str, outcome: str, detail: str, why: str, times: int
    ) -> ActInfo:
        at = datetime.fromtimestamp(self._clock.now() / SECOND, UTC)
        return ActInfo(
            time=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            who=who[:LONGEST] or "anonymous",
            source=source,
            act=act[:LONGEST],
            object=about[:LONGEST],
            outcome=outcome,
            detail=detail[:LONGEST],
            why=why[:LONGEST],
            times=times,
        )
