"""MQQP as a protocol beside the manager: what it claims is what its machine handles."""

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


def test_it_takes_what_its_machine_has_rules_for() -> None:
    assert (PROTOCOL.signals, PROTOCOL.takes) == (machine.SIGNALS, machine.TAKES)
    assert (PROTOCOL.timers, PROTOCOL.tables) == (machine.TIMERS, TABLES)


def test_it_reads_elsewhere_only_where_it_was_given_settings() -> None:
    assert PROTOCOL.reader is None
    assert mqqp(MqqpSettings()).reader is READER
    assert PROTOCOL.carrier is None, "it brings no messages"


def test_each_of_its_effects_is_answered_where_there_is_no_network() -> None:
    assert set(PROTOCOL.unplugged) == effects_of(effects)
    lost = PROTOCOL.unplugged[CallServer](CallServer(7, 1, "far", 0, GetVersion()))
    assert isinstance(lost, LinkLost)
    assert (lost.link, lost.failure) == (7, Failure.NO_CONNECTION)
