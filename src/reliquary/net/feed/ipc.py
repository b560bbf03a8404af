"""Divides an Arrow stream into its messages while it arrives, so that only one of them is in memory.

    | ff ff ff ff | size: 4 | metadata, `size` bytes | body, as long as the metadata says |   each message
    | ff ff ff ff | 0: 4    |                                                                 the end

The metadata is a flat table (Message.fbs of Arrow): field 1 says what the message is, field 3 how long its
body.  Both are read here; Arrow itself reads the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct as Layout
from struct import error
from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.net.api.errors import Refused

MESSAGE_LIMIT: Final = 256 * 1024 * 1024
"""The most bytes of one record batch."""
METADATA_LIMIT: Final = 16 * 1024 * 1024

_OPENING: Final = Layout("<II")
_MARK: Final = 0xFFFFFFFF
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
_int32, _uint16, _int64 = Layout("<i"), Layout("<H"), Layout("<q")


class IpcStream:
    """Divides an Arrow stream, which comes as pieces of any size, into its record batches."""

    def __init__(self, limit: int = MESSAGE_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._need = _OPENING.size
        self._metadata = 0  # its size, once the opening of a message is read
        self._kind = 0
        self._before: list[bytes] = []  # the schema and the dictionaries, which every batch needs
        self._before_size = 0
        self._ended = False

    def feed(self, data: bytes | memoryview) -> Iterator[bytes]:
        """Take bytes of the stream, and yield each record batch that they complete as a stream of its own."""
        buffer = self._buffer
        buffer += data
        while len(buffer) >= self._need:
            if self._ended:
                if buffer:
                    raise UsageError("bytes follow the end of the Arrow stream: send one stream in a request")
                return
            if not self._metadata:
                self._open()
            elif not self._kind:
                self._look()
            else:
                yield from self._message()

    def end(self) -> None:
        """Check that the stream is complete."""
        if not self._ended:
            raise UsageError("the Arrow stream is incomplete: its last record batch or end marker is missing")

    @property
    def schema(self) -> pa.Schema | None:
        """The schema of the columns, after it has come."""
        return pa.ipc.read_schema(pa.py_buffer(self._before[0])) if self._before else None

    def _open(self) -> None:
        mark, size = _OPENING.unpack_from(self._buffer)
        if mark != _MARK or size > METADATA_LIMIT:
            raise UsageError(
                "this is not an Arrow stream: each of its messages begins with FFFFFFFF and a length of at"
                f" most {METADATA_LIMIT}"
            )
        if size == 0:
            self._ended = True
            self._need = 0
            del self._buffer[: _OPENING.size]
        else:
            self._metadata = size
            self._need = _OPENING.size + size

    def _look(self) -> None:
        """Check the metadata of a message, and add the size of its body to the required bytes."""
        kind, size = _kind_and_size(bytes(self._buffer[_OPENING.size : self._need]))
        first = not self._before
        if kind not in {_SCHEMA, _DICTIONARY, _BATCH} or (kind == _SCHEMA) != first or size < 0:
            raise UsageError(
                "this is not an Arrow stream: a schema comes first and once, and only dictionaries and record"
                " batches follow it"
            )
        self._need += size
        if self._need > self._limit:
            why = f"a record batch may have {self._limit} bytes, this one has {self._need}: send smaller ones"
            raise Refused(HResult.BATCH_TOO_LARGE, why)
        self._kind = kind

    def _message(self) -> Iterator[bytes]:
        """Take a complete message from the buffer; yield it if it is a record batch."""
        kind = self._kind
        with memoryview(self._buffer) as buffer, buffer[: self._need] as given:
            message = b"".join((*self._before, given)) if kind == _BATCH else bytes(given)
        del self._buffer[: self._need]
        self._need, self._metadata, self._kind = _OPENING.size, 0, 0
        if kind == _BATCH:
            yield message
        else:
            self._before.append(message)
            self._before_size += len(message)
            if self._before_size > self._limit:
                why = f"schema and dictionaries may have {self._limit} bytes: send plain columns"
                raise Refused(HResult.BATCH_TOO_LARGE, why)


def _kind_and_size(table: bytes) -> tuple[int, int]:
    try:
        [root] = _int32.unpack_from(table, 0)
        [back] = _int32.unpack_from(table, root)
        fields = root - back
        [length] = _uint16.unpack_from(table, fields)

        def place(field: int) -> int:
            entry = 4 + 2 * field
            return int(_uint16.unpack_from(table, fields + entry)[0]) if entry < length else 0

        kind, size = place(1), place(3)
        return table[root + kind] if kind else 0, _int64.unpack_from(table, root + size)[0] if size else 0
    except (error, IndexError) as why:
        raise UsageError("this is not an Arrow stream") from why


def batches_of(stream: bytes) -> list[pa.RecordBatch]:
    """Return the record batches of a stream, which is checked completely, because a client made it."""
    try:
        batches = list(pa.ipc.open_stream(stream))
        for batch in batches:
            batch.validate(full=True)
    except (pa.ArrowInvalid, OSError) as why:
        raise UsageError(f"this is not an Arrow stream: {why}") from why
    return batches
