"""Fields of message rows: what is learned on the way is never wrong about what was read."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import StoreDamage
from reliquary.net.feed.stored_fields import DEFAULTS, StoredFields
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.tables import MESSAGES, message_key
from tests.net.feed.messages import messages


def record(message: Message) -> bytes:
    """A message as it lies in its row."""
    key = message_key(1)
    return bytes(MESSAGES.records([(key, MESSAGES.encode(key, message))])[0])


@given(st.lists(st.lists(messages, max_size=3), max_size=3), st.sets(st.sampled_from(sorted(DEFAULTS))))
def test_a_field_that_does_not_occur_is_the_default_everywhere(
    batches: list[list[Message]], wanted: set[str]
) -> None:
    fields = StoredFields(wanted)
    for batch in batches:
        rows = fields.read([record(message) for message in batch])
        for message, row in zip(batch, rows, strict=True):
            raw = msgspec.msgpack.decode(record(message))
            for name in wanted:
                value = raw.get(name, DEFAULTS[name])
                seen = getattr(row, name) if fields.occurs(name) else DEFAULTS[name]
                assert (tuple(seen) if isinstance(seen, list) else seen) == (
                    tuple(value) if isinstance(value, list) else value
                )


def test_what_nobody_wants_does_not_occur() -> None:
    fields = StoredFields({"label"})
    [row] = fields.read([record(Message(label="a", body=b"b", tracing_requested=True))])
    assert row.label == "a"
    assert fields.occurs("label")
    assert not fields.occurs("body")
    assert not fields.occurs("tracing_requested")


def test_a_row_that_is_none_is_damage() -> None:
    with pytest.raises(StoreDamage, match="does not decode"):
        StoredFields({"label"}).read([msgspec.msgpack.encode({"nonsense": 1})])
