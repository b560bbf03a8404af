"""Every failure of a request has a status in the history of connections."""

from __future__ import annotations

from reliquary.queueing.model.travel.link import ConnectionStatus
from reliquary.queueing.travel.failures import FAILED_WITH, Failure


def test_every_failure_has_a_status_of_its_own() -> None:
    assert set(FAILED_WITH) == {None, *Failure}
    assert len(set(FAILED_WITH.values())) == len(FAILED_WITH)
    assert ConnectionStatus.ESTABLISHED not in FAILED_WITH.values()
