"""Tests that lines of input are put together to batches."""

from __future__ import annotations

import io

from reliquary.cli.lines import MOST, batches


class Pipe(io.BytesIO):
    """A stream that returns one part at each read, as a pipe does."""

    def __init__(self, *parts: bytes) -> None:
        super().__init__()
        self.parts = list(parts)

    def read1(self, size: int | None = -1, /) -> bytes:
        return self.parts.pop(0) if self.parts else b""


def test_lines_lose_their_ends() -> None:
    assert list(batches(io.BytesIO(b"a\r\n\nb\n"))) == [[b"a", b"", b"b"]]


def test_a_last_line_without_an_end_counts() -> None:
    assert list(batches(io.BytesIO(b"a\nb"))) == [[b"a"], [b"b"]]
    assert list(batches(io.BytesIO(b""))) == []


def test_what_a_read_brought_is_sent_at_once_and_a_split_line_waits() -> None:
    assert list(batches(Pipe(b"a\nb", b"c\n", b"d", b"e"))) == [[b"a"], [b"bc"], [b"de"]]


def test_a_batch_has_its_limit() -> None:
    sizes = [len(batch) for batch in batches(io.BytesIO(b"x\n" * (MOST + 1)))]
    assert sizes == [MOST, 1]
