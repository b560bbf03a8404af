"""Tests what the client keeps on disk."""

from __future__ import annotations

from uuid import UUID

from reliquary.protocols.mqqp.client.tables import DOUBTS, TABLES, Doubt, doubt_key
from reliquary.queueing.model.message import ObjectId

IDENTIFIER = ObjectId(UUID(int=7), 9)


def test_a_doubt_is_read_as_it_was_written() -> None:
    doubt, key = Doubt("direct=os:far\\private$\\größe", IDENTIFIER, 5), doubt_key("q", IDENTIFIER)
    assert DOUBTS.decode(key, DOUBTS.encode(key, doubt)) == doubt
    assert TABLES == ("mqqp_doubts",)


def test_each_queue_and_each_message_has_its_own_key() -> None:
    others = [ObjectId(UUID(int=7), 8), ObjectId(UUID(int=8), 9), IDENTIFIER]
    keys = {doubt_key(queue, each) for queue in ("a", "b", "ab") for each in others}
    assert len(keys) == 9
