"""A harness for WS-RM on sockets: an endpoint over a machine that answers as a test wants."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from reliquary.base.time import Instant
from reliquary.base.turn import Event, Reply, Turn
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.net.http import Limits, Listener
from reliquary.net.identity.admission import admission_of
from reliquary.net.identity.failures import Failures
from reliquary.net.identity.passwords import Passwords
from reliquary.net.identity.users import User, Users
from reliquary.net.wsrm.receiving import Receiving
from reliquary.protocols.wsrm.events import CallerLeft, PostAnswer, PostArrived
from reliquary.protocols.wsrm.settings import EndpointSettings, WsrmSettings
from reliquary.queueing.model.message import NO_GUID
from tests.net.endpoint_harness import EndpointHarness, UnsignalledMachine, opened
from tests.net.http.harness import echo, everywhere

LARGEST = 100_000
SETTINGS = WsrmSettings(largest_message=LARGEST)
CLOSED = WsrmSettings(endpoints=(EndpointSettings(name="in"),), open_endpoints=False)
"""Only listed names are endpoints."""


def taken(_: PostArrived) -> PostAnswer | None:
    """Return the answer to an envelope that has no response."""
    return PostAnswer(202)


class ScriptedMachine(UnsignalledMachine):
    """Takes envelopes as the machine does; None is no answer yet."""

    def __init__(self) -> None:
        self.came: list[PostArrived] = []
        self.left: list[int] = []
        self.answer: Callable[[PostArrived], PostAnswer | None] = taken
        self.late: list[Reply] = []
        """Answers to earlier requests, which leave with the next event."""

    def handle(self, event: Event, now: Instant) -> Turn:
        del now
        if isinstance(event, CallerLeft):
            self.left.append(event.to)
            return Turn()
        assert isinstance(event, PostArrived)
        self.came.append(event)
        late, self.late = self.late, []
        answer = self.answer(event)
        return Turn(effects=tuple(late if answer is None else [*late, Reply(event.to, answer)]))


class ServedEndpoint(EndpointHarness[ScriptedMachine]):
    """An endpoint on a free port."""

    def __init__(
        self, started: bool = True, users: tuple[User, ...] = (), settings: WsrmSettings = SETTINGS
    ) -> None:
        super().__init__(ScriptedMachine(), (PostArrived, CallerLeft), started)
        known = Users(NO_GUID, users)
        failures = Failures(RealClock().monotonic)
        self.passwords = Passwords(known, failures, SystemChance())
        admission = admission_of(known, failures, lambda *_: None, self.passwords)
        self.receiving = Receiving(self.engine, self.state, settings, admission)
        self.receiving.origin = "https://mq.example"
        self.receiving.authorities = frozenset({"mq.example", "other.example:81"})
        mounts = (self.receiving.mount(), everywhere(echo))
        self.listener = Listener(mounts, limits=Limits(body_bytes=10 * LARGEST))


def served_endpoint(
    started: bool = True, users: tuple[User, ...] = (), settings: WsrmSettings = SETTINGS
) -> AbstractAsyncContextManager[ServedEndpoint]:
    """Return an endpoint that is open."""
    return opened(ServedEndpoint(started, users, settings))
