"""Converts the columns of an uploaded batch to messages.

Fields have the meaning and the error texts of a send.  Columns are converted one after the other, and a
wrong value makes its row a bad one, with the reason; the queue manager checks ranges.  Rows stay in
their order, consecutive ones of one queue together:

    rows     orders orders orders  bills  orders (bad) orders
    groups   |-- orders, 3 -----| |1---| |------1-----|  |1----|
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.net.api.messages import CAN_BE_ASKED_FOR, REACH, trace_context_of
from reliquary.net.api.numbers import delay_of, object_id_of, queue_name, tracing_queue_of, whole_seconds
from reliquary.net.feed.schema import TYPE_OF
from reliquary.queueing.model.message import (
    EXTENSION_LIMIT,
    FOREVER,
    LABEL_LIMIT,
    NO_GUID,
    NO_OBJECT,
    OWN,
    Acknowledgement,
    Attributes,
    AuthenticationLevel,
    Delivery,
    Message,
    rare_part,
)
from reliquary.wire.columns import BY_NAME, COLUMNS, NAMES, WRITTEN, ColumnType

GROUP: Final = 500
"""The most messages that one turn stages."""

Make = Callable[[Any], Any]


class Field(NamedTuple):
    """The attribute of a message that a column gives."""

    name: str
    """The attribute; traceparent and tracestate make one attribute together."""
    default: Any
    """The value that replaces null."""
    make: Make | None = None
    """Converts a value, and may refuse it with UsageError; None takes the value unchanged."""


@lru_cache(maxsize=512)
def _named(column: str, given: str) -> str:
    return queue_name(column, given)


def _acknowledgement(given: list[str | None]) -> tuple[Acknowledgement, ...]:
    found = []
    for word in given:
        if word not in _ACKNOWLEDGEMENTS:
            raise UsageError(f"acknowledgements has {', '.join(_ACKNOWLEDGEMENTS)}, not {str(word)[:40]!r}")
        found.append(_ACKNOWLEDGEMENTS[word])
    return tuple(found)


def _authentication(given: str) -> AuthenticationLevel:
    for level in CAN_BE_ASKED_FOR:
        if level.value == given:
            return level
    raise UsageError(f"authentication is none or xmlsig, not {given[:40]}")


_OWN: Final = dict(zip(OWN, Message.__struct_defaults__, strict=False))
"""The attributes that every message has, with their defaults."""
_ACKNOWLEDGEMENTS: Final = {each.value: each for each in Acknowledgement}

FIELDS: Final[dict[str, Field]] = {
    "body": Field("body", b""),
    "body_type": Field("body_type", 0),
    "label": Field("label", ""),
    "priority": Field("priority", 3),
    "durable": Field(
        "delivery",
        Delivery.RECOVERABLE,
        lambda given: Delivery.RECOVERABLE if given else Delivery.EXPRESS,
    ),
    "expires": Field(
        "time_to_be_received",
        FOREVER,
        lambda given: whole_seconds("expires", given, least=0),
    ),
    "reach": Field("time_to_reach_queue", REACH, lambda given: whole_seconds("reach", given, least=1)),
    "delay": Field("delay", 0, delay_of),
    "correlation": Field(
        "correlation", NO_OBJECT, lambda given: object_id_of("correlation", given) if given else NO_OBJECT
    ),
    "tag": Field("application_tag", 0),
    "extension": Field("extension", b""),
    "acknowledgements": Field("acknowledgements", (), _acknowledgement),
    "journal": Field("positive_journaling", False),
    "deadletter": Field("negative_journaling", False),
    "deadletter_queue": Field(
        "application_deadletter_queue", "", lambda given: _named("deadletter_queue", given)
    ),
    "peek_when_locked": Field("allow_peek_when_locked", False),
    "tracing_queue": Field(
        "tracing_queue", NO_GUID, lambda given: tracing_queue_of(given) if given else NO_GUID
    ),
    "traceparent": Field("traceparent", ""),
    "tracestate": Field("tracestate", ""),
    "response_queue": Field("response_queue", "", lambda given: _named("response_queue", given)),
    "administration_queue": Field(
        "administration_queue", "", lambda given: _named("administration_queue", given)
    ),
    "authentication": Field("authentication", AuthenticationLevel.NONE, _authentication),
}
"""The fields of all columns that a sink takes, except the queue."""


class Group(NamedTuple):
    """Consecutive messages for one queue."""

    queue: str
    messages: list[Message]
    rows: list[int]
    """The row numbers of the messages in the batch."""
    dead: bool = False
    """Whether these are bad rows for the queue of dead letters."""


class BadRow(Exception):
    """A row violates a rule, and no queue for bad rows is named."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row = row


class Intake:
    """Makes messages from the record batches of one part."""

    def __init__(self, schema: pa.Schema, queue: str, dead_letters: str = "") -> None:
        """`queue` takes rows without a queue name; without `dead_letters`, a bad row raises `BadRow`."""
        self._queue = queue
        self._dead_letters = dead_letters
        self._casts = _casts(schema)
        if not queue and "queue" not in self._casts:
            raise UsageError("rows go to a queue: name it with the parameter queue, or in a column queue")

    def groups(self, batch: pa.RecordBatch) -> Iterator[Group]:
        """Yield the messages of a batch in groups."""
        columns = {name: self._values(batch, name) for name in self._casts}
        bad: dict[int, str] = {}
        messages = _messages(columns, batch.num_rows, bad)
        queues = columns.get("queue")
        if queues is None and not bad:  # the usual case
            for first in range(0, batch.num_rows, GROUP):
                some = messages[first : first + GROUP]
                yield Group(self._queue, some, list(range(first, first + len(some))))
            return
        rows: list[int] = []
        current = ""
        for row in range(batch.num_rows):
            queue = (queues[row] if queues else None) or self._queue
            if not queue and row not in bad:
                bad[row] = "it names no queue, and there is no parameter queue"
            if rows and (queue != current or row in bad or len(rows) >= GROUP):
                yield Group(current, [messages[each] for each in rows], rows)
                rows = []
            if row in bad:
                yield self.dead(batch, [row], bad[row])
            else:
                rows.append(row)
                current = queue
        if rows:
            yield Group(current, [messages[each] for each in rows], rows)

    def names_its_queue(self, group: Group) -> bool:
        """Return whether the rows of a group name their queue, and not the parameter `queue`."""
        return group.queue != self._queue

    def dead(self, batch: pa.RecordBatch, rows: list[int], why: str) -> Group:
        """Return bad rows as messages for the queue of dead letters; BadRow if no queue is named."""
        if not self._dead_letters:
            raise BadRow(rows[0], why)
        letters = [self._dead_letter(batch, row, why) for row in rows]
        return Group(self._dead_letters, letters, rows, dead=True)

    def _dead_letter(self, batch: pa.RecordBatch, row: int, why: str) -> Message:
        values = {name: self._values(batch.slice(row, 1), name)[0] for name in self._casts}
        body = values.pop("body", None) or b""
        others = msgspec.json.encode({name: value for name, value in values.items() if value is not None})
        return Message(
            body=body,
            label=why[:LABEL_LIMIT],
            delivery=Delivery.RECOVERABLE,
            more=Attributes(extension=others) if len(others) <= EXTENSION_LIMIT else None,
        )

    def _values(self, batch: pa.RecordBatch, name: str) -> list[Any]:
        column = batch.column(name)
        target = self._casts[name]
        try:
            values: list[Any] = (column if target is None else column.cast(target)).to_pylist()
        except pa.ArrowInvalid as why:
            raise UsageError(f"the column {name!r} cannot be read: {why}") from why
        return values


def _messages(columns: dict[str, list[Any]], count: int, bad: dict[int, str]) -> list[Message]:
    """Return a message for each row; those of bad rows are not used."""
    made: dict[str, list[Any]] = {"delivery": [Delivery.RECOVERABLE] * count}
    for name, values in columns.items():
        if name != "queue":
            made[FIELDS[name].name] = _made(FIELDS[name], values, bad)
    if "acknowledgements" in made:
        administration = made.get("administration_queue") or [""] * count
        for row, (wanted, queue) in enumerate(zip(made["acknowledgements"], administration, strict=True)):
            if wanted and not queue:
                bad.setdefault(
                    row, "acknowledgements are asked for, and no administration_queue is named for them"
                )
    if "tracing_queue" in made:
        made["tracing_requested"] = [bool(queue.int) for queue in made["tracing_queue"]]
    if "traceparent" in made or "tracestate" in made:
        parents, states = (made.pop(name, [""] * count) for name in ("traceparent", "tracestate"))
        made["trace_context"] = _trace_contexts(parents, states, bad)
    own = [made.pop(name, [default] * count) for name, default in _OWN.items()]
    return list(map(Message, *own, _rare_parts(made, count)))


def _trace_contexts(parents: list[str], states: list[str], bad: dict[int, str]) -> list[str]:
    """Return the trace context of each row."""
    found = []
    for row, (parent, state) in enumerate(zip(parents, states, strict=True)):
        try:
            found.append(trace_context_of(parent, state) if parent or state else "")
        except UsageError as why:
            bad.setdefault(row, str(why))
            found.append("")
    return found


def _rare_parts(made: dict[str, list[Any]], count: int) -> list[Attributes | None]:
    """Return the rare attributes of each row; most batches have no column for any of them."""
    if not made:
        return [None] * count
    names = tuple(made)
    return [
        rare_part(Attributes(**dict(zip(names, row, strict=True))), NO_OBJECT)
        for row in zip(*made.values(), strict=True)
    ]


def _made(field: Field, values: list[Any], bad: dict[int, str]) -> list[Any]:
    make, default = field.make, field.default
    if make is None:
        return [default if value is None else value for value in values] if None in values else values
    found = []
    for row, value in enumerate(values):
        try:
            found.append(default if value is None else make(value))
        except UsageError as why:
            bad.setdefault(row, str(why))
            found.append(default)
    return found


# -- types


def _casts(schema: pa.Schema) -> dict[str, pa.DataType | None]:
    """Return the used columns with the type of each after the cast; other known columns are ignored."""
    found: dict[str, pa.DataType | None] = {}
    seen: set[str] = set()
    for field in schema:
        if field.name not in BY_NAME:
            taken = ", ".join(name for name in NAMES if name in WRITTEN)
            raise UsageError(f"there is no column {field.name[:80]!r}; a message is written from {taken}")
        if field.name in seen:
            raise UsageError(f"the column {field.name!r} is there twice")
        seen.add(field.name)
        if field.name in WRITTEN:
            found[field.name] = _cast(field.name, field.type)
    return found


def _cast(name: str, given: pa.DataType) -> pa.DataType | None:
    kind = BY_NAME[name].kind
    wanted = pa.int64() if kind is ColumnType.INT else TYPE_OF[name]
    plain = given.value_type if pa.types.is_dictionary(given) else given
    if plain == wanted:
        return None if plain is given else wanted
    if pa.types.is_null(plain) or any(fits(plain) for fits in _FITTING[kind]):
        return wanted
    raise UsageError(f"the column {name!r} is {given}, it must be {_WORDS[kind]}")


def _is_strings(given: pa.DataType) -> bool:
    is_list = pa.types.is_list(given) or pa.types.is_large_list(given)
    return is_list and any(fits(given.value_type) for fits in _FITTING[ColumnType.STRING])


_TEXT: Final[Sequence[Callable[[pa.DataType], bool]]] = (pa.types.is_string, pa.types.is_large_string)
_FITTING: Final[dict[ColumnType, Sequence[Callable[[pa.DataType], bool]]]] = {
    ColumnType.STRING: _TEXT,
    ColumnType.STRINGS: (_is_strings,),
    ColumnType.BINARY: (*_TEXT, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary),
    ColumnType.BOOL: (pa.types.is_boolean,),
    ColumnType.INT: (pa.types.is_integer,),
    ColumnType.LONG: (pa.types.is_integer,),
    ColumnType.DOUBLE: (pa.types.is_integer, pa.types.is_floating),
    ColumnType.TIMESTAMP: (),
}
_WORDS: Final = {
    ColumnType.STRING: "string",
    ColumnType.STRINGS: "a list of strings",
    ColumnType.BINARY: "binary or string",
    ColumnType.BOOL: "boolean",
    ColumnType.INT: "a whole number",
    ColumnType.LONG: "a whole number",
    ColumnType.DOUBLE: "a number",
    ColumnType.TIMESTAMP: "timestamp",
}

assert {column.name for column in COLUMNS if column.name in WRITTEN} == {"queue", *FIELDS}
