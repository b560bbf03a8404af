"""Tests that renamed fields keep their old names in stored rows."""

from __future__ import annotations

import msgspec

from reliquary.queueing.model.message import Attributes
from reliquary.queueing.model.queue import QueueManagerRecord
from reliquary.wire.stored_names import STORED_NAMES


def test_each_renamed_field_is_one_of_a_stored_record() -> None:
    renamed = {
        (name, stored)
        for record in (Attributes, QueueManagerRecord)
        for name, stored in zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True)
        if name != stored
    }
    assert renamed == set(STORED_NAMES.items())


def test_a_row_from_before_the_renaming_is_read_and_written_as_it_was() -> None:
    row = {"httpr_header": "app-x:1\r\n"}
    attributes = msgspec.msgpack.decode(msgspec.msgpack.encode(row), type=Attributes)
    assert attributes == Attributes(carrier_header="app-x:1\r\n")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(attributes)) == row
