"""Parses the positions at which a read begins or ends in each queue of each manager.

    earliest, latest            the beginning and the end of the feed
    a number                    a place in the feed: `after` for a start, `until` for an end
    a time                      a start: at the first message that arrived then or later
                                an end: before the first message that arrived then or later

A text is one word for all queues, or JSON by the names of queues; an object in it is for the queues of one
manager.  Queues that are not in the JSON have the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

import msgspec

from reliquary.spark.errors import BadOption
from reliquary.spark.offsets import QueueKey

Word = Literal["earliest", "latest"]
"""The beginning or the end of a feed."""
EARLIEST: Final = "earliest"
LATEST: Final = "latest"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = 2**62


class Moment(msgspec.Struct, frozen=True):
    """A time in microseconds since 1970."""

    microseconds: int


Position = int | Word | Moment
"""A number, `earliest`, `latest`, or a time."""


class Positions(msgspec.Struct, frozen=True):
    """A position for each queue."""

    default: Position = EARLIEST
    queues: dict[str, Position] = {}
    """Positions by the name of the queue, for every manager."""
    managers: dict[str, dict[str, Position]] = {}
    """Positions by the names of manager and queue."""

    def of(self, key: QueueKey) -> Position:
        """Return the position for a queue."""
        mine = self.managers.get(key.manager, {})
        return mine.get(key.queue, self.queues.get(key.queue, self.default))

    def check(self, keys: Mapping[str, list[str]], option: str) -> None:
        """Refuse a manager or a queue that the query does not read; `keys` has the queues by manager."""
        every = {queue for queues in keys.values() for queue in queues}
        unknown = sorted(set(self.managers) - set(keys))
        if unknown and unknown[0] in every:
            raise BadOption(
                f"the option {option} has an object for the queue {unknown[0]!r}, which has no partitions: "
                f'give it one position, such as {{"{unknown[0]}": 123}}'
            )
        if unknown:
            raise BadOption(
                f"the option {option} names the manager {unknown[0]!r}, and there is {_list(keys)}"
            )
        for names, there in (
            (self.queues, every),
            *((queues, set(keys[manager])) for manager, queues in self.managers.items()),
        ):
            wrong = sorted(set(names) - there)
            if wrong:
                raise BadOption(
                    f"the option {option} names {wrong[0]!r}, and the query reads "
                    f"{_list(there) or 'no queue'}"
                )


def _list(names: Any) -> str:
    return ", ".join(sorted(names))


def parse_positions(given: Mapping[str, str], side: str, default: Word) -> Positions:
    """Return the positions of the options sideOffset and sideTimestamp; `side` is starting or ending."""
    offset, timestamp = f"{side}Offset", f"{side}Timestamp"
    if offset in given and timestamp in given:
        raise BadOption(f"give {offset} or {timestamp}, not both; {offset} takes a time for each queue too")
    if timestamp in given:
        moment = _moment(given[timestamp].strip())
        if moment is None:
            raise BadOption(
                f"the option {timestamp} is a time with its zone, such as 2026-11-18T06:00:00Z, or "
                f"milliseconds since 1970, not {given[timestamp]!r}"
            )
        return Positions(moment)
    return _positions(given.get(offset, default), offset, default)


def _positions(value: str, option: str, default: Word) -> Positions:
    words: dict[str, Word] = {LATEST: LATEST} if default == LATEST else {EARLIEST: EARLIEST, LATEST: LATEST}
    sentence = (
        f'the option {option} is {", ".join(sorted(words))}, or JSON such as {{"orders": 123}}, not {value!r}'
    )
    word = value.strip()
    if word.lower() in words:
        return Positions(words[word.lower()])
    try:
        written = msgspec.json.decode(word, type=dict[str, int | str | dict[str, int | str]])
    except (msgspec.MsgspecError, UnicodeDecodeError) as why:
        raise BadOption(sentence) from why
    queues: dict[str, Position] = {}
    managers: dict[str, dict[str, Position]] = {}
    for name, said in written.items():
        if isinstance(said, dict):
            managers[name] = {queue: _position(each, words, sentence) for queue, each in said.items()}
        else:
            queues[name] = _position(said, words, sentence)
    return Positions(default, queues, managers)


def _position(said: int | str, words: Mapping[str, Word], sentence: str) -> Position:
    if isinstance(said, int):
        if said < 0:
            raise BadOption(sentence)
        return said
    moment = None if said.isdigit() else _moment(said)
    if moment is not None:
        return moment
    if said not in words:
        raise BadOption(sentence)
    return words[said]


def _moment(text: str) -> Moment | None:
    """Return the time of a text: ISO 8601 with a zone, or milliseconds since 1970; None for another text."""
    if text.isascii() and text.isdigit():
        milliseconds = int(text)
        return Moment(milliseconds * 1000) if milliseconds * 1000 < _LAST else None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    if time.tzinfo is None:
        return None
    return Moment(max((time - _EPOCH) // timedelta(microseconds=1), 0))
