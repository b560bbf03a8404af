"""Every fact of the destination has a function that applies it."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm.destination import facts
from reliquary.protocols.wsrm.destination.apply import APPLIED


def test_every_fact_is_applied() -> None:
    defined = {each for each in vars(facts).values() if isinstance(each, type) and issubclass(each, Fact)}
    assert set(APPLIED) == defined - {Fact}
