"""Tests of the state of MQQB and its sessions."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import Instant
from reliquary.protocols.mqqb.sessions.phases import Phase
from reliquary.protocols.mqqb.state import Entry, Identity, Session, Weight
from reliquary.queueing.model.message import NO_GUID
from reliquary.streams.tables import Ordinals
from tests.protocols.mqqb.mqqb_harness import MqqbBench

ONE, OTHER = UUID(int=1), UUID(int=2)


def test_a_guid_means_this_manager_if_it_is_zero_or_one_of_its_own() -> None:
    identity = Identity(ONE, OTHER, "HERE")
    assert [identity.covers(guid) for guid in (NO_GUID, ONE, OTHER, UUID(int=3))] == [True, True, True, False]


@pytest.mark.parametrize(("own", "peers", "room"), [(64, 16, 16), (16, 64, 16), (64, 0, 1)])
def test_the_smaller_window_counts(own: int, peers: int, room: int) -> None:
    session = Session(1, Phase.OPEN, Instant(0), window=own, peer_window=peers)
    assert session.room == room


def test_a_session_is_drained_when_nothing_is_under_way() -> None:
    session = Session(-1, Phase.OPEN, Instant(0))
    assert session.accepted
    assert session.is_drained
    session.outbox.append(Entry(Weight.EXPRESS))
    assert not session.is_drained


@pytest.mark.spec("QB-094", "QB-096", "QB-110", "QB-147")
def test_a_first_start_knows_nothing() -> None:
    state = MqqbBench().mqqb
    assert (state.sent, state.incoming, state.history.durable, state.history.express) == ({}, {}, {}, {})
    assert (state.sessions, state.cookie, state.ordinals) == ({}, 0, Ordinals())
