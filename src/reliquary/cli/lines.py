"""Groups lines of stdin into batches that fit into one request, without waiting for more lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final

MOST: Final = 500
LARGEST: Final = 1024 * 1024


def batches(source: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines of a stream without their ends, in batches.

    A pipe that brings a line now and then, such as `tail -f`, is sent line by line: a batch ends with
    the bytes of one read of the stream.
    """
    rest = b""
    read = getattr(source, "read1", source.read)
    while part := read(LARGEST):
        *whole, rest = (rest + part).split(b"\n")
        for start in range(0, len(whole), MOST):
            yield [line.removesuffix(b"\r") for line in whole[start : start + MOST]]
    if rest:
        yield [rest]
