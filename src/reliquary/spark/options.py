"""The options of a source and a sink: parsed once, on the driver, and refused by name.

Spark hands over words without their capitals, and every value as text.  What comes out here is a frozen value
that travels to the executors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from enum import Enum, Flag, auto
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from reliquary.spark.errors import BadOption


class For(Flag):
    """What an option is for."""

    READ = auto()
    """`spark.read`"""
    STREAM = auto()
    """`spark.readStream`"""
    WRITE = auto()
    """`df.write`"""
    SINK = auto()
    """`df.writeStream`"""


SOURCE: Final = For.READ | For.STREAM
TARGET: Final = For.WRITE | For.SINK
ALL: Final = SOURCE | TARGET


class Option(NamedTuple):
    """One option."""

    name: str
    use: For
    default: str
    """As a person reads it."""
    about: str


OPTIONS: Final = (
    Option("url", ALL, "required", "the server, such as `https://queues.example:8480`"),
    Option(
        "queue",
        ALL,
        "required; a sink also takes a column `queue`",
        "one queue; a source also takes several, separated by commas, and patterns with `*`",
    ),
    Option("token", ALL, "`RELIQUARY_TOKEN` of the driver", "who asks, for a server with users"),
    Option("tokenFile", ALL, "", "a file of the driver that holds the token"),
    Option("ca", ALL, "what the system trusts", "a file with the authority of the server's certificate"),
    Option("timeout", ALL, "`60`", "seconds for an answer, and for a server that restarts"),
    Option("partitions", SOURCE, "`2`", "how many tasks read one queue in one batch, at most"),
    Option(
        "pushFilters",
        For.READ,
        "`auto`",
        "`true`, `false`, or `auto`: when the session has `spark.sql.python.filterPushdown.enabled`",
    ),
    Option(
        "consumer",
        For.STREAM,
        "required",
        "the name under which the server keeps what the query has not read",
    ),
    Option(
        "startingOffset",
        For.STREAM,
        "`earliest`",
        'where a new query begins: `earliest`, `latest`, or JSON such as `{"orders": 123}`',
    ),
    Option("maxRowsPerBatch", For.STREAM, "no limit", "how many rows a batch has at most, of all queues"),
    Option(
        "maxBytesPerBatch",
        For.STREAM,
        "no limit",
        "how large a batch is at most, such as `64m`; a larger message comes alone",
    ),
    Option(
        "failOnDataLoss",
        For.STREAM,
        "`true`",
        "whether the query stops when messages it has not read are gone; else it goes on after them",
    ),
    Option("writerId", TARGET, "", "a name under which only one query may write"),
    Option("takeOver", TARGET, "`false`", "write under the name although another query did"),
    Option(
        "badRows",
        TARGET,
        "`fail`",
        "what becomes of rows that break a rule: `fail`, or `dead:QUEUE`, which takes them",
    ),
    Option("runId", For.WRITE, "", "a name for this write: done again under it, it changes nothing"),
    Option("checkpointLocation", For.SINK, "Spark's own", "where Spark keeps the progress of the query"),
)

_PASSED_ON: Final = {"queryname"}
"""What Spark itself adds for sinks."""

_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_SIZE = re.compile(r"(\d+)\s*([kmg]?)b?", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Push(Enum):
    """Whether a batch read takes filters over from Spark."""

    AUTO = "auto"
    YES = "true"
    NO = "false"


class Access(msgspec.Struct, frozen=True):
    """Which server, and who asks."""

    url: str
    token: str = ""
    ca: str = ""
    timeout: float = 60.0

    def __repr__(self) -> str:
        return f"Access(url={self.url!r}, token={'***' if self.token else ''!r})"


class Reading(msgspec.Struct, frozen=True):
    """The options of a source."""

    access: Access
    queues: tuple[str, ...]
    """Names and patterns."""
    partitions: int = 2
    push: Push = Push.AUTO
    consumer: str = ""
    start: str | dict[str, int | str] = "earliest"
    """Where a query begins that has no checkpoint: for all queues, or by name."""
    max_rows: int | None = None
    max_bytes: int | None = None
    fail_on_loss: bool = True


class Writing(msgspec.Struct, frozen=True):
    """The options of a sink."""

    access: Access
    queue: str = ""
    writer: str = ""
    take_over: bool = False
    bad: str = "fail"
    run: str = ""
    checkpoint: str = ""


def parse_reading(options: Mapping[str, str], use: For) -> Reading:
    """The options of a source, or a refusal by name."""
    given = _known(options, use)
    consumer = _name(given, "consumer")
    if use is For.STREAM and not consumer:
        raise BadOption(
            "a stream needs the option consumer: a name, such as lake, under which the server keeps what the "
            "query has not read; every query has its own"
        )
    return Reading(
        access=_access(given),
        queues=_queues(given),
        partitions=_whole(given, "partitions", 2, most=1000),
        push=Push(_one_of(given, "pushFilters", [each.value for each in Push], Push.AUTO.value)),
        consumer=consumer,
        start=_start(given.get("startingOffset", "earliest")),
        max_rows=_whole(given, "maxRowsPerBatch", 0, most=1 << 40) or None,
        max_bytes=_size(given, "maxBytesPerBatch"),
        fail_on_loss=_truth(given, "failOnDataLoss", True),
    )


def parse_writing(options: Mapping[str, str], use: For, *, queue_column: bool) -> Writing:
    """The options of a sink, or a refusal by name; with a column `queue` the option may be missing."""
    given = _known(options, use)
    queue = given.get("queue", "").strip()
    if not queue and not queue_column:
        raise BadOption("a sink needs the option queue, or a column queue that names one for each row")
    if "*" in queue or "," in queue:
        raise BadOption(f"a sink writes to one queue, not {queue!r}; a column queue names one for each row")
    bad = given.get("badRows", "fail").strip()
    if bad != "fail" and not (bad.startswith("dead:") and bad.removeprefix("dead:")):
        raise BadOption(f"the option badRows is fail or dead:QUEUE, not {bad!r}")
    return Writing(
        access=_access(given),
        queue=queue,
        writer=_name(given, "writerId"),
        take_over=_truth(given, "takeOver", False),
        bad=bad,
        run=_name(given, "runId"),
        checkpoint=given.get("checkpointLocation", ""),
    )


def _known(options: Mapping[str, str], use: For) -> dict[str, str]:
    """The options by the names that people write; one that is not for this is refused."""
    by_lower = {option.name.lower(): option for option in OPTIONS}
    given: dict[str, str] = {}
    for word, value in options.items():
        option = by_lower.get(word.lower())
        if option is not None and option.use & use:
            given[option.name] = value
        elif not (use & TARGET and word.lower() in _PASSED_ON):
            allowed = ", ".join(each.name for each in OPTIONS if each.use & use)
            raise BadOption(f"there is no option {option.name if option else word} here: use {allowed}")
    return given


def _access(given: Mapping[str, str]) -> Access:
    url = given.get("url", "").strip()
    if not url:
        raise BadOption("the option url is missing: the server, such as http://127.0.0.1:8480")
    try:
        parts = urlsplit(url)
        right = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        right = False
    if not right:
        raise BadOption(f"the option url is like http://host:port, not {url!r}")
    ca = given.get("ca", "").strip()
    if ca and not Path(ca).is_file():
        raise BadOption(f"the option ca names a file that is not here: {ca!r}")
    timeout = given.get("timeout", "60")
    try:
        seconds = float(timeout)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise BadOption(f"the option timeout is a number of seconds up to 86400, not {timeout!r}")
    return Access(url, _token(given), ca, seconds)


def _token(given: Mapping[str, str]) -> str:
    if "token" in given and "tokenFile" in given:
        raise BadOption("give token or tokenFile, not both")
    if "tokenFile" in given:
        try:
            token = Path(given["tokenFile"]).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as why:
            raise BadOption(f"the option tokenFile names a file that cannot be read: {why}") from why
    else:
        token = given.get("token", os.environ.get("RELIQUARY_TOKEN", "")).strip()
    if token and not (token.isascii() and token.isprintable()):
        raise BadOption("a token is printable ASCII; this one is not")
    return token


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


def _start(value: str) -> str | dict[str, int | str]:
    sentence = (
        f'the option startingOffset is earliest, latest, or JSON such as {{"orders": 123}}, not {value!r}'
    )
    word = value.strip()
    if word.lower() in {"earliest", "latest"}:
        return word.lower()
    try:
        places = msgspec.json.decode(word, type=dict[str, int | str])
    except (msgspec.MsgspecError, UnicodeDecodeError) as why:
        raise BadOption(sentence) from why
    for place in places.values():
        if place not in {"earliest", "latest"} and not (isinstance(place, int) and place >= 0):
            raise BadOption(sentence)
    return places


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


def _truth(given: Mapping[str, str], option: str, default: bool) -> bool:
    return _one_of(given, option, ["true", "false"], str(default).lower()) == "true"


def _one_of(given: Mapping[str, str], option: str, allowed: Sequence[str], default: str) -> str:
    value = given.get(option, default).strip().lower()
    if value not in allowed:
        raise BadOption(f"the option {option} is {' or '.join(allowed)}, not {given[option]!r}")
    return value
