"""A protocol that brings only what it must: the plugin's defaults are enough to test it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

import msgspec
import pytest

from reliquary.base.rows import Rows, Table, every
from reliquary.base.turn import Effect, Event, Fact, Reply, Signal, Turn
from reliquary.engine.core import Batch
from reliquary.queueing.message import Message
from reliquary.queueing.naming.formats import DirectName, SingleName, parse_single
from reliquary.queueing.naming.schemes import OS
from reliquary.queueing.protocol import Protocol
from reliquary.queueing.travel.carriers import Carrier
from reliquary.queueing.travel.link import ConnectionStatus, Happening
from reliquary.queueing.travel.transfer import (
    ArrivalJudged,
    ConnectionChanged,
    ConnectionWanted,
    MessageArrived,
    Outcome,
    SendUserMessage,
    TransferEnded,
)
from reliquary.sim.process import Process
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.requests import Ending, Request
from reliquary.sim.world.run import simulate

SEEDS = range(1, 5)
MUTANT_SEEDS = range(1, 41)


class Row(msgspec.Struct, frozen=True):
    """A message that was delivered."""


RECEIVED: Table[Row] = Table("ferry_received", Row)


class Carry(Effect, frozen=True):
    """Carry a message to the manager that its destination names."""

    queue: int
    lookup_id: int
    destination: str
    message: Message


class Carried(Event, frozen=True):
    """A message has arrived."""

    to: int
    key: bytes
    path: str
    message: Message


class CarryEnded(Event, frozen=True):
    """A message was delivered, or the attempt has failed."""

    queue: int
    lookup_id: int
    delivered: bool


class Received(Fact, frozen=True):
    """A message was delivered, and is not accepted a second time."""

    key: bytes


class FerryState:
    """What the machine knows."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.received = {key for key, _ in every(rows, RECEIVED)}
        self.callers: dict[int, tuple[int, bytes]] = {}


class Ferry:
    """A carrier that sends each message until it was delivered once."""

    def __init__(self, rows: Rows) -> None:
        self.state = FerryState(rows)

    def handle(self, event: Event, now: object) -> Turn:
        del now
        if isinstance(event, CarryEnded):
            outcome = Outcome.DELIVERED if event.delivered else Outcome.TRY_LATER
            return Turn(signals=(TransferEnded(event.queue, (event.lookup_id,), outcome),))
        assert isinstance(event, Carried)
        if self.knows(event.key):
            return Turn(effects=(Reply(event.to, Outcome.DELIVERED),), waits=True)
        self.state.callers[event.to] = (event.to, event.key)
        return Turn(signals=(MessageArrived("ferry", (event.to, 0), event.path, event.message),))

    def knows(self, key: bytes) -> bool:
        return key in self.state.received

    def hear(self, signal: Signal, now: object) -> Turn:
        del now
        match signal:
            case ConnectionWanted(queue=queue):
                status = ConnectionStatus.ESTABLISHED
                return Turn(signals=(ConnectionChanged(queue, Happening.CONNECTED, status),))
            case SendUserMessage():
                carry = Carry(signal.queue, signal.lookup_id, signal.destination, signal.message)
                return Turn(effects=(carry,))
            case ArrivalJudged():
                return self.answer(signal)
            case _:
                raise AssertionError(signal)

    def answer(self, judged: ArrivalJudged) -> Turn:
        to, key = self.state.callers.pop(judged.ticket[0])
        reply = Reply(to, judged.outcome)
        if judged.outcome is not Outcome.DELIVERED:
            return Turn(effects=(reply,))
        self.state.received.add(key)
        self.state.rows.put(RECEIVED, key, Row())
        return Turn(facts=(Received(key),), effects=(reply,))

    def settle(self) -> None:
        """Everything is staged in its turn."""


def claims(name: SingleName) -> bool:
    return isinstance(name, DirectName) and name.scheme is OS


def ferry(machine: Callable[[Rows], Ferry] = Ferry) -> Protocol:
    return Protocol(
        name="ferry",
        machine=machine,
        tables=(RECEIVED.name,),
        hears=(ConnectionWanted, SendUserMessage, ArrivalJudged),
        takes=(Carried, CarryEnded),
        carrier=Carrier(name="ferry", claims=claims),
        unplugged={Carry: lambda carry: CarryEnded(carry.queue, carry.lookup_id, delivered=False)},
    )


class FerryPlugin(Plugin):
    """All that the world has to know of the ferry."""

    name: ClassVar[str] = "ferry"

    def protocol(self, site: str) -> Protocol:
        del site
        return ferry()

    def request(self, effect: Effect) -> Request:
        assert isinstance(effect, Carry)
        name = parse_single(effect.destination)
        assert isinstance(name, DirectName)
        key = effect.message.body
        return Request(
            server=name.host,
            arrives=lambda to: Carried(to, key, f".\\{name.path}", effect.message),
            ended=partial(ended, effect),
        )

    def queue_name(self, site: str, queue: str) -> str:
        return f"DIRECT=OS:{site}\\private$\\{queue}"

    def durable_state(self, state: FerryState) -> Mapping[str, object]:
        return {"received": state.received}


def ended(carry: Carry, ending: Ending) -> CarryEnded:
    return CarryEnded(carry.queue, carry.lookup_id, ending.answer is Outcome.DELIVERED)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_small_protocol_keeps_its_promises(seed: int) -> None:
    report = simulate(seed, [FerryPlugin])
    assert not report.failure, str(report)
    assert report.received


class AcceptsTwice(Ferry):
    """Does not know what it has received."""

    def knows(self, key: bytes) -> bool:
        del key
        return False


class AcceptsNothing(Ferry):
    """Confirms messages and does not store them."""

    def knows(self, key: bytes) -> bool:
        del key
        return True


class Forgets(Ferry):
    """Writes nothing down."""

    def answer(self, judged: ArrivalJudged) -> Turn:
        to, key = self.state.callers.pop(judged.ticket[0])
        self.state.received.add(key)
        return Turn(effects=(Reply(to, judged.outcome),))


class NeverRetries(Ferry):
    """Takes no notice of a failed attempt."""

    def handle(self, event: Event, now: object) -> Turn:
        if isinstance(event, CarryEnded) and not event.delivered:
            return Turn()
        return super().handle(event, now)


class LeavesEarly(Process):
    """Performs effects before their batch is on disk."""

    def _settle(self, batch: Batch) -> None:
        self._perform(batch.after_sync)
        batch.after_sync = []
        super()._settle(batch)


@pytest.mark.parametrize(
    ("machine", "process", "failure"),
    [
        (AcceptsTwice, Process, "duplication"),
        (AcceptsNothing, Process, "loss"),
        (Forgets, Process, "recovery"),
        (NeverRetries, Process, "left behind"),
        (Ferry, LeavesEarly, "visible too early"),
    ],
)
def test_the_default_checks_find_a_broken_protocol(
    machine: type[Ferry], process: type[Process], failure: str
) -> None:
    class Broken(FerryPlugin):
        def protocol(self, site: str) -> Protocol:
            del site
            return ferry(machine)

    reports = (simulate(seed, [Broken], process=process) for seed in MUTANT_SEEDS)
    found = next((report.failure for report in reports if report.failure), "nothing was found")
    assert found.startswith(failure), found
