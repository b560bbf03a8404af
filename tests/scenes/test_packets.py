"""Scenes T77 and T78: a message survives serialization as a packet."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.message import (
    ATTRIBUTES,
    Message,
)
from reliquary.queueing.packets.messages import NOT_CARRIED, construct, deserialize, serialize
from tests.queueing.full_messages import FULL


@pytest.mark.scene("T77")
@pytest.mark.spec("DM-277", "DM-278", "DM-282")
def test_a_full_message_is_unchanged_after_serialize_and_deserialize() -> None:
    packet = construct(FULL)
    buffer = serialize(FULL)
    again = deserialize(buffer)
    assert packet.transaction is not None
    assert packet.base.priority == 0
    assert int.from_bytes(buffer[8:12], "little") == len(buffer)
    for name in set(ATTRIBUTES) - set(NOT_CARRIED) - {"priority"}:
        assert getattr(again, name) == getattr(FULL, name), name


@pytest.mark.scene("T78")
@pytest.mark.spec("DM-270", "DM-271")
def test_a_packet_without_signature_tracing_transaction_and_lists_has_three_headers() -> None:
    packet = construct(Message(body=b"plain"))
    present = {name for name in packet.__struct_fields__ if getattr(packet, name) is not None}
    assert present == {"base", "user", "properties"}
