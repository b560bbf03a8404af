"""Tests that the machine has a rule for every event, signal and timer."""

from __future__ import annotations

import pytest

from reliquary.base.turn import DirectedSignal, Effect, Event, Signal
from reliquary.protocols.mqqb import effects, events, machine
from reliquary.protocols.mqqb.protocol import mqqb
from reliquary.protocols.mqqb.sender.sending import SendsDue
from reliquary.queueing.manager import SIGNALS
from reliquary.queueing.model.travel import transfer
from tests.protocols.mqqb.mqqb_harness import GOES_OUT, MqqbBench

BATCHES = {transfer.MessagesWaiting, transfer.MessagesReserved, transfer.BatchJudged, transfer.RoomKnown}


def defined(module: object, kind: type) -> set[type]:
    """Return the classes of a kind that a module defines."""
    return {each for each in vars(module).values() if isinstance(each, type) and issubclass(each, kind)}


def test_every_event_of_the_room_has_a_rule() -> None:
    assert defined(events, Event) - {Event} == set(machine.TAKES)


def test_every_effect_of_the_room_is_performed_or_answered_without_a_network() -> None:
    asked = defined(effects, Effect) - {Effect}
    assert asked == set(GOES_OUT) == set(mqqb().unplugged)


def test_every_signal_of_the_manager_to_carriers_has_a_rule() -> None:
    words = defined(transfer, Signal) - {Signal, DirectedSignal} - set(SIGNALS)
    assert words - BATCHES - {transfer.ListenersChanged} == set(machine.SIGNALS) - {SendsDue}


def test_packets_of_a_turn_are_one_effect_for_each_session() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    before = peer.state.serial
    peer.send(*(peer.made(b"%d" % number) for number in range(64)))
    assert peer.state.serial > before
    assert bench.mqqb.unsent == {}


@pytest.mark.spec("QB-135")
def test_every_timer_of_sessions_and_streams_has_a_rule() -> None:
    """The manager has the timer for the retry of connections; identifiers of the history have an age."""
    assert set(machine.TIMERS) == {
        "mqqb-initialization",
        "mqqb-cleanup",
        "mqqb-ack-wait",
        "mqqb-ack-send",
        "mqqb-order-ack",
        "mqqb-order-wait",
    }
