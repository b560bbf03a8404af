"""Tests WS-RM as a protocol beside the manager: what it claims is what its machine handles."""

from __future__ import annotations

from reliquary.protocols.wsrm import effects, machine
from reliquary.protocols.wsrm.effects import Post
from reliquary.protocols.wsrm.events import PostEnded
from reliquary.protocols.wsrm.protocol import wsrm
from reliquary.protocols.wsrm.tables import TABLES
from reliquary.queueing.travel.failures import Failure
from tests.protocols.protocol_bench import effects_of

PROTOCOL = wsrm()


def test_the_protocol_takes_the_events_of_its_machine() -> None:
    assert (PROTOCOL.signals, PROTOCOL.takes) == (machine.SIGNALS, machine.TAKES)
    assert (PROTOCOL.timers, PROTOCOL.tables) == (machine.TIMERS, TABLES)
    assert PROTOCOL.carrier is not None


def test_every_effect_is_answered_without_a_network() -> None:
    assert set(PROTOCOL.unplugged) == effects_of(effects)
    ended = PROTOCOL.unplugged[Post](Post(7, 2, 3, "http://h/", "text/xml", "", b""))
    assert isinstance(ended, PostEnded)
    assert (ended.connection, ended.epoch, ended.ticket, ended.failure) == (7, 2, 3, Failure.NO_CONNECTION)
