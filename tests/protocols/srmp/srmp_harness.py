"""A queue manager and SRMP on one bench: POSTs come in and go out, a test is the network.

bench = SrmpBench()                        started and addressed as bench.example, with "orders"
bench.post(content_type, body)             a peer posts; the answer, a PostAnswer
bench.posts                                what went out (`Post`), oldest first
bench.answer(bench.posts[0], 200)          its answer comes
bench.restart()                            as in `Bench`; SRMP is rebuilt too
"""

from __future__ import annotations

from typing import Any

from reliquary.protocols.srmp import tables
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post, SendApdu
from reliquary.protocols.srmp.events import Addressed, PostAnswer, PostArrived, PostEnded
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.protocol import srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model import tables as manager_tables
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.travel.failures import Failure
from tests.protocols.protocol_bench import ProtocolBench

HOST = "bench.example"
ADDRESSED = Addressed(HOST, frozenset({HOST, "bench", "localhost"}))
DEFAULTS = SrmpSettings()
GOES_OUT = (Post, SendApdu, EndSession, ListenTo)


class SrmpBench(ProtocolBench):
    """A manager that uses SRMP."""

    TABLES = manager_tables.TABLES + tables.TABLES
    ADDRESSED = ADDRESSED
    GOES_OUT = GOES_OUT

    def __init__(self, *queues: str, settings: SrmpSettings = DEFAULTS, **options: Any) -> None:
        self.settings = settings
        super().__init__(*queues, **options)

    def speaks(self) -> Protocol:
        """Return SRMP with the settings of the bench."""
        return srmp(self.settings)

    @property
    def srmp(self) -> Srmp:
        """The SRMP machine of the manager under test."""
        return self.machine(Srmp)

    @property
    def posts(self) -> list[Post]:
        """POSTs that went out, oldest first."""
        return [effect for effect in self.out if isinstance(effect, Post)]

    @property
    def apdus(self) -> list[SendApdu]:
        """Return the APDUs that went out by multicast, oldest first."""
        return [effect for effect in self.out if isinstance(effect, SendApdu)]

    def post(self, content_type: str, body: bytes) -> PostAnswer:
        """Post a message as a peer; return the answer."""
        caller = self.new_caller()
        self.handle(PostArrived(caller, content_type, body))
        answer = self.answer_to(caller)
        assert isinstance(answer, PostAnswer), f"no answer: {answer!r}"
        return answer

    def answer(
        self,
        post: Post | SendApdu,
        status: int = 200,
        reason: MessageClass | None = MessageClass.NORMAL,
        why: str = "",
    ) -> None:
        """Answer a POST of the sender; `reason` is None for a peer that sends only the status."""
        ended = PostEnded(post.session, post.epoch, post.lookup_id, status, None, why, reason)
        self.handle(ended)

    def fail(self, post: Post | SendApdu, failure: Failure = Failure.TIMED_OUT) -> None:
        """Report that a POST of the sender will have no answer."""
        self.handle(PostEnded(post.session, post.epoch, post.lookup_id, failure=failure))
