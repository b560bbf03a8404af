"""A queue manager and SRMP on one bench: POSTs come in and go out, a test is the network.

bench = SrmpBench()                        started and addressed as bench.example, with "orders"
bench.post(content_type, body)             somebody posts; the answer, a PostAnswer
bench.posts                                what went out (`Post`), oldest first
bench.answer(bench.posts[0], 200)          its answer comes
bench.restart()                            as in `Bench`; SRMP is rebuilt too
"""

from __future__ import annotations

from typing import Any

from reliquary.base.turn import Effect, Event, Turn
from reliquary.engine.core import Core
from reliquary.protocols.srmp import machine, tables
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post, SendApdu
from reliquary.protocols.srmp.events import Addressed, Failure, PostAnswer, PostArrived, PostEnded
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing import tables as manager_tables
from reliquary.queueing.manager import HEARS
from tests.queueing.manager_harness import Bench

HOST = "bench.example"
ADDRESSED = Addressed(HOST, frozenset({HOST, "bench", "localhost"}))
DEFAULTS = SrmpSettings()
GOES_OUT = (Post, SendApdu, EndSession, ListenTo)


class SrmpBench(Bench):
    """A manager that speaks SRMP."""

    TABLES = manager_tables.TABLES + tables.TABLES

    def __init__(
        self, *queues: str, settings: SrmpSettings = DEFAULTS, addressed: bool = True, **options: Any
    ) -> None:  # fmt: skip
        self.settings = settings
        self.addressed = addressed
        self.out: list[Effect] = []
        """What the network was asked to do, oldest first."""
        super().__init__(*queues, heard=machine.HEARS, **options)

    def _build(self) -> None:
        super()._build()
        self.srmp = Srmp(self.rows, self.settings)
        self.core = Core(self.disk, self.rows)
        self.core.add(self.manager, hears=HEARS)
        self.core.add(self.srmp, hears=machine.HEARS, takes=machine.TAKES, timers=machine.TIMERS)

    def start(self) -> Turn:
        """Start the manager, and listen."""
        turn = super().start()
        if self.addressed:
            self.handle(ADDRESSED)
        return turn

    def run(self, event: Event) -> Turn:
        """One turn of both machines; what goes out is kept for the test."""
        turn = self.core.turn(event, self.now)
        return Turn(turn.facts, turn.signals, self.keep(turn), turn.waits)

    def keep(self, turn: Turn) -> tuple[Effect, ...]:
        """Keep what goes out; the answer is the rest."""
        self.out += [effect for effect in turn.effects if isinstance(effect, GOES_OUT)]
        return tuple(effect for effect in turn.effects if not isinstance(effect, GOES_OUT))

    @property
    def posts(self) -> list[Post]:
        """POSTs that went out, oldest first."""
        return [effect for effect in self.out if isinstance(effect, Post)]

    @property
    def apdus(self) -> list[SendApdu]:
        """What went out by multicast, oldest first."""
        return [effect for effect in self.out if isinstance(effect, SendApdu)]

    def post(self, content_type: str, body: bytes) -> PostAnswer:
        """Somebody posts a message; what he is told."""
        caller = self.new_caller()
        self.handle(PostArrived(caller, content_type, body))
        answer = self.answer_to(caller)
        assert isinstance(answer, PostAnswer), f"no answer: {answer!r}"
        return answer

    def answer(self, post: Post | SendApdu, status: int = 200) -> None:
        """A POST of ours is answered."""
        self.handle(PostEnded(post.session, post.epoch, post.lookup_id, status))

    def fail(self, post: Post | SendApdu, failure: Failure = Failure.TIMED_OUT) -> None:
        """A POST of ours will have no answer."""
        self.handle(PostEnded(post.session, post.epoch, post.lookup_id, failure=failure))
