"""Tests protocols beside a queue manager: their claims are exclusive, and effects that need a network are
answered."""

from __future__ import annotations

from typing import Any, cast

import pytest

from reliquary.base.time import Instant
from reliquary.base.turn import DirectedSignal, Event, Signal, Turn
from reliquary.engine.core import Core
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.engine.protocols import assemble, tables_of, unplugged
from reliquary.protocols.httpr.effects import CutConnection, HangUp
from reliquary.protocols.httpr.protocol import httpr
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post, SendApdu
from reliquary.protocols.srmp.events import PostEnded
from reliquary.protocols.srmp.protocol import srmp
from reliquary.protocols.standard import ALL_TABLES, standard
from reliquary.queueing.manager import TAKES, TIMERS
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.tables import TABLES
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.travel.failures import Failure
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from tests.queueing.manager_harness import NOON, Seeded


class Came(Event, frozen=True):
    """An event of a protocol."""


class ToOne(DirectedSignal, frozen=True):
    """A signal for one machine."""


class ToAll(Signal, frozen=True):
    """A signal that goes to every machine."""


class RecordingMachine:
    """A machine that notes each signal, and sends the signals of an event."""

    def __init__(self) -> None:
        self.heard: list[Signal] = []
        self.says: tuple[Signal, ...] = ()

    def handle(self, event: Event, now: Instant) -> Turn:
        del event, now
        return Turn(signals=self.says)

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        del now
        self.heard.append(signal)
        return Turn()

    def settle(self) -> None: ...


def protocol(name: str, **more: Any) -> Protocol:
    return Protocol(
        **{"name": name, "machine": lambda _: RecordingMachine(), "signals": (ToOne, ToAll), **more}
    )


def built(*protocols: Protocol) -> tuple[Core, list[RecordingMachine]]:
    disk = MemoryDisk(tables_of(protocols))
    made = assemble(disk, StagedRows(disk), Seeded(1), protocols)
    return made.core, [cast("RecordingMachine", each) for each in made.machines.values()]


# -- what a protocol claims


def test_a_directed_signal_reaches_the_machine_that_it_names_and_no_other() -> None:
    core, (one, two) = built(protocol("one", takes=(Came,)), protocol("two"))
    one.says = (ToOne("two"), ToAll())
    core.turn(Came(), NOON)
    assert (one.heard, two.heard) == ([ToAll()], [ToOne("two"), ToAll()])


def test_a_machine_need_not_take_every_directed_signal_and_an_unknown_machine_is_a_programming_error() -> (
    None
):
    core, (one, two) = built(protocol("one", takes=(Came,)), protocol("two", signals=()))
    one.says = (ToOne("two"),)
    core.turn(Came(), NOON)
    assert two.heard == []
    one.says = (ToOne("missing"),)
    with pytest.raises(AssertionError, match="no machine is called missing"):
        core.turn(Came(), NOON)


@pytest.mark.parametrize(
    "claim",
    [{"takes": (Came,)}, {"timers": ("tick",)}, {"tables": ("rows",)}],
    ids=["an event", "a timer", "a table"],
)
def test_two_machines_that_claim_one_type_are_a_programming_error_at_the_start(claim: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="claim"):
        built(protocol("one", **claim), protocol("two", **claim))


@pytest.mark.parametrize("claim", [{"takes": TAKES[:1]}, {"timers": TIMERS[:1]}, {"tables": TABLES[:1]}])
def test_nothing_of_the_managers_can_be_claimed(claim: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="claim"):
        built(protocol("one", **claim))


def test_two_protocols_that_claim_one_effect_are_a_programming_error() -> None:
    claims = (protocol(name, unplugged={Post: lambda _: None}) for name in ("one", "two"))
    with pytest.raises(AssertionError, match="claim the effect"):
        unplugged(cast("Engine", Inbox()), claims)


def test_two_protocols_have_two_names() -> None:
    with pytest.raises(AssertionError, match="called one"):
        built(protocol("one"), protocol("one"))


def test_a_carrier_is_called_as_its_machine_is() -> None:
    with pytest.raises(AssertionError, match="is not named one"):
        protocol("one", carrier=Carrier(name="other", claims=lambda _: False))


def test_the_folder_of_a_manager_holds_the_tables_of_all_protocols() -> None:
    assert tables_of(standard()) == ALL_TABLES
    assert set(ALL_TABLES) > set(TABLES)


# -- without a network


class Inbox:
    """The part of an engine that takes events."""

    def __init__(self, *, stopped: bool = False) -> None:
        self.came: list[object] = []
        self.stopped = stopped

    def submit(self, event: object) -> None:
        if self.stopped:
            raise EngineStopped("it has stopped")
        self.came.append(event)


def performed(inbox: Inbox, effect: Any) -> None:
    unplugged(cast("Engine", inbox), (srmp(), httpr()))[type(effect)](effect)


POST = Post(7, 2, 5, "http://h", "h", "/msmq/q", "text/xml", b"")
APDU = SendApdu(8, 3, 6, "234.1.1.1:8001", b"")
NO_NETWORK = "there is no network in this process"


def test_what_would_be_sent_has_no_connection() -> None:
    inbox = Inbox()
    performed(inbox, POST)
    performed(inbox, APDU)
    assert inbox.came == [
        PostEnded(7, 2, 5, 0, Failure.NO_CONNECTION, NO_NETWORK),
        PostEnded(8, 3, 6, 0, Failure.NO_CONNECTION, NO_NETWORK),
    ]


def test_what_needs_no_answer_gets_none() -> None:
    inbox = Inbox()
    for effect in (EndSession(7, 2), ListenTo(frozenset({"234.1.1.1:8001"})), HangUp(1, 2), CutConnection(3)):
        performed(inbox, effect)
    assert inbox.came == []


def test_an_engine_that_stops_gets_no_event() -> None:
    performed(Inbox(stopped=True), POST)
