"""Writes the log of a server to stderr, in one form for its own lines and those of libraries.

    text   2026-11-16T18:05:12.345Z WARNING reliquary: orders: lost 3 times: it is full
    json   {"time":"2026-11-16T18:05:12.345Z","level":"WARNING","logger":"reliquary","message":"...",
            "about":"orders","what":"lost","why":"it is full","times":3}

A line that is written while a request of a trace is answered has its `trace_id`, at the end of a text.

Every line has time and level: line breaks inside a message are written as `|`, so that no client can
forge a line, and a traceback has a line of this form for each of its own.  Own warnings are limited
where they are made (`engine.warnings`).  Lines of other libraries, Python's warnings and uncaught
exceptions are logged too, for each cause once a minute.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from types import TracebackType
from typing import Any, Final, TextIO

import msgspec

from reliquary.base.time import MINUTE, SECOND
from reliquary.engine.clock import Clock
from reliquary.engine.throttle import Due, Throttle
from reliquary.engine.warnings import LOG

OWN: Final = LOG.name
LEVEL: Final = logging.WARNING
"""The level of lines about repeated lines of libraries."""

Failure = tuple[type[BaseException], BaseException, TracebackType | None]


class LogFormat(StrEnum):
    """The formats of lines of the log."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The lowest level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of the log, in the order of its fields in JSON."""

    time: str
    level: str
    logger: str
    message: str
    about: str = ""
    what: str = ""
    why: str = ""
    times: int = 0
    traceback: tuple[str, ...] = ()
    trace_id: str = ""


_encode = msgspec.json.Encoder().encode


class LogHandler(logging.Handler):
    """Writes records to a stream in the form of all log lines."""

    def __init__(self, stream: TextIO, form: LogFormat, clock: Clock) -> None:
        """`clock` is for the limit of repeated lines of libraries."""
        super().__init__()
        self._stream = stream
        self._form = form
        self._clock = clock
        self._throttle = Throttle()
        self.trace_of: Callable[[], str] = str
        """Returns the current trace, or an empty text; `tracing` sets another function."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the lines of a record, or none if a library repeats itself."""
        self._write(self._lines(record))

    def close(self) -> None:
        """Write how often libraries repeated themselves, because the process ends."""
        self._write(self._repeated(self._throttle.overdue(self._clock.monotonic() + MINUTE)))
        super().close()

    def _write(self, lines: Iterable[Line]) -> None:
        try:
            for line in lines:
                self._stream.write(f"{encoded(line, self._form)}\n")
            self._stream.flush()
        except (OSError, ValueError):  # stderr is closed, or on a disk that is full
            return

    def _lines(self, record: logging.LogRecord) -> Iterator[Line]:
        if record.name == OWN or record.name.startswith(f"{OWN}."):
            yield _of_ours(record, self.trace_of())
            yield from self._repeated(self._throttle.overdue(self._clock.monotonic()))
            return
        what, _, why = record.getMessage().strip().partition("\n")
        failure = record.exc_info[1] if record.exc_info else None
        cause = " ".join(filter(None, (why, _in_words(failure))))
        due = self._throttle.add(record.name, what, cause, 1, self._clock.monotonic())
        if due and due[0][:2] == (record.name, what):
            yield _of_library(due.pop(0), moment(record.created), record.levelname, _trace(record))
        yield from self._repeated(due)

    def _repeated(self, due: Iterable[Due]) -> Iterator[Line]:
        """Return lines about repetitions by libraries since their last line."""
        at = moment(self._clock.now() / SECOND)
        for each in due:
            yield _of_library(each, at, logging.getLevelName(LEVEL), ())


def _of_ours(record: logging.LogRecord, trace: str) -> Line:
    due = getattr(record, "due", None)
    about, what, why = map(one_line, due[:3]) if isinstance(due, Due) else ("", "", "")
    return Line(
        moment(record.created),
        record.levelname,
        record.name,
        one_line(record.getMessage()),
        about,
        what,
        why,
        due.times if isinstance(due, Due) else 0,
        _trace(record),
        trace,
    )


def _of_library(due: Due, at: str, level: str, trace: tuple[str, ...]) -> Line:
    about, what, why = map(one_line, due[:3])
    said = f"{about}: {what} {due.times} times" + (f": {why}" if why else "")
    return Line(at, level, due.about, said, about, what, why, due.times, trace)


def _in_words(failure: BaseException | None) -> str:
    return "" if failure is None else f"{type(failure).__name__}: {failure}"


def encoded(line: Line, form: LogFormat) -> str:
    """Return an entry of the log as text; a traceback makes several lines."""
    if form is LogFormat.JSON:
        return _encode(line).decode()
    start = f"{line.time} {line.level} {OWN}: "
    end = f" trace_id={line.trace_id}" if line.trace_id else ""
    return "\n".join([*(f"{start}    {each}" for each in line.traceback), start + line.message + end])


def one_line(text: str) -> str:
    r"""Return a text without line breaks and other control characters of a terminal.

    >>> one_line("no queue\nforged line")
    'no queue | forged line'
    """
    joined = " | ".join(filter(None, (line.strip() for line in text.splitlines())))
    return "".join(each if each.isprintable() else "?" for each in joined)


def moment(created: float) -> str:
    """Return a time in UTC with milliseconds.

    >>> moment(0)
    '1970-01-01T00:00:00.000Z'
    """
    return datetime.fromtimestamp(created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _trace(record: logging.LogRecord) -> tuple[str, ...]:
    if not record.exc_info or record.exc_info[1] is None:
        return ()
    lines = "".join(traceback.format_exception(record.exc_info[1])).splitlines()
    return tuple("".join(each if each.isprintable() else "?" for each in line) for line in lines)


def set_level(level: LogLevel) -> None:
    """Log lines from this level on."""
    logging.getLogger().setLevel(level.upper())


def begin(form: LogFormat, clock: Clock, level: LogLevel = LogLevel.WARNING) -> None:
    """Send everything of this level to stderr, in the form of all log lines."""
    root = logging.getLogger()
    root.handlers = [LogHandler(sys.stderr, form, clock)]
    set_level(level)
    logging.captureWarnings(True)
    threading.excepthook = _on_thread
    sys.unraisablehook = _on_unraisable


def _on_thread(failed: Any) -> None:
    name = "" if failed.thread is None else f" {failed.thread.name}"
    _caught(f"the thread{name} failed", failed.exc_value)


def _on_unraisable(failed: Any) -> None:
    _caught(failed.err_msg or "an exception was ignored", failed.exc_value)


def _caught(what: str, failure: BaseException | None) -> None:
    exception: Failure | None = None if failure is None else (type(failure), failure, failure.__traceback__)
    logging.getLogger("python").error(what, exc_info=exception)
