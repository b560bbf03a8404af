"""Tests the identifiers of interfaces and of transfer syntaxes."""

from __future__ import annotations

import pytest

from reliquary.wire.ndr.encoding import NDR20, NDR64
from reliquary.wire.rpc.syntaxes import ENCODINGS, NDR20_SYNTAX, NDR64_SYNTAX, QM2QM


@pytest.mark.spec("QP-001")
@pytest.mark.mqqp("T01")
def test_the_interface_has_the_identifier_of_the_specification() -> None:
    assert QM2QM.uuid.bytes_le == bytes.fromhex("80a98810e5ead0118d9b00a02453c337")
    assert (QM2QM.major, QM2QM.minor) == (1, 0)


@pytest.mark.spec("QP-007")
@pytest.mark.mqqp("T03")
def test_both_transfer_syntaxes_are_supported() -> None:
    assert ENCODINGS == {NDR20_SYNTAX: NDR20, NDR64_SYNTAX: NDR64}
    assert NDR20_SYNTAX.uuid.bytes_le == bytes.fromhex("045d888aeb1cc9119fe808002b104860")
    assert NDR64_SYNTAX.uuid.bytes_le == bytes.fromhex("33057171babe37498319b5dbef9ccc36")
