"""Option extensions are encoded and decoded without loss."""

from __future__ import annotations

import pytest

from reliquary.wire.packet.fields import PacketFault, Reader
from reliquary.wire.pgm.options import NO_OPTIONS, Fragment, Options, Reset

LENGTH = "00 04 {:04x} "


def read(text: str) -> Options:
    raw = bytes.fromhex(text)
    reader = Reader(raw, 0, len(raw))
    found = Options.decode(reader)
    assert reader.at == len(raw)
    return found


@pytest.mark.parametrize(
    ("options", "text"),
    [
        pytest.param(
            Options(Fragment(1, 2, 3)), "00040014 81100000 00000001 00000002 00000003", id="fragment"
        ),
        pytest.param(Options(listed=(5, 6)), "00040010 820c0000 00000005 00000006", id="NAK list"),
        pytest.param(Options(join=7), "0004000c 83080000 00000007", id="join"),
        pytest.param(Options(syn=True, fin=True), "0004000c 0d040000 8e040000", id="syn and fin"),
        pytest.param(Options(reset=Reset(True, 9)), "00040008 8f040049", id="reset"),
        pytest.param(Options(reset=Reset(False, 0)), "00040008 8f040000", id="reset that still listens"),
    ],
)
@pytest.mark.spec("SR-006")
def test_each_option_is_encoded_and_decoded(options: Options, text: str) -> None:
    assert options.encode() == bytes.fromhex(text)
    assert read(text) == options


def test_no_options_are_no_bytes() -> None:
    assert NO_OPTIONS.encode() == b""


def test_an_option_that_is_not_known_is_passed_over() -> None:
    assert read("0004 0014 07 0c 0000 0001 0000 7f000001 8e040000") == Options(fin=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("00", "OPT_LENGTH takes 4 bytes"),
        ("01040008 8e040000", "first option is not OPT_LENGTH"),
        ("00040008 0e040000", "an option takes 4 bytes"),
        ("0004000c 8e040000", "say 12"),
        ("0004000c 8e040000 00000000", "have 8 bytes and say 12"),
        ("00040008 8e020000", "option 0x0e has 2 bytes"),
        ("0004000c 8e080000 00000000", "option 0x0e has 8 bytes"),
        ("00040008 83080000 00000000", "option 0x03 has 8 bytes"),
        ("00040010 810c0000 00000001 00000002", "option 0x01 has 12 bytes"),
        ("0004000c 0e040000 8e040000", "option 0x0e comes twice"),
        ("00040008 80040000", "OPT_LENGTH comes twice"),
        ("00040008 82040000", "1 to 62 numbers"),
        ("0004000a 82060000 0001", "1 to 62 numbers"),
        ("00040048" + "06040000" * 17, "more than 16"),
    ],
)
def test_what_is_no_option_is_refused(text: str, why: str) -> None:
    with pytest.raises(PacketFault, match=why):
        read(text)
