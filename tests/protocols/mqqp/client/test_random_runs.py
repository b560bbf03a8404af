"""Random runs of two managers: calls and connections are lost, but no message is, and none is delivered
twice.

Readers here receive, hold, give back, cancel; connections break at any call, requests and responses get lost,
and both processes restart.  What is removed without an answer that says so is counted as `unsure`: a process
ended, or the answer to the reader was OUTCOME_UNKNOWN.
"""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.protocols.mqqp.client.phases import TaskPhase
from reliquary.protocols.mqqp.client.state import Task
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Access,
    BrowseMessages,
    CloseQueue,
    EndRead,
    LookUpMessage,
    OpenQueue,
    PeekMessage,
    Received,
    ReceiveMessages,
    Seek,
)
from reliquary.queueing.travel.failures import Failure
from tests.protocols.mqqp.client.two_managers import FAR, Silence, TwoManagers, bodies_of
from tests.queueing.state_checks import check

KINDS = (
    qmcomm.OpenRemoteQueue,
    qm2qm.OpenQueue,
    qm2qm.StartReceive2,
    qm2qm.StartReceiveByLookupId,
    qm2qm.EndReceive,
    qm2qm.CancelReceive,
    qm2qm.CloseQueue,
)
BY_NAME = st.booleans()
WAITS = st.sampled_from([seconds(0), seconds(20), FOREVER_WAIT])
OPEN = OpenQueue(0, FAR, Access.RECEIVE)
RESERVATIONS = st.sampled_from([seconds(0), seconds(30), FOREVER_WAIT])


class RandomRuns(RuleBasedStateMachine):
    """Two managers, and what their readers know."""

    def __init__(self) -> None:
        super().__init__()
        self.two = TwoManagers()
        self.sent = 0
        self.delivered: list[bytes] = []
        """The messages that readers received permanently."""
        self.removed: list[bytes] = []
        """The messages that readers locked and that were reported as removed."""
        self.unsure: set[bytes] = set()
        self.callers: dict[int, Any] = {}
        """The requests that have no answer yet."""
        self.receipts: dict[int, list[bytes]] = {}
        self.handle = 0

    # -- readers

    def _ask(self, request: Any) -> None:
        caller = self.two.begin(request)
        self.callers[caller] = request
        self._hear()

    def _hear(self) -> None:
        """Note what callers were answered."""
        for caller, request in list(self.callers.items()):
            answer = self.two.answer_to(caller)
            if answer is None:
                continue
            del self.callers[caller]
            if isinstance(request, EndRead):
                self._note_end(request, answer)
            elif isinstance(answer, Received) and answer.receipt:
                self.receipts[answer.receipt] = bodies_of(answer)
                self._must_be_new(bodies_of(answer))
            elif isinstance(request, ReceiveMessages | LookUpMessage) and not getattr(request, "peek", False):
                self._must_be_new(bodies_of(answer))
                self.delivered += bodies_of(answer)

    def _must_be_new(self, bodies: list[bytes]) -> None:
        known = [each for each in bodies if each in self.delivered or each in self.removed]
        assert not known, f"{known} came again"

    def _note_end(self, request: EndRead, answer: Any) -> None:
        bodies = self.receipts.pop(request.receipt)
        if request.delete and answer.status is HResult.OK:
            self.removed += bodies
        elif request.delete and answer.status is HResult.OUTCOME_UNKNOWN:
            self.unsure |= set(bodies)

    @initialize()
    def begin(self) -> None:
        """Send a message, so that there is something to read."""
        self.send(5)

    @rule(count=st.integers(1, 3))
    def send(self, count: int) -> None:
        """Put new messages into the remote queue."""
        for _ in range(count):
            self.sent += 1
            self.two.send(str(self.sent).encode())
        self._hear()

    @precondition(lambda self: not self.handle)
    @rule()
    def open(self) -> None:
        """Let a reader open the queue."""
        answer = self.two.ask(OPEN)
        self.handle = answer.handle if answer is not None and answer.status is HResult.OK else 0

    @precondition(lambda self: self.handle)
    @rule()
    def close(self) -> None:
        """Close the queue that the reader has open."""
        self._ask(CloseQueue(0, self.handle))
        self.handle = 0

    @rule(by_name=BY_NAME, count=st.integers(1, 3), wait=WAITS, hold=RESERVATIONS)
    def receive(self, by_name: bool, count: int, wait: Any, hold: Any) -> None:
        """Let a reader receive a message, with or without a lock."""
        queue = FAR if by_name or not self.handle else self.handle
        self._ask(ReceiveMessages(0, queue, count=count, timeout=wait, hold=hold))

    @rule(seek=st.sampled_from([Seek.FIRST, Seek.LAST]), hold=RESERVATIONS)
    def look_up(self, seek: Seek, hold: Any) -> None:
        """Let a reader take the first or the last message."""
        self._ask(LookUpMessage(0, FAR, 0, seek, peek=False, hold=hold))

    @rule(wait=WAITS)
    def look(self, wait: Any) -> None:
        """Let a reader peek at a message and browse."""
        self._ask(PeekMessage(0, FAR, timeout=wait))
        self._ask(BrowseMessages(0, FAR, limit=2))

    @precondition(lambda self: self.receipts)
    @rule(delete=st.booleans(), data=st.data())
    def end(self, delete: bool, data: st.DataObject) -> None:
        """Let a reader remove the message that it has locked, or give it back."""
        receipt = data.draw(st.sampled_from(sorted(self.receipts)))
        if not self._is_ending(receipt):
            self._ask(EndRead(0, receipt, delete))

    def _is_ending(self, receipt: int) -> bool:
        return any(isinstance(each, EndRead) and each.receipt == receipt for each in self.callers.values())

    @precondition(lambda self: self.callers)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        """Let a reader cancel its request, which is answered nevertheless."""
        self.two.leave(data.draw(st.sampled_from(sorted(self.callers))))
        self._hear()

    def _give_up(self, caller: int, request: Any) -> None:
        """Forget a removal that was under way when the process ended: its outcome is unknown."""
        waiting = self.two.here.client.waiting.get(caller)
        if isinstance(request, EndRead):
            self.unsure |= set(self.receipts.pop(request.receipt)) if request.delete else set()
            self.receipts.pop(request.receipt, None)
        elif isinstance(waiting, Task) and waiting.phase is TaskPhase.SETTLING:
            going = [*waiting.done, *(read.delivered for read in waiting.came[:1])]
            self.unsure |= {each.message.body for each in going if each is not None}

    # -- what is between them

    @rule(kind=st.sampled_from(KINDS), silence=st.sampled_from(Silence))
    def begin_losing(self, kind: type[qm2qm.Request], silence: Silence) -> None:
        """Calls of a kind get no response from now on."""
        self.two.script = {kind: silence}

    @rule()
    def stop_losing(self) -> None:
        """Let all calls arrive from now on."""
        self.two.script = {}

    @rule(count=st.integers(1, 3), ends=st.booleans(), at=st.integers(1, 3), silence=st.sampled_from(Silence))
    def receive_and_cut(self, count: int, ends: bool, at: int, silence: Silence) -> None:
        """Let a reader receive, and break the connection when a read begins or ends."""
        kind = qm2qm.EndReceive if ends else qm2qm.StartReceive2
        self._cut(ReceiveMessages(0, self.handle or FAR, count=count), kind, at, silence)

    @precondition(lambda self: self.receipts)
    @rule(delete=st.booleans(), at=st.integers(1, 2), silence=st.sampled_from(Silence), data=st.data())
    def end_and_cut(self, delete: bool, at: int, silence: Silence, data: st.DataObject) -> None:
        """Let a reader end a lock, and break the connection at a call."""
        receipt = data.draw(st.sampled_from(sorted(self.receipts)))
        if not self._is_ending(receipt):
            self._cut(EndRead(0, receipt, delete), qm2qm.EndReceive, at, silence)

    def _cut(self, request: Any, kind: type[qm2qm.Request], at: int, silence: Silence) -> None:
        """Ask, and let the connection break at the call of a kind, the first or a later one."""
        two, before = self.two, len(self.two.asked(kind))
        two.script = {kind: lambda _: silence if len(two.asked(kind)) >= before + at else None}
        self.callers[two.begin(request)] = request
        two.script = {}
        self.lose_links(Failure.LOST)

    @rule(why=st.sampled_from(Failure))
    def lose_links(self, why: Failure) -> None:
        """Break all connections with this failure."""
        self.two.lose(why)
        self.handle = 0
        self._hear()

    @rule(span=st.sampled_from([1, 5, 61]))
    def advance(self, span: float) -> None:
        """Advance the clock, so that timers fire."""
        self.two.advance(span)
        self._hear()

    @rule(crash=st.booleans())
    def restart_here(self, crash: bool) -> None:
        """Restart the readers' manager: waiting readers get no answer."""
        for caller, request in list(self.callers.items()):
            self._give_up(caller, request)
        self.callers, self.receipts, self.handle = {}, {}, 0
        self.two.restart(crash=crash)

    @rule()
    def restart_there(self) -> None:
        """Restart the manager of the server."""
        self.two.restart_there()
        self.handle = 0
        self._hear()

    # -- what holds at any time

    @invariant()
    def both_are_on_disk(self) -> None:
        """Check the disks: effects leave after facts are synced, so a crash loses nothing that
        was visible.
        """
        self.two.here.flush()
        self.two.there.flush()
        check(self.two.there.state)

    @invariant()
    def nothing_is_forgotten(self) -> None:
        """Check that the client keeps state only for open links, and handles that the manager has too."""
        client = self.two.here.client
        assert set(client.calls) == {call for link in client.links.values() for call in link.calls}
        assert client.requests == {read for link in client.links.values() for read in link.reads}
        numbers = [
            *client.handles,
            *client.receipts,
            *(n for link in client.links.values() for n in link.cursors),
        ]
        assert set(numbers) <= set(self.two.here.state.open.remote)
        if self.handle not in client.handles:
            self.handle = 0
        self.receipts = {
            number: bodies
            for number, bodies in self.receipts.items()
            if number in client.receipts or self._is_ending(number)
        }

    def teardown(self) -> None:
        """Check that every message is delivered, removed, or in doubt, and that nothing is left open."""
        self.two.script = {}
        self.two.lose()
        self._hear()
        assert not self.callers
        while bodies := bodies_of(self.two.receive(count=3)):
            self._must_be_new(bodies)
            self.delivered += bodies
        self.two.advance(3)
        assert self.two.is_idle
        every = {str(number + 1).encode() for number in range(self.sent)}
        assert every - self.unsure <= set(self.delivered) | set(self.removed), "a message is lost"
        assert len(set(self.delivered)) == len(self.delivered), "a message was delivered twice"
        assert not set(self.delivered) & set(self.removed), "a message was delivered twice"


TestRandomRuns = RandomRuns.TestCase
TestRandomRuns.settings = settings(max_examples=30, stateful_step_count=30)
