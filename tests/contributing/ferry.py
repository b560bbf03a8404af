"""The ferry: a small protocol, written after docs/contributing/add-a-protocol.md and nothing else.

    DIRECT=FERRY://there/private$/orders
    Carry --POST /ferry/--> Carried --> MessageArrived ... ArrivalJudged --> 200 --> CarryEnded

It carries one message at a time over HTTP and delivers it once: it remembers the names of the messages that
it has delivered, in a table of its own, in one write with the message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec

from reliquary.base.rows import Rows, Table, every
from reliquary.base.ruled import Ruled
from reliquary.base.time import Instant, seconds
from reliquary.base.turn import Draft, Effect, Event, Fact, Reply
from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import OpenedEngine
from reliquary.net.http import HttpClient, Mount, Request, RequestFailed, Responder
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.names.formats import DirectName, SingleName, parse_single
from reliquary.queueing.model.names.schemes import Scheme, register
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    ArrivalJudged,
    ConnectionChanged,
    ConnectionWanted,
    MessageArrived,
    Outcome,
    SendUserMessage,
    TransferEnded,
)
from reliquary.server.config import Settings
from reliquary.server.endpoint import Endpoint, Parts, ServerProtocol

NAME: Final = "ferry"
FERRY: Final = register(
    Scheme("FERRY", "80", lambda path: path.removeprefix("/").replace("/", "\\"), opaque=True)
)

# -- 1. the machine: tables, facts, events, effects, rules


class Row(msgspec.Struct, frozen=True):
    """A message was delivered; its name is the key."""


DELIVERED: Final[Table[Row]] = Table("ferry_delivered", Row)


class MessageDelivered(Fact, frozen=True):
    """A message is in its queue, and is not accepted a second time."""

    key: bytes


class Carry(Effect, frozen=True):
    """Carry a message to the manager that its destination names."""

    queue: int
    lookup_id: int
    destination: str
    message: Message


class Carried(Event, frozen=True):
    """A message has come from another server."""

    to: int
    destination: str
    message: Message


class CarryEnded(Event, frozen=True):
    """A message was delivered, or the attempt failed."""

    queue: int
    lookup_id: int
    delivered: bool


class State:
    """The state of the machine: what was delivered and what arrives."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.draft = Draft()
        self.delivered = {key for key, _ in every(rows, DELIVERED)}
        self.arriving: dict[int, tuple[int, bytes]] = {}
        """Messages that the manager judges in this turn: the caller and the key, by ticket."""


class Ferry(Ruled[State]):
    """The machine; its state is rebuilt from its rows."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(
            State(rows),
            {Carried: self.on_carried, CarryEnded: on_ended},
            {ConnectionWanted: on_wanted, SendUserMessage: on_send, ArrivalJudged: self.on_judged},
            {},
        )

    def on_carried(self, state: State, event: Carried, now: Instant) -> None:
        """Confirm a message that was delivered before; hand any other to the manager."""
        del now
        key = event.message.body
        if self.knows(key):
            state.draft.wait()
            state.draft.ask(Reply(event.to, Outcome.DELIVERED))
            return
        state.arriving[event.to] = (event.to, key)
        name = parse_single(event.destination)
        assert isinstance(name, DirectName)
        state.draft.signal(MessageArrived(NAME, (event.to, 0), f".\\{name.queue_path}", event.message))

    def knows(self, key: bytes) -> bool:
        """Return whether a message was delivered before."""
        return key in self.state.delivered

    def on_judged(self, state: State, signal: ArrivalJudged, now: Instant) -> None:
        """Remember a message that the manager took, in one write with it, and answer after its sync."""
        del now
        to, key = state.arriving.pop(signal.ticket[0])
        if signal.outcome is Outcome.DELIVERED:
            state.delivered.add(key)
            state.rows.put(DELIVERED, key, Row())
            state.draft.state(MessageDelivered(key))
        state.draft.ask(Reply(to, signal.outcome))


def on_wanted(state: State, signal: ConnectionWanted, now: Instant) -> None:
    """Say that there is a connection: each message makes its own."""
    del now
    state.draft.signal(ConnectionChanged(signal.queue, OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED))


def on_send(state: State, signal: SendUserMessage, now: Instant) -> None:
    """Ask the network to carry a message."""
    del now
    state.draft.ask(Carry(signal.queue, signal.lookup_id, signal.destination, signal.message))


def on_ended(state: State, event: CarryEnded, now: Instant) -> None:
    """Report to the manager what became of a message."""
    del now
    outcome = Outcome.DELIVERED if event.delivered else Outcome.TRY_LATER
    state.draft.signal(TransferEnded(event.queue, (event.lookup_id,), outcome, rest=seconds(0.05)))


# -- 2. the protocol: what it brings to a queue manager


def claims(name: SingleName) -> bool:
    """Return whether a destination is one of the ferry's."""
    return isinstance(name, DirectName) and name.scheme is FERRY


def ferry(machine: Callable[[Rows], Ferry] = Ferry) -> Protocol:
    """Return the ferry as a protocol that a manager can be opened with."""
    return Protocol(
        name=NAME,
        machine=machine,
        tables=(DELIVERED.name,),
        signals=(ConnectionWanted, SendUserMessage, ArrivalJudged),
        takes=(Carried, CarryEnded),
        carrier=Carrier(name=NAME, claims=claims),
        unplugged={Carry: lambda carry: CarryEnded(carry.queue, carry.lookup_id, delivered=False)},
    )


# -- 3. the endpoint: how its effects leave a server, and how its events come


class Parcel(msgspec.Struct):
    """The destination and the message that one POST carries."""

    destination: str
    message: Message


@dataclass(slots=True)
class FerryEndpoint(Endpoint):
    """Posts parcels to `harbours`, and takes them under /ferry/."""

    opened: OpenedEngine
    harbours: Mapping[str, str]
    """The URL of each host."""
    sending: set[asyncio.Task[None]] = field(default_factory=set)

    def mounts(self) -> Sequence[Mount]:
        """Return the handler of POSTs to /ferry/."""
        return (Mount(prefix="/ferry/", handler=self.take),)

    def take(self, request: Request, responder: Responder) -> None:
        """Submit a parcel; its answer is the outcome."""
        parcel = msgspec.msgpack.decode(request.body, type=Parcel)
        caller = self.opened.engine.caller(partial(_answer, responder))
        self.opened.engine.submit(Carried(caller, parcel.destination, parcel.message))

    def carry(self, effect: Carry) -> None:
        """Begin to post the message of an effect."""
        task = asyncio.get_running_loop().create_task(self._post(effect))
        self.sending.add(task)
        task.add_done_callback(self.sending.discard)

    async def _post(self, effect: Carry) -> None:
        name = parse_single(effect.destination)
        assert isinstance(name, DirectName)
        body = msgspec.msgpack.encode(Parcel(effect.destination, effect.message))
        client, delivered = HttpClient(self.harbours[name.host]), False
        with suppress(RequestFailed):
            delivered = (await client.request("POST", "/ferry/", body)).status == 200
        await client.close()
        with suppress(EngineStopped):
            self.opened.engine.submit(CarryEnded(effect.queue, effect.lookup_id, delivered))

    def hang_up(self) -> None:
        """Cancel all POSTs that are under way."""
        for task in self.sending:
            task.cancel()


def _answer(responder: Responder, outcome: object) -> None:
    responder.respond(200 if outcome is Outcome.DELIVERED else 503, b"")


@dataclass(frozen=True, slots=True)
class FerrySetup:
    """The ferry in a server, before the folder is opened."""

    harbours: Mapping[str, str]
    anonymous_senders: bool = True

    @property
    def protocol(self) -> Protocol:
        """The machine and the carrier."""
        return ferry()

    def build(self, parts: Parts) -> FerryEndpoint:
        """Make the endpoint and let it perform the effects of the machine."""
        endpoint = FerryEndpoint(parts.opened, self.harbours)
        parts.opened.engine.performers[Carry] = endpoint.carry
        return endpoint


def in_a_server(harbours: Mapping[str, str]) -> ServerProtocol:
    """Return the ferry for a server, with the addresses of other servers."""

    def prepare(settings: Settings) -> FerrySetup:
        del settings
        return FerrySetup(harbours)

    return ServerProtocol(prepare=prepare)
