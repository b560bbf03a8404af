"""The declaration of a protocol must be consistent."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.travel.carriers import Carrier, RemoteReader
from reliquary.queueing.travel.loopback import Loopback


@pytest.mark.parametrize(
    "part",
    [
        {"carrier": Carrier(name="other", claims=lambda _: True)},
        {"reader": RemoteReader(name="other", claims=lambda _: True)},
    ],
    ids=["carrier", "reader"],
)
def test_carrier_and_reader_have_the_name_of_their_machine(part: dict[str, object]) -> None:
    with pytest.raises(AssertionError, match="is not named one"):
        Protocol(name="one", machine=lambda _: Loopback(), **part)  # type: ignore[arg-type]
