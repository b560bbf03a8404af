"""The special addresses of both versions of WS-Addressing are distinguished from those of peers."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.addressing import (
    ANONYMOUS,
    NONE,
    POLLED,
    is_anonymous,
    is_none,
    is_polled,
)
from reliquary.protocols.wsrm.codec.values import Addressing


@pytest.mark.parametrize(
    ("address", "kinds"),
    [
        (ANONYMOUS[Addressing.WSA10], (True, False, False)),
        (ANONYMOUS[Addressing.WSA2004], (True, False, False)),
        (NONE, (False, True, False)),
        (f"{POLLED}550e8400-e29b-11d4-a716-446655440000", (False, False, True)),
        (POLLED, (False, False, False)),
        ("http://host/wsrm/orders", (False, False, False)),
        ("", (False, False, False)),
    ],
)
def test_an_address_is_of_one_kind(address: str, kinds: tuple[bool, bool, bool]) -> None:
    assert (is_anonymous(address), is_none(address), is_polled(address)) == kinds
