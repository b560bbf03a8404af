"""Tests that records have the bytes that other releases of this program have written and will read."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.base.rows import Table
from reliquary.streams.tables import (
    IncomingStream,
    Numbers,
    Ordinals,
    OutgoingStream,
    Remembered,
    StreamTables,
    incoming_key,
    number_key,
    queue_key,
    slot_key,
)

TABLES = StreamTables("toy")
SENDER = UUID(int=7)
SENDER_HEX = SENDER.bytes.hex()
HERE = "http://a/b"


def test_a_protocol_has_five_tables_of_its_own() -> None:
    assert TABLES.names == ("toy_streams", "toy_numbers", "toy_incoming", "toy_history", "toy_ordinals")


@pytest.mark.parametrize(
    ("table", "key", "record", "encoded"),
    [
        pytest.param(
            TABLES.streams,
            queue_key(4),
            OutgoingStream(9 << 32 | 1, 70, 3, SENDER),
            "01cc225dace58acfcc84a66e756d626572cf0000000900000001a46c61737446ac61636b6e6f776c656467656403"
            f"a673656e646572c410{SENDER_HEX}",
            id="outgoing stream",
        ),
        pytest.param(
            TABLES.streams,
            queue_key(4),
            OutgoingStream(9 << 32 | 1, sender=SENDER),
            f"01c4c8de61523e03bb82a66e756d626572cf0000000900000001a673656e646572c410{SENDER_HEX}",
            id="outgoing stream that begins",
        ),
        pytest.param(
            TABLES.streams,
            queue_key(4),
            OutgoingStream(9 << 32 | 1, 1, started=True, closed=True),
            "0183d08e9f77e8fdbf84a66e756d626572cf0000000900000001a46c61737401a773746172746564c3a6636c6f73"
            "6564c3",
            id="outgoing stream of an older era",
        ),
        pytest.param(
            TABLES.numbers,
            number_key(4, 1),
            Numbers((0, 5, 6, *[0] * 61), ((5, 17),)),
            "01a10d0a8e75f90cfb82aa6c6f6f6b75705f696473dc0040000506" + "00" * 61 + "a666696e616c7391920511",
            id="numbers",
        ),
        pytest.param(
            TABLES.incoming,
            incoming_key(SENDER, HERE),
            IncomingStream(5, 3, 2, "http://alpha/r", "uid:x\\5", "DIRECT=HTTP://a/b", 99),
            "01b3933fdb26fdad0f87a66e756d62657205a46c61737403ac61636b6e6f776c656467656402"
            "ab72656365697074735f746fae687474703a2f2f616c7068612f72aa6964656e746966696572a77569643a785c35"
            "ab666f726d61745f6e616d65b14449524543543d485454503a2f2f612f62a8616363657373656463",
            id="incoming stream",
        ),
        pytest.param(
            TABLES.incoming,
            incoming_key(SENDER, HERE),
            IncomingStream(5, 9, restored=True, skipped=((2, 4), (6, 6)), reset=True),
            "0155416962644805d285a66e756d62657205a46c61737409a8726573746f726564c3a7736b697070656492920204"
            "920606a57265736574c3",
            id="incoming stream of a restored store",
        ),
        pytest.param(
            TABLES.history,
            slot_key(3),
            Remembered(SENDER, 12, 99, 203, HERE),
            f"012e25ee979e9164ab85a76c696e65616765c410{SENDER_HEX}aa756e69717569666965720c"
            "a76172726976656463a5706c616365cccbab64657374696e6174696f6eaa687474703a2f2f612f62",
            id="identifier",
        ),
        pytest.param(
            TABLES.ordinals,
            b"\0",
            Ordinals(4, 9),
            "011ee2727c0d780b4e82a673747265616d04a974696d657374616d7009",
            id="ordinals",
        ),
        pytest.param(
            TABLES.ordinals,
            b"\0",
            Ordinals(4, 9, 77),
            "0100ae7baf321a802683a673747265616d04a974696d657374616d7009a8726573746f7265644d",
            id="ordinals of a restored store",
        ),
    ],
)
def test_a_record_is_written_and_read_with_unchanged_bytes(
    table: Table[Any], key: bytes, record: msgspec.Struct, encoded: str
) -> None:
    assert table.encode(key, record).hex() == encoded
    assert table.decode(key, bytes.fromhex(encoded)) == record
