"""Tests MQQP as a protocol beside the manager: what it claims is what its machine handles."""

from __future__ import annotations

from reliquary.protocols.mqqp import effects, machine
from reliquary.protocols.mqqp.codec.qm2qm import GetVersion
from reliquary.protocols.mqqp.effects import CallServer
from reliquary.protocols.mqqp.events import LinkLost
from reliquary.protocols.mqqp.protocol import mqqp
from reliquary.protocols.mqqp.reader import READER
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.tables import TABLES
from reliquary.queueing.travel.failures import Failure
from tests.protocols.protocol_bench import effects_of

PROTOCOL = mqqp()


def test_the_protocol_takes_the_events_of_its_machine() -> None:
    assert (PROTOCOL.signals, PROTOCOL.takes) == (machine.SIGNALS, machine.TAKES)
    assert (PROTOCOL.timers, PROTOCOL.tables) == (machine.TIMERS, TABLES)


def test_remote_queues_are_read_only_with_settings() -> None:
    assert PROTOCOL.reader is None
    assert mqqp(MqqpSettings()).reader is READER
    assert PROTOCOL.carrier is None, "it brings no messages"


def test_every_effect_is_answered_without_a_network() -> None:
    assert set(PROTOCOL.unplugged) == effects_of(effects)
    lost = PROTOCOL.unplugged[CallServer](CallServer(7, 1, "far", 0, GetVersion()))
    assert isinstance(lost, LinkLost)
    assert (lost.link, lost.failure) == (7, Failure.NO_CONNECTION)
