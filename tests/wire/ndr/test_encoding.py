"""Tests the two transfer syntaxes and their byte orders."""

from __future__ import annotations

from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding


def test_the_two_syntaxes_are_written_in_little_endian_order() -> None:
    assert Encoding() == NDR20
    assert NDR64.wide
    assert not NDR20.wide
    assert not NDR20.big_endian
    assert not NDR64.big_endian
