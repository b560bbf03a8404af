"""The statuses that a server sends, and those that it must not send."""

from __future__ import annotations

from reliquary.wire.rpc.statuses import NEVER_SENT, FaultStatus


def test_no_sent_status_is_one_that_must_not_be_sent() -> None:
    assert not NEVER_SENT & set(FaultStatus)
    assert len(NEVER_SENT) == 14
    assert 0 in NEVER_SENT
