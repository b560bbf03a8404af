"""Envelopes are written as they are printed, and messages as envelopes."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.codec.decode import decode_envelope
from reliquary.protocols.srmp.codec.encode import write
from tests.protocols.srmp.codec.vector import VECTORS


@pytest.mark.spec("SR-014", "SR-272", "SR-282", "SR-289")
@pytest.mark.parametrize("name", VECTORS)
def test_what_was_read_is_written_to_the_same_bytes(name: str) -> None:
    vector = VECTORS[name]
    assert write(decode_envelope(vector.envelope)) == vector.envelope
