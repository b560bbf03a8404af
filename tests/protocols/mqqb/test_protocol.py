"""Tests MQQB as a protocol of a queue manager."""

from __future__ import annotations

from reliquary.protocols.mqqb.effects import Dial, HangUp
from reliquary.protocols.mqqb.events import DialFailed
from reliquary.protocols.mqqb.protocol import mqqb
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.queueing.model.names.formats import parse_single
from reliquary.queueing.travel.failures import Failure

NAME = parse_single("DIRECT=OS:host\\private$\\q")


def test_a_protocol_that_is_switched_off_claims_no_name_and_keeps_its_tables() -> None:
    off, on = mqqb(None), mqqb(MqqbSettings())
    assert off.carrier is not None
    assert on.carrier is not None
    assert not off.carrier.claims(NAME)
    assert on.carrier.claims(NAME)
    assert off.tables == on.tables


def test_no_host_is_reached_without_a_network() -> None:
    protocol = mqqb(MqqbSettings())
    answer = protocol.unplugged[Dial](Dial(3, "host", 1801))
    assert isinstance(answer, DialFailed)
    assert (answer.session, answer.failure) == (3, Failure.NO_CONNECTION)
    assert protocol.unplugged[HangUp](HangUp(3)) is None
