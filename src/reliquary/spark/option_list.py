"""Lists the names of all options of a source and a sink, and their names in other sources.

Spark gives option names in lower case and values as text.  `known` returns the given options by the names in
this list.  An option that this source does not have is refused; if it is an option of Spark's Kafka source,
the sentence names the option to use here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Flag, auto
from typing import Final, NamedTuple

from reliquary.spark.errors import BadOption


class OptionUse(Flag):
    """The uses of an option."""

    READ = auto()
    """A batch read by `spark.read`."""
    STREAM = auto()
    """A streaming read by `spark.readStream`."""
    WRITE = auto()
    """A batch write by `df.write`."""
    SINK = auto()
    """A streaming write by `df.writeStream`."""


SOURCE: Final = OptionUse.READ | OptionUse.STREAM
TARGET: Final = OptionUse.WRITE | OptionUse.SINK
ALL: Final = SOURCE | TARGET


class Option(NamedTuple):
    """One option of the source or the sink."""

    name: str
    use: OptionUse
    default: str
    """The default, in readable form."""
    about: str


OPTIONS: Final = (
    Option(
        "url",
        ALL,
        "required, unless `managers` is given",
        "the server, such as `https://queues.example:8480`; several are separated by commas, and each may "
        "have a name: `a=http://host-a:8480,b=http://host-b:8480`",
    ),
    Option(
        "managers",
        ALL,
        "",
        "a TOML file of the driver that names several servers, in place of `url`; `FILE#TABLE` names a table",
    ),
    Option(
        "onManagerGone",
        ALL,
        "`fail`",
        "what happens when a server does not answer for `timeout` seconds: `fail`, `wait` until it does, or "
        "`skip` (only a source): the others are read, and this one later",
    ),
    Option(
        "queue",
        ALL,
        "required; a sink also takes a column `queue`",
        "one queue; a source also takes several, separated by commas, and patterns with `*`",
    ),
    Option("token", ALL, "`RELIQUARY_TOKEN` of the driver", "who asks, for a server with users"),
    Option("tokenFile", ALL, "", "a file of the driver that holds the token"),
    Option("user", ALL, "", "who asks with a password, in place of a token"),
    Option("passwordFile", ALL, "", "a file of the driver that holds the password of `user`"),
    Option("password", ALL, "`RELIQUARY_PASSWORD` of the driver", "the password of `user`"),
    Option("ca", ALL, "what the system trusts", "a file with the authority of the server's certificate"),
    Option("timeout", ALL, "`60`", "seconds for an answer, and for a server that restarts"),
    Option(
        "compression",
        SOURCE,
        "`auto`",
        "whether rows travel compressed: `none`, `lz4`, `zstd`, or `auto`: `lz4`, and none from a server on "
        "the loopback",
    ),
    Option("partitions", SOURCE, "`2`", "how many tasks read one queue in one batch, at most"),
    Option(
        "minPartitions",
        SOURCE,
        "",
        "how many tasks read one batch, at least: large queues are cut into more parts than `partitions`",
    ),
    Option(
        "pushFilters",
        OptionUse.READ,
        "`auto`",
        "`true`, `false`, or `auto`: when the session has `spark.sql.python.filterPushdown.enabled`",
    ),
    Option(
        "consumer",
        OptionUse.STREAM,
        "required",
        "the name under which the server keeps what the query has not read",
    ),
    Option(
        "startingOffset",
        SOURCE,
        "`earliest`",
        "where a read or a new query begins: `earliest`, `latest`, or JSON with a number, a word or a time "
        'for each queue, such as `{"orders": 123, "parts": "2026-11-18T06:00:00Z"}`; a number is the last '
        'place that is not read; `{"a": {"orders": 123}}` is for the manager `a` alone',
    ),
    Option(
        "startingTimestamp",
        SOURCE,
        "",
        "for all queues, by time: ISO 8601 with a zone, or milliseconds since 1970",
    ),
    Option(
        "endingOffset",
        OptionUse.READ,
        "`latest`",
        "where a read ends: `latest`, or JSON as for `startingOffset`; a number is the last place it has",
    ),
    Option(
        "endingTimestamp",
        OptionUse.READ,
        "",
        "for all queues, by time: only messages that arrived before it are read",
    ),
    Option(
        "includeHeaders",
        SOURCE,
        "`false`",
        "whether rows have a column `headers` with the SOAP and HTTPR parts of a message by name",
    ),
    Option(
        "maxRowsPerBatch", OptionUse.STREAM, "no limit", "how many rows a batch has at most, of all queues"
    ),
    Option(
        "maxBytesPerBatch",
        OptionUse.STREAM,
        "no limit",
        "how large a batch is at most, such as `64m`; a larger message comes alone",
    ),
    Option(
        "minRowsPerBatch",
        OptionUse.STREAM,
        "`1`",
        "how many rows a batch waits for; after `maxTriggerDelay` it takes what there is",
    ),
    Option(
        "maxTriggerDelay", OptionUse.STREAM, "`15m`", "how long a batch waits for `minRowsPerBatch`, at most"
    ),
    Option(
        "failOnDataLoss",
        OptionUse.STREAM,
        "`true`",
        "whether the query stops when messages it has not read are gone; else it goes on after them",
    ),
    Option(
        "partitionBy",
        TARGET,
        "required for several servers",
        "the column whose value decides to which server a row goes: equal values go to one server",
    ),
    Option("writerId", TARGET, "", "a name under which only one query may write"),
    Option(
        "takeOver",
        TARGET,
        "`false`",
        "write under the name although another query did, and go on after a restore that lost batches",
    ),
    Option(
        "badRows",
        TARGET,
        "`fail`",
        "what becomes of rows that break a rule: `fail`, or `dead:QUEUE`, which takes them",
    ),
    Option("runId", OptionUse.WRITE, "", "a name for this write: done again under it, it changes nothing"),
    Option(
        "checkpointLocation", OptionUse.SINK, "Spark's own", "where Spark keeps the progress of the query"
    ),
)

KAFKA: Final[Mapping[str, str]] = {
    "kafka.bootstrap.servers": "use url, with the addresses of the servers",
    "bootstrap.servers": "use url, with the addresses of the servers",
    "subscribe": "use queue",
    "subscribePattern": "use queue, with a pattern such as shop-*",
    "assign": "use queue; a queue has no partitions, and partitions says how many tasks read it",
    "topic": "use queue, or a column queue",
    "startingOffsets": "use startingOffset; a number in it is the last place that is not read",
    "startingOffsetsByTimestamp": "use startingOffset, with a time for each queue, or startingTimestamp",
    "startingOffsetsByTimestampStrategy": "leave it out: without a later message, a queue begins at its end",
    "endingOffsets": "use endingOffset; a number in it is the last place that is read",
    "endingOffsetsByTimestamp": "use endingOffset, with a time for each queue, or endingTimestamp",
    "maxOffsetsPerTrigger": "use maxRowsPerBatch",
    "minOffsetsPerTrigger": "use minRowsPerBatch",
    "maxBytesPerTrigger": "use maxBytesPerBatch",
    "maxRecordsPerPartition": "use minPartitions",
    "groupIdPrefix": "use consumer, a name of the query",
    "kafka.group.id": "use consumer, a name of the query",
    "kafkaConsumer.pollTimeoutMs": "use timeout, in seconds",
    "fetchOffset.numRetries": "use timeout, in seconds: a server is asked again until then",
    "fetchOffset.retryIntervalMs": "use timeout, in seconds: a server is asked again until then",
    "kafka.transactional.id": "use writerId",
    "kafka.security.protocol": "use a url with https, and ca",
    "kafka.sasl.jaas.config": "use token, tokenFile or user with passwordFile",
    "kafka.ssl.truststore.location": "use ca",
}
"""Options of Spark's Kafka source and sink, and their replacements here."""

_PASSED_ON: Final = {"queryname"}
"""Options that Spark itself adds for sinks."""
_BY_LOWER: Final = {option.name.lower(): option for option in OPTIONS}
_KAFKA: Final = {name.lower(): advice for name, advice in KAFKA.items()}


def known(options: Mapping[str, str], use: OptionUse) -> dict[str, str]:
    """Return the options by the names in this list; refuse one that is not for this use."""
    given: dict[str, str] = {}
    for word, value in options.items():
        option = _BY_LOWER.get(word.lower())
        if option is not None and option.use & use:
            given[option.name] = value
        elif not (use & TARGET and word.lower() in _PASSED_ON):
            raise BadOption(_refusal(option.name if option else word, use))
    return given


def _refusal(word: str, use: OptionUse) -> str:
    """Return the sentence about an option that is not for this use."""
    advice = _KAFKA.get(word.lower())
    if advice is None and word.lower().startswith("kafka."):
        advice = "leave it out: there is no Kafka client here"
    if advice is not None:
        return f"{word} is an option of Kafka: {advice}"
    allowed = ", ".join(each.name for each in OPTIONS if each.use & use)
    return f"there is no option {word} here: use {allowed}"
