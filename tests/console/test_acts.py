"""Tests of the log of acts beside the loop: acts are on disk, attempts are counted, failures are logged."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from reliquary.base.time import MINUTE, SECOND
from reliquary.client.records import ActInfo
from reliquary.console.acts import LONGEST, REFUSED, ActsLog
from reliquary.console.acts_file import ActsFile, KeptActs, read_acts
from reliquary.views.pages import PageWanted


class Clock:
    """A clock that a test sets."""

    passed = 0

    def now(self) -> int:
        return 1_800_000_000 * SECOND + self.passed

    def monotonic(self) -> int:
        return self.passed


def log_in(folder: Path, clock: Clock, warned: list[str] | None = None) -> ActsLog:
    file = ActsFile(folder, KeptActs(), lambda: datetime.fromtimestamp(1_800_000_000, UTC))
    return ActsLog(file, clock, ([] if warned is None else warned).append)  # type: ignore[arg-type]


def on_disk(folder: Path) -> list[ActInfo]:
    return read_acts(folder, PageWanted()).records


def test_an_act_is_on_disk_when_it_was_noted(tmp_path: Path) -> None:
    async def scene() -> None:
        log = log_in(tmp_path, Clock())
        await log.note("alice", "10.0.0.1", "purge-queue", "x" * 10_000, detail="d")
        [found] = on_disk(tmp_path)
        assert (found.time, found.who, found.source) == ("2027-01-15T08:00:00.000Z", "alice", "10.0.0.1")
        assert (found.act, found.outcome, found.times) == ("purge-queue", "done", 1)
        assert found.object == "x" * LONGEST
        assert (await log.read(PageWanted())).records == [found]
        await log.close()

    asyncio.run(scene())


def test_attempts_of_one_client_are_counted_and_their_number_is_kept(tmp_path: Path) -> None:
    async def scene() -> None:
        clock = Clock()
        log = log_in(tmp_path, clock)
        for _ in range(100):
            log.count("10.0.0.1", "show-proof", "wrong")
        clock.passed = MINUTE
        log.count("10.0.0.1", "show-proof", "wrong")
        log.count("10.0.0.2", "show-proof", "wrong")
        log.count("10.0.0.2", "show-proof", "wrong")
        await log.close()
        lines = [(each.source, each.times, each.outcome, each.who) for each in on_disk(tmp_path)]
        assert {each[2:] for each in lines} == {(REFUSED, "anonymous")}
        by_source = {source: sum(each[1] for each in lines if each[0] == source) for source, *_ in lines}
        assert by_source == {"10.0.0.1": 101, "10.0.0.2": 2}
        assert len(lines) == 4

    asyncio.run(scene())


def test_a_log_that_cannot_be_written_is_reported_and_written_again_later(tmp_path: Path) -> None:
    async def scene() -> None:
        warned: list[str] = []
        folder = tmp_path / "acts"
        folder.write_text("a file in its place")
        log = log_in(folder, Clock(), warned)
        await log.note("alice", "", "purge-queue")
        assert log.trouble.startswith("the log of acts cannot be written: ")
        assert warned == [log.trouble]
        folder.unlink()
        await log.note("alice", "", "purge-queue")
        assert log.trouble == ""
        assert len(on_disk(folder)) == 1
        await log.close()

    asyncio.run(scene())


def test_without_a_file_nothing_is_kept() -> None:
    async def scene() -> None:
        log = ActsLog(None, Clock())  # type: ignore[arg-type]
        await log.note("alice", "", "purge-queue")
        log.keep(KeptActs(1, 1))
        assert (await log.read(PageWanted())).records == []
        await log.close()

    asyncio.run(scene())
