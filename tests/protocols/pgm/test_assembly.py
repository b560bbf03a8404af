"""Fragments of several packets are joined to one APDU."""

from __future__ import annotations

import pytest

from reliquary.protocols.pgm.assembly import Assembly, Broken, Incomplete
from reliquary.wire.pgm.options import Fragment
from reliquary.wire.pgm.packets import Data, Tsi

TSI = Tsi(b"source", 1)


def whole(payload: bytes) -> Data:
    return Data(TSI, 1, 1, 1, payload)


def part(payload: bytes, offset: int, length: int, first: int = 10) -> Data:
    return Data(TSI, 1, 10 + offset, 1, payload, fragment=Fragment(first, offset, length))


def test_a_packet_without_a_fragment_is_an_apdu() -> None:
    assert Assembly(100).add(whole(b"all")) == b"all"


def test_fragments_become_one_apdu() -> None:
    assembly = Assembly(100)
    assert assembly.add(part(b"abc", 0, 7)) is None
    assert assembly.size == 3
    assert assembly.add(part(b"def", 3, 7)) is None
    assert assembly.add(part(b"g", 6, 7)) == b"abcdefg"
    assert assembly.size == 0


def test_an_apdu_may_be_one_fragment() -> None:
    assert Assembly(100).add(part(b"all", 0, 3)) == b"all"


def test_the_rest_of_an_apdu_whose_beginning_never_came_is_passed_over() -> None:
    assembly = Assembly(100)
    assert assembly.add(part(b"def", 3, 6)) is None
    assert assembly.add(whole(b"next")) == b"next"


@pytest.mark.spec("SR-013")
@pytest.mark.parametrize("data", [whole(bytes(101)), part(b"abc", 0, 101)], ids=["whole", "in parts"])
def test_an_apdu_that_is_too_large_is_not_begun(data: Data) -> None:
    assembly = Assembly(100)
    with pytest.raises(Broken, match="larger than 100"):
        assembly.add(data)
    assert assembly.size == 0


@pytest.mark.parametrize(
    "data",
    [part(b"x", 4, 7), part(b"x", 3, 8), part(b"x", 3, 7, first=11)],
    ids=["a hole", "another length", "another APDU"],
)
def test_a_fragment_that_does_not_continue_is_refused(data: Data) -> None:
    assembly = Assembly(100)
    assembly.add(part(b"abc", 0, 7))
    with pytest.raises(Broken, match="does not continue"):
        assembly.add(data)
    assert assembly.size == 0


def test_an_apdu_that_begins_too_early_is_kept_and_the_other_reported() -> None:
    assembly = Assembly(100)
    assembly.add(part(b"abc", 0, 7))
    with pytest.raises(Incomplete, match="after 3 bytes") as raised:
        assembly.add(whole(b"next"))
    assert raised.value.apdu == b"next"
    assembly.add(part(b"abc", 0, 7))
    with pytest.raises(Incomplete) as raised:
        assembly.add(part(b"de", 0, 3))
    assert raised.value.apdu is None
    assert assembly.add(part(b"f", 2, 3)) == b"def"
