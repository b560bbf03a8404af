"""Tests of the encoder: batches of messages become the bytes of the specification."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.encode import (
    END_OF_MESSAGE,
    LAST_CHUNK,
    TERMINATOR,
    batch_bytes,
    chunk,
    chunked_head,
    message_head,
)
from reliquary.protocols.httpr.codec.values import Disposition
from tests.protocols.httpr.codec.vector import VECTORS, Vector


def batch_of(vector: Vector) -> bytes:
    return vector.data[len(vector.block) :]


@pytest.mark.httpr("H5", "H9", "H16", "H17")
@pytest.mark.parametrize("name", ["H5", "H9", "H16", "H17"])
def test_a_batch_is_written_as_in_the_vectors(name: str) -> None:
    vector = VECTORS[name]
    assert batch_bytes([(each.header, each.body) for each in vector.messages]) == batch_of(vector)


@pytest.mark.httpr("H3", "H6")
def test_a_batch_is_written_part_by_part_as_in_the_vectors() -> None:
    sized, chunked = VECTORS["H3"].messages
    parts = [
        message_head(sized.header, len(sized.body)) + sized.body + END_OF_MESSAGE,
        chunked_head(chunked.header) + chunk(b"hello") + chunk(memoryview(b" world")) + LAST_CHUNK,
        END_OF_MESSAGE + TERMINATOR[Disposition.LAST],
    ]
    assert b"".join(parts) == batch_of(VECTORS["H3"])
    aborted = message_head("", 5) + b"hello" + END_OF_MESSAGE + TERMINATOR[Disposition.ABORT]
    assert aborted == batch_of(VECTORS["H6"])


@pytest.mark.spec("HR-114")
def test_the_printed_bytes_are_written() -> None:
    last = "70 61 79 6c 6f 61 64 2d 64 69 73 70 6f 73 69 74 69 6f 6e 3a 6c 61 73 74 0d 0a"
    abort = "70 61 79 6c 6f 61 64 2d 64 69 73 70 6f 73 69 74 69 6f 6e 3a 61 62 6f 72 74 0d 0a"
    hello = "35 0d 0a 68 65 6c 6c 6f 0d 0a 36 0d 0a 20 77 6f 72 6c 64 0d 0a 30 0d 0a 0d 0a 0d 0a"
    assert TERMINATOR[Disposition.LAST] == bytes.fromhex(last)
    assert TERMINATOR[Disposition.ABORT] == bytes.fromhex(abort)
    assert chunk(b"hello") + chunk(b" world") + LAST_CHUNK + END_OF_MESSAGE == bytes.fromhex(hello)


@pytest.mark.spec("HR-120")
def test_the_size_of_a_message_does_not_count_the_line_end_behind_it() -> None:
    assert batch_bytes([("", b"a\r\n")]) == b"message-size:3\r\n\r\na\r\n\r\npayload-disposition:last\r\n"


@pytest.mark.spec("HR-124")
@pytest.mark.parametrize("header", ["app-x:1", "\r\napp-x:1\r\n", "app-x:1\r\n\r\napp-y:2\r\n", "\r\n"])
def test_a_header_with_a_blank_line_is_the_callers_mistake(header: str) -> None:
    with pytest.raises(UsageError, match="blank"):
        message_head(header, 1)
    with pytest.raises(UsageError, match="blank"):
        chunked_head(header)


def test_an_empty_chunk_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="at least one byte"):
        chunk(b"")
