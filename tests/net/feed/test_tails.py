"""Tests tails of message rows: what is learned on the way is never wrong about what was read."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import FRAME
from reliquary.net.feed.row_parts import RowParts
from reliquary.net.feed.tails import DEFAULTS, TailReader
from reliquary.queueing.model.message import OWN, Message
from reliquary.queueing.model.tables import MESSAGES, message_key
from tests.net.feed.messages import messages


def record(message: Message) -> bytes:
    """Return a message as it is in its row."""
    key = message_key(1)
    return MESSAGES.encode(key, message)[FRAME:]


def tails_of(rows: list[Message]) -> list[bytes]:
    """Return the tails of their rows."""
    return [RowParts([record(message)]).tails[0].as_py() for message in rows]


def comparable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def stored(message: Message, name: str) -> Any:
    """Return a field as the row has it, read without what is tested."""
    *own, rare = msgspec.msgpack.decode(record(message))
    values = dict(zip(OWN, own, strict=True)) | (rare or {})
    return comparable(values.get(name, DEFAULTS[name]))


@given(st.lists(st.lists(messages, max_size=3), max_size=3), st.sets(st.sampled_from(sorted(DEFAULTS))))
def test_a_field_that_does_not_occur_is_the_default_everywhere(
    batches: list[list[Message]], wanted: set[str]
) -> None:
    reader = TailReader(wanted)
    for batch in batches:
        tails = reader.read(tails_of(batch))
        assert tails.fields <= wanted
        for name in wanted:
            default = [DEFAULTS[name]] * len(batch)
            seen = tails.values(name) if name in tails.fields else default
            assert list(map(comparable, seen)) == [stored(message, name) for message in batch]


def test_a_field_that_occurred_once_does_not_occur_in_later_rows_without_any() -> None:
    reader = TailReader({"application_tag"})
    assert reader.read(tails_of([Message.of(application_tag=7)])).fields == {"application_tag"}
    assert reader.read(tails_of([Message(label="plain")])).fields == set()


@pytest.mark.parametrize("more", [{"nonsense": 1}, {"soap_body": 1, "nonsense": 2}, 7])
def test_a_malformed_tail_is_damage(more: object) -> None:
    *own, _ = msgspec.msgpack.decode(record(Message()))
    tail = msgspec.msgpack.encode([*own[3:], more])[1:]
    with pytest.raises(StoreDamage, match="does not decode"):
        TailReader({"label"}).read([tail])
    with pytest.raises(StoreDamage, match="does not decode"):
        TailReader({"label"}).read([tail[:3]])
