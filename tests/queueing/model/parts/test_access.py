"""Verdicts on rights are remembered, up to a limit."""

from __future__ import annotations

from reliquary.queueing.model.parts.access import Verdicts
from reliquary.queueing.model.security.principals import MANAGER


def test_verdicts_do_not_grow_without_end() -> None:
    verdicts = Verdicts()
    for number in range(Verdicts.LIMIT + 1):
        verdicts.add((number, MANAGER, 0))
    assert verdicts == {(Verdicts.LIMIT, MANAGER, 0)}
