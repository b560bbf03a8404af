"""The messages of PostgreSQL's protocol that a queue needs."""

from __future__ import annotations

import struct

import pytest

from bench.peers import postgresql
from bench.peers.postgresql import SYNC, PostgresLink, byte_strings, execute, frame, prepare, startup
from tests.bench.peers.scripted import answered, linked

READY = frame(b"Z", b"I")


def row(body: bytes) -> bytes:
    return frame(b"D", struct.pack(">HI", 1, len(body)) + body)


def test_the_first_message_has_no_kind() -> None:
    assert startup() == b"\x00\x00\x00\x26\x00\x03\x00\x00user\0bench\0database\0postgres\0\0"


def test_a_statement_is_parsed_once_and_bound_to_binary_values() -> None:
    assert prepare("put", "SELECT 1") == b"P\x00\x00\x00\x13put\0SELECT 1\0\0\0"
    bind = b"B\x00\x00\x00\x19\0put\0\x00\x01\x00\x01\x00\x01\x00\x00\x00\x02ab\x00\x01\x00\x01"
    assert execute("put", b"ab") == bind + b"E\x00\x00\x00\x09\0\x00\x00\x00\x00"


def test_an_array_of_byte_strings_has_one_dimension() -> None:
    head = b"\0\0\0\1\0\0\0\0\0\0\0\x11\0\0\0\2\0\0\0\1"
    assert byte_strings(b"ab", 2) == head + b"\0\0\0\2ab\0\0\0\2ab"


def test_a_request_is_one_statement_with_all_its_messages() -> None:
    link, transport = linked(PostgresLink, in_flight=2)
    answered(link, lambda: link.send(7), frame(b"2", b"") + frame(b"C", b"INSERT 0 2\0") + READY)
    assert transport.written.count(b"00000000000000000007") == 2
    assert transport.written.endswith(SYNC)


def test_what_was_taken_is_committed_in_one_write_with_the_next_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "PAUSE", 0)
    link, transport = linked(PostgresLink)
    assert answered(link, link.receive, row(b"%020d" % 5) + row(b"%020d" % 6) + READY) == (2, 5)
    assert transport.written == execute("begin") + execute("take") + SYNC
    transport.written.clear()
    assert answered(link, link.receive, READY) == (0, 0)
    assert transport.written == execute("commit") + execute("begin") + execute("take") + SYNC


def test_an_error_fails_the_load() -> None:
    link, _ = linked(PostgresLink)
    with pytest.raises(RuntimeError, match="no such table"):
        answered(link, link.create, frame(b"E", b"SERROR\0Mno such table\0\0") + READY)


def test_the_table_has_a_name_that_sql_allows() -> None:
    link, transport = linked(PostgresLink, queue="warm-1x1")
    answered(link, link.create, READY)
    assert b"CREATE TABLE warm_1x1 (" in transport.written
