r"""Two queue managers: applications here read queues there, and a test is the network between them.

two = TwoManagers()                         "orders" is there, and DIRECT=OS:far\private$\orders names it here
two.there.send("orders", b"a")              a message there
two.ask(ReceiveMessages(0, FAR))            an application here asks; its answer, or None while it waits
two.begin(ReceiveMessages(0, FAR, ...))     the number of the caller, to look for the answer with `answer_to`
two.asked(StartReceive2)                    the requests of this kind that went out, oldest first
two.script[EndReceive] = Silence.AFTER      what the server makes of requests of a kind, in place of the truth
two.lose()                                  the connections of all links break
two.advance(5)                              five seconds, here and there
two.restart()                               a new process here, over the disk of the old one
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
from itertools import count
from typing import Any, TypeVar

from reliquary.base.time import seconds
from reliquary.base.turn import Effect, Event, Turn
from reliquary.engine.protocols import assemble
from reliquary.protocols.mqqp.client.state import ClientState, Link
from reliquary.protocols.mqqp.codec.qm2qm import Request, Response
from reliquary.protocols.mqqp.effects import CallServer, EndLink
from reliquary.protocols.mqqp.events import (
    AssociationLost,
    ClientBound,
    ClientCalled,
    ConnectionLost,
    LinkLost,
    ServerFaulted,
    ServerResponded,
)
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.protocol import mqqp
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.tables import TABLES
from reliquary.queueing.model import tables as manager_tables
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Access,
    Answer,
    CallerGone,
    OpenQueue,
    ReceiveMessages,
)
from reliquary.queueing.travel.failures import Failure
from tests.protocols.mqqp.server.server_harness import ServerBench
from tests.queueing.manager_harness import Bench

FAR = r"DIRECT=OS:far\private$\orders"
DEFAULTS = MqqpSettings(seed=b"here")
R = TypeVar("R", bound=Request)


class Silence(Enum):
    """How a call goes without a response."""

    BEFORE = "the request is lost"
    AFTER = "the server does what it is asked, and the response is lost"


Play = Response | int | Silence | Callable[[Any], "Response | int | Silence | None"]
"""A response, the status of a fault, no response, or a function that chooses; None is the truth."""


class Near(Bench):
    """The manager whose applications read."""

    TABLES = manager_tables.TABLES + TABLES

    def __init__(self, settings: MqqpSettings = DEFAULTS) -> None:
        self.settings = settings
        self.out: deque[CallServer | EndLink] = deque()
        super().__init__()

    def _build(self) -> None:
        super()._build()
        built = assemble(self.disk, self.rows, self.chance, (mqqp(self.settings),))
        self.core, self.manager, self.machines = built
        self.out.clear()

    def run(self, event: Event) -> Turn:
        """Run one turn of both machines; what goes out is kept for the network."""
        turn = self.core.turn(event, self.now)
        rest: list[Effect] = []
        for effect in turn.effects:
            if isinstance(effect, CallServer | EndLink):
                self.out.append(effect)
            else:
                rest.append(effect)
        return Turn(turn.facts, turn.signals, tuple(rest), turn.waits)

    @property
    def client(self) -> ClientState:
        """The state of the client role."""
        machine = self.machines["mqqp"]
        assert isinstance(machine, Mqqp)
        return machine.state.client


class TwoManagers:
    """One manager here, one there."""

    def __init__(self, *bodies: bytes, settings: MqqpSettings = DEFAULTS, **attributes: Any) -> None:
        self.here = Near(settings)
        self.there = ServerBench()
        self.script: dict[type[Request], Play] = {}
        self.went: list[CallServer] = []
        """All calls that went out, oldest first."""
        self.ended: list[int] = []
        """Links that were closed from here."""
        self.stalled = False
        """Nothing is carried until `carry` is called."""
        self._numbers = count(1_000_000)
        self._connections: dict[int, int] = {}
        """The connection there of each link."""
        self._calls: dict[tuple[int, int], tuple[int, int]] = {}
        """Link and call here, by connection and call there, of those that wait."""
        self._inbox: deque[Event] = deque()
        """What has come here, and is not taken yet."""
        self._moving = False
        self._mute: set[tuple[int, int]] = set()
        """Calls there whose responses are lost."""
        if bodies:
            self.there.send("orders", *bodies, **attributes)

    # -- applications

    def begin(self, request: Any) -> int:
        """Ask here, and return the caller."""
        caller = self.here.begin_asking(request)
        self.move()
        return caller

    def answer_to(self, caller: int) -> Any:
        """Return what a caller was answered, or None."""
        answers = self.here.answers.get(caller, [])
        assert len(answers) <= 1, f"a caller is answered twice: {answers}"
        return answers[0] if answers else None

    def ask(self, request: Any) -> Any:
        """Ask here, and return the answer, or None while it waits."""
        return self.answer_to(self.begin(request))

    def open(self, access: Access = Access.RECEIVE, name: str = FAR, **parts: Any) -> int:
        """Open the queue; the handle."""
        opened = self.ask(OpenQueue(0, name, access, **parts))
        assert opened.status == 0, opened
        handle: int = opened.handle
        return handle

    def receive(
        self, queue: int | str = FAR, *, timeout: float | None = 0, hold: float = 0, **parts: Any
    ) -> Any:
        """Receive; time-out (None means no limit) and hold are in seconds."""
        wait = FOREVER_WAIT if timeout is None else seconds(timeout)
        return self.ask(ReceiveMessages(0, queue, timeout=wait, hold=seconds(hold), **parts))

    def begin_receiving(self, queue: int | str = FAR, timeout: float | None = None, **parts: Any) -> int:
        """Begin a receive that waits; the caller."""
        wait = FOREVER_WAIT if timeout is None else seconds(timeout)
        return self.begin(ReceiveMessages(0, queue, timeout=wait, **parts))

    def leave(self, caller: int) -> None:
        """Cancel the request of a caller."""
        self.here.handle(CallerGone(caller))
        self.move()

    # -- the network

    def move(self) -> None:
        """Carry all that goes out, and what comes back, until nothing moves."""
        if self._moving:
            return
        self._moving = True
        while self._inbox or (self.here.out and not self.stalled):
            if self._inbox:
                self.here.handle(self._inbox.popleft())
            else:
                self.carry()
        self._moving = False

    def carry(self) -> None:
        """Carry the oldest effect, and its response if there is one."""
        effect = self.here.out.popleft()
        if isinstance(effect, EndLink):
            self.ended.append(effect.link)
            self.notice(effect.link)
            return
        self.went.append(effect)
        play = self.script.get(type(effect.request))
        chosen = play(effect.request) if callable(play) else play
        if isinstance(chosen, Response):
            self._arrive(ServerResponded(effect.link, effect.call, chosen))
        elif isinstance(chosen, int):
            self._arrive(ServerFaulted(effect.link, effect.call, chosen))
        elif chosen is not Silence.BEFORE:
            self._call(effect, lost=chosen is Silence.AFTER)

    def carry_until(self, kind: type[Request]) -> None:
        """Carry what goes out until the next call is of this kind."""
        while not isinstance(self.here.out[0], CallServer) or not isinstance(self.here.out[0].request, kind):
            self.carry()

    def _call(self, effect: CallServer, *, lost: bool) -> None:
        if effect.link not in self._connections:
            connection = self._connections[effect.link] = next(self._numbers)
            for interface in ("qmcomm", "qm2qm"):
                self.there.handle(ClientBound(connection, connection, "10.0.0.1", interface))
        connection, call = self._connections[effect.link], next(self._numbers)
        self._calls[connection, call] = effect.link, effect.call
        if lost:
            self._mute.add((connection, call))
        self.there.handle(ClientCalled(connection, connection, call, effect.request))
        self.hear()

    def truth(self, request: Request) -> Any:
        """Return what the server answers to a request of the only link, for a script that changes it."""
        connection, call = self._connections[self.link.number], next(self._numbers)
        self.there.handle(ClientCalled(connection, connection, call, request))
        (response,) = self.there.responses.pop((connection, call))
        return response

    def hear(self) -> None:
        """Bring here what the server has answered by now."""
        while place := next((each for each in self._calls if self.there.responses.get(each)), None):
            (link, call), mute = self._calls.pop(place), place in self._mute
            (response,) = self.there.responses.pop(place)
            if mute or self._connections.get(link) != place[0]:
                continue
            if isinstance(response, int):
                self._arrive(ServerFaulted(link, call, response))
            else:
                self._arrive(ServerResponded(link, call, response))

    def _arrive(self, event: Event) -> None:
        self._inbox.append(event)
        self.move()

    def notice(self, link: int) -> None:
        """Let the server notice that a link is lost."""
        connection = self._connections.pop(link, None)
        if connection is not None:
            self.there.handle(ConnectionLost(connection))
            self.there.handle(AssociationLost(connection))
            self.hear()

    def lose(self, why: Failure = Failure.LOST, detail: str = "reset by peer") -> None:
        """Break all links, and let both sides notice it."""
        for link in list(self.here.client.links):
            self.notice(link)
            self._arrive(LinkLost(link, why, detail))

    def send(self, *bodies: bytes, **attributes: Any) -> None:
        """Put a message into the server's queue; reads that waited for it return."""
        self.there.send("orders", *bodies, **attributes)
        self.hear()

    def advance(self, span: float) -> None:
        """Time passes, here and there."""
        self.there.advance(span)
        self.hear()
        self.here.advance(span)
        self.move()

    def restart(self, *, crash: bool = False) -> None:
        """Start a new process of the client; the server notices that the old one has ended."""
        for link in list(self._connections):
            self.notice(link)
        self.here.restart(crash=crash)

    def restart_there(self) -> None:
        """Start a new process of the server; all links break."""
        links, self._connections = list(self._connections), {}
        self._calls.clear()
        self.there.restart(crash=True)
        for link in links:
            self._arrive(LinkLost(link, Failure.LOST, "the server restarted"))

    # -- what tests look at

    def asked(self, kind: type[R]) -> list[R]:
        """Return the requests of a kind that went out, oldest first."""
        return [each.request for each in self.went if isinstance(each.request, kind)]

    @property
    def methods(self) -> list[str]:
        """The names of all requests that went out, oldest first."""
        return [type(each.request).__name__ for each in self.went]

    @property
    def link(self) -> Link:
        """The only link of the client."""
        (link,) = self.here.client.links.values()
        return link

    @property
    def bodies(self) -> list[bytes]:
        """The bodies of the messages that are available on the server."""
        return self.there.bodies()

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is left of any read, here or there."""
        client = self.here.client
        kept = (client.links, client.calls, client.handles, client.shared, client.receipts)
        more = (client.waiting, client.requests, self.here.state.open.remote)
        return not any(kept) and not any(more) and self.there.is_idle


def bodies_of(answer: Any) -> list[bytes]:
    """Return the bodies of the messages that an answer brings."""
    assert isinstance(answer, Answer), answer
    return [each.message.body for each in getattr(answer, "messages", ())]
