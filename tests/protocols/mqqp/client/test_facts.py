"""Tests facts of the client: all of them must outlive a crash."""

from __future__ import annotations

from uuid import UUID

from reliquary.protocols.mqqp.client.facts import DoubtEnded, MessageDoubted
from reliquary.protocols.mqqp.client.tables import Doubt
from reliquary.queueing.model.message import ObjectId


def test_no_fact_may_be_forgotten_by_a_crash() -> None:
    identifier = ObjectId(UUID(int=1), 2)
    assert not MessageDoubted(Doubt("q", identifier, 3)).volatile
    assert not DoubtEnded("q", identifier).volatile
