"""Tests the table of the handshake."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.sessions.phases import STEPS, PacketAction, PacketKind, Phase, kind_of
from reliquary.wire.packet.internal import EstablishConnection, SessionAck
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.user_message import UserMessage
from tests.protocols.mqqb.mqqb_harness import parameters_with


def test_no_case_is_missing() -> None:
    assert set(STEPS) == {(phase, kind) for phase in Phase for kind in PacketKind}
    assert set(STEPS.values()) == set(PacketAction)


@pytest.mark.spec("QB-023", "QB-024", "QB-025", "QB-028")
def test_each_packet_has_its_kind() -> None:
    packets = (EstablishConnection(), parameters_with(), SessionAck(SessionHeader()), UserMessage())
    assert [kind_of(each) for each in packets] == list(PacketKind)
