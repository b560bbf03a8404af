"""Tests numbers with a range attribute."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqp.codec.methods import read_in_range
from reliquary.wire.ndr.encoding import NDR20
from reliquary.wire.ndr.reader import NdrFault, NdrReader


@pytest.mark.spec("QP-013")
@pytest.mark.parametrize("number", range(6))
def test_a_number_is_read_only_within_its_range(number: int) -> None:
    reader = NdrReader(number.to_bytes(4, "little"), NDR20)
    if 2 <= number <= 4:
        assert read_in_range(reader, "dwAny", 2, 4) == number
    else:
        with pytest.raises(NdrFault, match=f"dwAny is {number}, not 2 to 4"):
            read_in_range(reader, "dwAny", 2, 4)
