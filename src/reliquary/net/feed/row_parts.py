"""Extracts the parts of many message rows without a Python object for each row.

A row is an array of MessagePack (`model.message.Message`):

    | 99 92 c4 10 lineage | number | body | label | priority, delivery, times, body type, rare fields or c0 |
    '-------- head -------'                       '------------------------- tail -------------------------'

The rows are put into one buffer.  A reader has a position in each of them; a step reads the tags of all
rows, returns the element of each row as an Arrow array, and moves all positions behind it, with a few
loops inside Arrow. Heads and tails repeat, because the messages of a queue are alike and times are
whole seconds: they become dictionaries, and only different ones are decoded (`tails`).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from reliquary.base.faults import StoreDamage

FIELDS: Final = 9
"""The elements of a row."""
HEAD: Final = bytes([0x90 + FIELDS, 0x92, 0xC4, 16])
"""The first bytes of each row: an array that begins with an identifier, whose first element has 16 bytes."""
HEAD_BYTES: Final = len(HEAD) + 16

_WRONG: Final = -1
_PLACE: Final = pa.int32()


def _widths(by_tag: dict[int, int], in_tag: range) -> pa.Array:
    return pa.array([0 if tag in in_tag else by_tag.get(tag, _WRONG) for tag in range(256)], _PLACE)


_INT: Final = _widths({0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}, range(0x80))
_BYTES: Final = _widths({0xC4: 1, 0xC5: 2, 0xC6: 4}, range(0))
_TEXT: Final = _widths({0xD9: 1, 0xDA: 2, 0xDB: 4}, range(0xA0, 0xC0))
"""For the tag of each element, the bytes of the number after the tag; 0 if the number is in the tag."""
_IN_INT, _IN_BYTES, _IN_TEXT = (pa.scalar(bits, pa.uint8()) for bits in (0x7F, 0, 0x1F))
"""The bits of a tag that are a number."""
_UNSIGNED: Final = {2: ("H", pa.uint16()), 4: ("I", pa.uint32()), 8: ("Q", pa.uint64())}
_take, _add, _subtract, _and, _or, _shift, _choose, _equal, _less, _lower, _limits = (
    pc.get_function(name).call
    for name in (
        "take", "add_checked", "subtract", "bit_wise_and", "bit_wise_or", "shift_left", "if_else", "equal",
        "less", "min_element_wise", "min_max",
    )
)  # fmt: skip
"""Functions of Arrow without the checks of their Python callers: they are called for every batch."""
_ONE: Final = pa.scalar(1, _PLACE)
_HEAD: Final = pa.scalar(HEAD_BYTES, _PLACE)
_NONE: Final = pa.scalar(0, _PLACE)
_ZERO, _EIGHT = pa.scalar(0, pa.uint64()), pa.scalar(8, pa.uint64())


class Spans(NamedTuple):
    """The position of a value in the buffer, for each row."""

    starts: pa.Array
    ends: pa.Array


class RowParts:
    """The parts of at least one row, as arrays; StoreDamage for bytes that are no row of a message."""

    def __init__(self, records: Sequence[bytes | memoryview], begin: int = 0) -> None:
        """`begin` is the position in each of the bytes at which its row begins."""
        self._rows = rows = _Rows(records, begin)
        try:
            heads = rows.span(_HEAD)
            self.numbers = rows.number(_INT, _IN_INT)
            """The numbers of the identifiers."""
            self._bodies = rows.span(rows.size(_BYTES, _IN_BYTES))
            self._labels = rows.span(rows.size(_TEXT, _IN_TEXT))
            tails = rows.rest()
        except (pa.ArrowInvalid, IndexError) as why:
            raise _damage("it is cut off") from why
        self.tails = rows.cut_out(tails, pa.binary()).dictionary_encode()
        """The rest of each row."""
        self._heads = rows.cut_out(heads, pa.binary()).dictionary_encode()
        if not all(each.startswith(HEAD) for each in self._heads.dictionary.to_pylist()):
            raise _damage("it is not an array of the fields of a message")

    @cached_property
    def lineages(self) -> tuple[list[bytes], pa.Array]:
        """The different lineages of the identifiers, and for each row the index of its own."""
        return [each[len(HEAD) :] for each in self._heads.dictionary.to_pylist()], self._heads.indices

    @cached_property
    def bodies(self) -> pa.Array:
        """The bodies; the body of a message that is stored in pieces is empty."""
        return self._rows.cut_out(self._bodies, pa.binary())

    @cached_property
    def body_sizes(self) -> pa.Array:
        """The number of bytes of each body."""
        return _subtract([self._bodies.ends, self._bodies.starts])

    @cached_property
    def labels(self) -> pa.Array:
        """The labels of the messages, one for each row; they are extracted when first requested."""
        return self._rows.cut_out(self._labels, pa.string())


class _Rows:
    """Many rows in one buffer, and a read position in each."""

    def __init__(self, records: Sequence[bytes | memoryview], begin: int) -> None:
        self._buffer = pa.py_buffer(b"".join(records))
        self._bytes = pa.Array.from_buffers(pa.uint8(), self._buffer.size, [None, self._buffer])
        sizes = pa.array(list(map(len, records)), _PLACE)
        self._ends = pc.cumulative_sum(sizes)
        self._at = _add([_subtract([self._ends, sizes]), pa.scalar(begin, _PLACE)])

    def size(self, widths: pa.Array, in_tag: pa.Scalar) -> pa.Array:
        """Return the size of the element that each row has here, and step to its first byte."""
        return self.number(widths, in_tag).cast(_PLACE)

    def number(self, widths: pa.Array, in_tag: pa.Scalar) -> pa.Array:
        """Return the number that each row has here, and step over it."""
        tags = self._step()
        width = _take([widths, tags])
        narrowest, widest = _range_of(width)
        if narrowest == _WRONG:
            raise _damage("an element has another type")
        if widest == 0:
            return _and([tags, in_tag])
        if narrowest == widest == 1:
            return self._step()
        if narrowest == widest:
            return self._wide(widest)
        return self._mixed(_and([tags, in_tag]), width, widest)

    def _wide(self, width: int) -> pa.Array:
        """Return the number of `width` bytes, the highest first, that each row has here."""
        code, kind = _UNSIGNED[width]
        there = self.span(pa.scalar(width, _PLACE))
        if _range_of(there.ends)[1] > len(self._bytes):
            raise _damage("it is cut off")
        found = self.cut_out(there, pa.binary())
        numbers = array(code, found.buffers()[2].to_pybytes())
        if sys.byteorder == "little":
            numbers.byteswap()
        return pa.Array.from_buffers(kind, len(found), [None, pa.py_buffer(numbers)])

    def _mixed(self, in_tags: pa.Array, width: pa.Array, widest: int) -> pa.Array:
        """Return the number of each row, if rows have numbers of several widths."""
        value = _choose([_equal([width, _NONE]), in_tags.cast(pa.uint64()), _ZERO])
        last = pa.scalar(len(self._bytes) - 1, _PLACE)
        for index in range(widest):
            step = pa.scalar(index, _PLACE)
            lowest = _take([self._bytes, _lower([_add([self._at, step]), last])]).cast(pa.uint64())
            value = _choose([_less([step, width]), _or([_shift([value, _EIGHT]), lowest]), value])
        self._at = _add([self._at, width])
        return value

    def span(self, size: pa.Array | pa.Scalar) -> Spans:
        """Step over `size` bytes, and return their positions."""
        starts = self._at
        self._at = _add([starts, size])
        return Spans(starts, self._at)

    def rest(self) -> Spans:
        """Return the position of the rest of each row.

        The rest must not be empty, so all steps were within the rows.
        """
        if _range_of(_subtract([self._ends, self._at]))[0] <= 0:
            raise _damage("it is cut off")
        return Spans(self._at, self._ends)

    def cut_out(self, spans: Spans, kind: pa.DataType) -> pa.Array:
        """Return an array with a copy of the values.

        Values and the bytes between them are an array without any copy; each second element of it is taken.
        """
        count = len(spans.starts)
        order, even = _alternating(count)
        offsets = _take([pa.concat_arrays([spans.starts, spans.ends]), order])
        buffers = [None, offsets.buffers()[1], self._buffer]
        return _take([pa.Array.from_buffers(kind, 2 * count - 1, buffers), even])

    def _step(self) -> pa.Array:
        """Return the byte at the position of each row, and step over it."""
        found = _take([self._bytes, self._at])
        self._at = _add([self._at, _ONE])
        return found


@lru_cache(maxsize=4)
def _alternating(count: int) -> tuple[pa.Array, pa.Array]:
    """Return the indexes that alternate between two halves of 2 * count, and the even numbers below that."""
    order = [index for each in range(count) for index in (each, count + each)]
    return pa.array(order, _PLACE), pa.array(range(0, 2 * count, 2), _PLACE)


def _range_of(values: pa.Array) -> tuple[int, int]:
    found = _limits([values])
    return found["min"].as_py(), found["max"].as_py()


def _damage(why: str) -> StoreDamage:
    return StoreDamage(f"a message row does not decode: {why}")
