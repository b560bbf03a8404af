"""Tests that all lines of the log have one form, from every part of the server."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from reliquary.base.time import MINUTE, Instant
from reliquary.base.turn import Warn
from reliquary.engine.warnings import LOG, Warnings
from reliquary.server import logs
from reliquary.server.logs import LogFormat, LogHandler, LogLevel, one_line

LINE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARNING|ERROR|CRITICAL) reliquary: [^\n]+\n"
)


class Clock:
    """A clock that a test sets."""

    since = 0
    jumps = 0

    def now(self) -> Instant:
        return Instant(self.since)

    def monotonic(self) -> int:
        return self.since


class Log:
    """A log in memory at a clock that a test sets."""

    def __init__(self, form: LogFormat = LogFormat.TEXT) -> None:
        self.stream = io.StringIO()
        self.clock = Clock()
        self.handler = LogHandler(self.stream, form, self.clock)

    def take(self, name: str, level: int, message: str, *args: object, **more: object) -> None:
        """Log a record as the logger of this name does."""
        logger = logging.getLogger(name)
        logger.addHandler(self.handler)
        try:
            logger.log(level, message, *args, **more)  # type: ignore[arg-type]
        finally:
            logger.removeHandler(self.handler)

    @property
    def lines(self) -> list[str]:
        """Return the lines that were written since the last call; all have the form of log lines."""
        text = self.stream.getvalue()
        self.stream.seek(0)
        self.stream.truncate()
        assert re.fullmatch(f"({LINE.pattern})*", text), text
        return [re.sub(r"^\S+Z ", "", line) for line in text.splitlines()]


@contextmanager
def own(log: Log) -> Iterator[None]:
    """Send our warnings to this log while the block runs."""
    LOG.addHandler(log.handler)
    try:
        yield
    finally:
        LOG.removeHandler(log.handler)


def failed() -> BaseException:
    try:
        raise ValueError("two\nlines")
    except ValueError as failure:
        return failure


def test_a_line_has_time_and_level() -> None:
    log = Log()
    with own(log):
        Warnings().report(Warn("orders", "lost", "it is full", 3), 0)
        LOG.error("%d is wrong", 7)
    assert log.lines == ["WARNING reliquary: orders: lost 3 times: it is full", "ERROR reliquary: 7 is wrong"]


def test_json_has_the_parts_of_a_warning_one_by_one() -> None:
    log = Log(LogFormat.JSON)
    with own(log):
        Warnings().report(Warn("orders", "lost", 'it is "full"\n', 3), 0)
        LOG.critical("the end")
    first, second = map(json.loads, log.stream.getvalue().splitlines())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first.pop("time"))
    assert first == {
        "level": "WARNING",
        "logger": "reliquary",
        "message": 'orders: lost 3 times: it is "full"',
        "about": "orders",
        "what": "lost",
        "why": 'it is "full"',
        "times": 3,
    }
    del second["time"]
    assert second == {"level": "CRITICAL", "logger": "reliquary", "message": "the end"}


def test_a_line_of_ours_names_the_trace_that_it_belongs_to() -> None:
    for form, end in (
        (LogFormat.TEXT, "reliquary: lost trace_id=0af7651916cd43dd"),
        (LogFormat.JSON, '"message":"lost","trace_id":"0af7651916cd43dd"}'),
    ):
        log = Log(form)
        log.take(LOG.name, logging.WARNING, "lost")
        log.handler.trace_of = lambda: "0af7651916cd43dd"
        log.take(LOG.name, logging.WARNING, "lost")
        plain, traced = log.stream.getvalue().splitlines()
        assert "trace_id" not in plain
        assert traced.endswith(end)


def test_no_client_can_forge_a_line() -> None:
    forged = "x\n2026-01-01T00:00:00.000Z ERROR reliquary: all is lost\r\x1b[2J\u2028y"
    log = Log()
    with own(log):
        Warnings().report(Warn(forged, forged, forged), 0)
    log.take("library", logging.WARNING, forged)
    assert len(log.lines) == 2
    assert one_line(forged) == "x | 2026-01-01T00:00:00.000Z ERROR reliquary: all is lost | ?[2J | y"


def test_a_traceback_is_lines_of_the_log_before_its_message() -> None:
    log = Log()
    log.take("reliquary", logging.CRITICAL, "a bug", exc_info=failed())
    first, *_, before, last = log.lines
    assert first == "CRITICAL reliquary:     Traceback (most recent call last):"
    assert (before, last) == ("CRITICAL reliquary:     lines", "CRITICAL reliquary: a bug")
    log = Log(LogFormat.JSON)
    log.take("reliquary", logging.CRITICAL, "a bug", exc_info=failed())
    reported = json.loads(log.stream.getvalue())
    assert reported["message"] == "a bug"
    assert reported["traceback"][-2:] == ["ValueError: two", "lines"]


def test_what_a_library_repeats_is_reported_once_a_minute_with_its_count() -> None:
    log = Log()
    for _ in range(1000):
        log.take("some.library", logging.WARNING, "Invalid HTTP request received.")
    log.take("some.library", logging.WARNING, "Another thing")
    assert log.lines == [
        "WARNING reliquary: some.library: Invalid HTTP request received. 1 times",
        "WARNING reliquary: some.library: Another thing 1 times",
    ]
    log.clock.since = MINUTE
    log.take("asyncio", logging.ERROR, "Task failed\nfuture: <Task 1>", exc_info=failed())
    *trace, last, repeated = log.lines
    assert trace[0] == "ERROR reliquary:     Traceback (most recent call last):"
    assert last == "ERROR reliquary: asyncio: Task failed 1 times: future: <Task 1> ValueError: two | lines"
    assert repeated == "WARNING reliquary: some.library: Invalid HTTP request received. 999 times"


def test_the_end_and_our_own_lines_bring_the_rest_of_the_count() -> None:
    log = Log()
    for _ in range(3):
        log.take("library", logging.ERROR, "no")
    log.clock.since = MINUTE
    log.take("reliquary", logging.WARNING, "ours")
    repeated = "WARNING reliquary: library: no 2 times"
    assert log.lines == ["ERROR reliquary: library: no 1 times", "WARNING reliquary: ours", repeated]
    log.take("library", logging.ERROR, "no")
    log.take("library", logging.ERROR, "no")
    log.handler.close()
    assert log.lines == [repeated]


def test_a_stream_that_cannot_be_written_does_not_stop_the_server() -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, text)

    handler = LogHandler(Full(), LogFormat.TEXT, Clock())
    handler.handle(logging.makeLogRecord({"name": "reliquary", "msg": "x"}))
    closed = io.StringIO()
    closed.close()
    LogHandler(closed, LogFormat.TEXT, Clock()).handle(logging.makeLogRecord({"name": "a", "msg": "x"}))


@contextmanager
def begun(monkeypatch: pytest.MonkeyPatch, wanted: LogLevel = LogLevel.WARNING) -> Iterator[None]:
    """Yield the log of a process that has begun; what it changes is put back."""
    root = logging.getLogger()
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("always")
        patch.setattr(root, "handlers", root.handlers)
        patch.setattr(threading, "excepthook", threading.excepthook)
        patch.setattr(sys, "unraisablehook", sys.unraisablehook)
        level = root.level
        logs.begin(LogFormat.TEXT, Clock(), wanted)
        try:
            yield
        finally:
            logging.captureWarnings(False)
            root.setLevel(level)


def test_all_that_is_said_in_the_process_has_the_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    thread = SimpleNamespace(name="store-sync")
    with begun(monkeypatch):
        logging.getLogger("some.library").warning("Invalid HTTP request received.")
        logging.getLogger("asyncio").info("Using selector")
        warnings.warn("old", FutureWarning, stacklevel=1)
        threading.excepthook(SimpleNamespace(thread=thread, exc_value=failed()))  # type: ignore[arg-type]
        sys.unraisablehook(SimpleNamespace(err_msg=None, exc_value=failed()))
    said = capsys.readouterr().err
    assert re.fullmatch(f"({LINE.pattern})+", said), said
    assert "some.library: Invalid HTTP request received. 1 times\n" in said
    assert "Using selector" not in said
    assert "FutureWarning: old" in said
    assert "python: the thread store-sync failed 1 times: ValueError: two | lines\n" in said
    assert "python: an exception was ignored 1 times: ValueError: two | lines\n" in said


@pytest.mark.parametrize("wanted", LogLevel)
def test_only_what_has_the_wanted_level_is_logged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wanted: LogLevel
) -> None:
    with begun(monkeypatch, wanted):
        for each in LogLevel:
            LOG.log(logging.getLevelNamesMapping()[each.name], "at %s", each.value)
    levels = list(LogLevel)
    said = [line.rpartition("at ")[2] for line in capsys.readouterr().err.splitlines()]
    assert said == [each.value for each in levels[levels.index(wanted) :]]
