"""A server agent on a free port, over a real queue manager and a machine with scripted answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from reliquary.base.time import Instant
from reliquary.base.turn import Event, Reply, Turn
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.net.http import Limits, Listener
from reliquary.net.httpr.bodies import EngineBodies
from reliquary.net.httpr.receiving import Receiving
from reliquary.net.identity.admission import admission_of
from reliquary.net.identity.failures import Failures
from reliquary.net.identity.passwords import Passwords
from reliquary.net.identity.users import User, Users
from reliquary.protocols.httpr.codec.values import Outcome, ResponseHeader
from reliquary.protocols.httpr.events import Answer, ConnectionGone, RequestArrived, RequestBegun
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.state import State as HttprState
from reliquary.queueing.model.message import NO_GUID
from tests.net.endpoint_harness import EndpointHarness, UnsignalledMachine, opened
from tests.net.http.harness import echo, everywhere

RESPONDER = "httpr://yourhost/service"
H3_HEADER = (
    b"request:PUSH HTTPR/1.0\r\nrequester:httpr://myhost/service\r\nchannel:primary\r\n"
    b"responder:httpr://yourhost/service\r\ncapabilities:maximum_batch_size=10\r\n"
    b"transactionid:0000000000000001\r\n\r\n"
)
H3 = H3_HEADER + (
    b"message-size:5\r\ntarget-uri:httpr://yourhost/service#Q1\r\nclass-of-service:assured\r\n\r\nhello\r\n"
    b"message-encoding:chunked\r\ntarget-uri:httpr://yourhost/service#Q1\r\nclass-of-service:assured\r\n\r\n"
    b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n\r\n"
    b"payload-disposition:last\r\n"
)
PULL = b"request:PULL HTTPR/1.0\r\nsessionid:1\r\noutcome:COMMIT\r\ncompleted:0000000000000000\r\n\r\n"


def committed(event: RequestArrived) -> Answer | None:
    """Return the answer to any request: the batch was taken."""
    batch = event.header.transaction_id if event.header else None
    return Answer(ResponseHeader(responder=RESPONDER, outcome=Outcome.COMMIT, completed=batch or 0))


class ScriptedMachine(UnsignalledMachine):
    """Takes requests as HTTPR's machine does, and answers as scripted; None is no answer yet."""

    def __init__(self) -> None:
        self.came: list[RequestArrived] = []
        self.heard: list[Event] = []
        """All events, in their order."""
        self.answer: Callable[[RequestArrived], Answer | None] = committed

    def handle(self, event: Event, now: Instant) -> Turn:
        del now
        self.heard.append(event)
        if not isinstance(event, RequestArrived):
            return Turn()
        self.came.append(event)
        answer = self.answer(event)
        return Turn() if answer is None else Turn(effects=(Reply(event.to, answer),))

    def kinds(self) -> list[str]:
        """Return the names of the events that came."""
        return [type(event).__name__ for event in self.heard]


class ServedAgent(EndpointHarness[ScriptedMachine]):
    """An endpoint on a free port."""

    def __init__(self, started: bool = True, users: tuple[User, ...] = ()) -> None:
        super().__init__(ScriptedMachine(), (RequestArrived, RequestBegun, ConnectionGone), started)
        self.httpr = HttprState(self.rows, HttprSettings())
        self.httpr.origin = "httpr://here.example"
        bodies = EngineBodies(self.engine, self.state)
        known = Users(NO_GUID, users)
        failures = Failures(RealClock().monotonic)
        self.passwords = Passwords(known, failures, SystemChance())
        admission = admission_of(known, failures, lambda *_: None, self.passwords)
        self.receiving = Receiving(self.engine, self.state, self.httpr, bodies, admission)
        self.listener = Listener([everywhere(echo), self.receiving.mount()], limits=Limits(body_bytes=100))

    @property
    def loose(self) -> int:
        """The number of large bodies that belong to no message."""
        return len(self.state.messages.bodies.loose)


def served_agent(
    started: bool = True, users: tuple[User, ...] = ()
) -> AbstractAsyncContextManager[ServedAgent]:
    """Return an endpoint that is open."""
    return opened(ServedAgent(started, users))
