"""Parses the options of a source and a sink once, on the driver, and refuses wrong ones by name.

Spark gives option names in lower case, and every value as text.  The result is a frozen value that is
sent to the executors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final

import msgspec

from reliquary.spark.access import Access, Gone, parse_managers
from reliquary.spark.errors import BadOption
from reliquary.spark.option_list import OptionUse, known
from reliquary.spark.positions import EARLIEST, LATEST, Positions, parse_positions

_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_SIZE = re.compile(r"(\d+)\s*([kmg]?)b?", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SPAN = re.compile(r"(\d+)\s*(ms|s|m|h|d)", re.IGNORECASE)
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}


class Push(Enum):
    """Whether a batch read applies filters of Spark."""

    AUTO = "auto"
    YES = "true"
    NO = "false"


class Reading(msgspec.Struct, frozen=True):
    """The options of a source."""

    managers: tuple[Access, ...]
    queues: tuple[str, ...]
    """The names and the patterns of queues."""
    gone: Gone = Gone.FAIL
    partitions: int = 2
    min_partitions: int | None = None
    push: Push = Push.AUTO
    consumer: str = ""
    start: Positions = Positions()
    """The position at which a batch read begins, or a query that has no checkpoint."""
    end: Positions = Positions(LATEST)
    """The position at which a batch read ends."""
    headers: bool = False
    """Whether rows have a column of headers."""
    max_rows: int | None = None
    max_bytes: int | None = None
    min_rows: int = 1
    max_delay: float = 900.0
    """The seconds that a batch waits for `min_rows`."""
    fail_on_loss: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the managers."""
        return tuple(access.name for access in self.managers)


class Writing(msgspec.Struct, frozen=True):
    """The options of a sink."""

    managers: tuple[Access, ...]
    queue: str = ""
    gone: Gone = Gone.FAIL
    key: str = ""
    """The column that selects the manager of a row."""
    writer: str = ""
    take_over: bool = False
    bad: str = "fail"
    run: str = ""
    checkpoint: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the managers."""
        return tuple(access.name for access in self.managers)


def parse_reading(options: Mapping[str, str], use: OptionUse) -> Reading:
    """Return the options of a source, or refuse one by its name."""
    given = known(options, use)
    consumer = _name(given, "consumer")
    if use is OptionUse.STREAM and not consumer:
        raise BadOption(
            "a stream needs the option consumer: a name, such as lake, under which the server keeps what the "
            "query has not read; every query has its own"
        )
    return Reading(
        managers=parse_managers(given),
        queues=_queues(given),
        gone=_gone(given, list(Gone)),
        partitions=_whole(given, "partitions", 2, most=1000),
        min_partitions=_whole(given, "minPartitions", 0, most=100_000) or None,
        push=Push(_one_of(given, "pushFilters", [each.value for each in Push], Push.AUTO.value)),
        consumer=consumer,
        start=parse_positions(given, "starting", EARLIEST),
        end=parse_positions(given, "ending", LATEST),
        headers=_truth(given, "includeHeaders", False),
        max_rows=_whole(given, "maxRowsPerBatch", 0, most=1 << 40) or None,
        max_bytes=_size(given, "maxBytesPerBatch"),
        min_rows=_whole(given, "minRowsPerBatch", 1, most=1 << 40),
        max_delay=_seconds(given, "maxTriggerDelay", 900.0),
        fail_on_loss=_truth(given, "failOnDataLoss", True),
    )


def parse_writing(options: Mapping[str, str], use: OptionUse, *, queue_column: bool) -> Writing:
    """Return the options of a sink, or refuse one by name; a column `queue` can replace that option."""
    given = known(options, use)
    queue = given.get("queue", "").strip()
    if not queue and not queue_column:
        raise BadOption("a sink needs the option queue, or a column queue that names one for each row")
    if "*" in queue or "," in queue:
        raise BadOption(f"a sink writes to one queue, not {queue!r}; a column queue names one for each row")
    bad = given.get("badRows", "fail").strip()
    if bad != "fail" and not (bad.startswith("dead:") and bad.removeprefix("dead:")):
        raise BadOption(f"the option badRows is fail or dead:QUEUE, not {bad!r}")
    managers = parse_managers(given)
    key = given.get("partitionBy", "").strip()
    if len(managers) > 1 and not key:
        raise BadOption(
            "a sink of several managers needs the option partitionBy: the column whose value decides to "
            "which manager a row goes"
        )
    return Writing(
        managers=managers,
        queue=queue,
        gone=_gone(given, [Gone.FAIL, Gone.WAIT]),
        key=key,
        writer=_name(given, "writerId"),
        take_over=_truth(given, "takeOver", False),
        bad=bad,
        run=_name(given, "runId"),
        checkpoint=given.get("checkpointLocation", ""),
    )


def _queues(given: Mapping[str, str]) -> tuple[str, ...]:
    names = tuple(word for part in given.get("queue", "").split(",") if (word := part.strip()))
    if not names:
        raise BadOption("the option queue is missing: a name, several with commas, or a pattern with *")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadOption(f"the option queue names {twice[0]!r} twice")
    return names


def _name(given: Mapping[str, str], option: str) -> str:
    value = given.get(option, "").strip()
    if value and not _NAME.fullmatch(value):
        raise BadOption(f"the option {option} has up to 100 letters, digits, . _ or -, not {value!r}")
    if option in given and not value:
        raise BadOption(f"the option {option} is empty: give a name or leave it out")
    return value


def _whole(given: Mapping[str, str], option: str, default: int, *, most: int) -> int:
    value = given.get(option)
    if value is None:
        return default
    text = value.strip()
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= most):
        raise BadOption(f"the option {option} is a whole number from 1 to {most}, not {value!r}")
    return int(text)


def _size(given: Mapping[str, str], option: str) -> int | None:
    value = given.get(option)
    if value is None:
        return None
    match = _SIZE.fullmatch(value.strip())
    size = int(match[1]) * _UNITS[match[2].lower()] if match and match[1].isascii() else 0
    if not 0 < size < 1 << 60:
        raise BadOption(f"the option {option} is a number of bytes, such as 67108864 or 64m, not {value!r}")
    return size


def _seconds(given: Mapping[str, str], option: str, default: float) -> float:
    value = given.get(option)
    if value is None:
        return default
    match = _SPAN.fullmatch(value.strip())
    if match is None or not match[1].isascii():
        raise BadOption(f"the option {option} is a span of time, such as 30s, 15m or 2h, not {value!r}")
    return int(match[1]) * _SECONDS[match[2].lower()]


def _gone(given: Mapping[str, str], allowed: Sequence[Gone]) -> Gone:
    if given.get("onManagerGone", "").strip().lower() == Gone.SKIP.value and Gone.SKIP not in allowed:
        raise BadOption("a sink leaves out no manager: the option onManagerGone is fail or wait, not 'skip'")
    return Gone(_one_of(given, "onManagerGone", [each.value for each in allowed], Gone.FAIL.value))


def _truth(given: Mapping[str, str], option: str, default: bool) -> bool:
    return _one_of(given, option, ["true", "false"], str(default).lower()) == "true"


def _one_of(given: Mapping[str, str], option: str, allowed: Sequence[str], default: str) -> str:
    value = given.get(option, default).strip().lower()
    if value not in allowed:
        raise BadOption(f"the option {option} is {' or '.join(allowed)}, not {given[option]!r}")
    return value
