"""List, show and act on the nouns of administration of an open manager, for one user.

What is returned is on disk by then.  The control plane and the client of a manager in process both
come here, so both need the same rights and refuse with the same sentences.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.queueing.administration import Done, Key, Machines, Noun, R
from reliquary.queueing.events import Answer, AwaitDisk, Request
from reliquary.queueing.security.permits import lacks_on_manager
from reliquary.queueing.security.principals import MANAGER, Principal
from reliquary.queueing.security.rights import ManagerRight

Ask = Callable[[Callable[[int], Event]], Awaitable[object]]
"""Submits the event that is made for a caller's number, and returns its answer."""


class Refusal(Exception):
    """The manager's answer is not OK; `status` says what is wrong."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.why or answer.status.sentence)
        self.status = answer.status


class NotDone(Exception):
    """What an administrator wanted could not be done now; the sentence says why."""


class Administrator:
    """One user who looks after an open manager."""

    def __init__(self, machines: Machines, ask: Ask, by: Principal = MANAGER) -> None:
        self._machines = machines
        self._ask = ask
        self._by = by

    async def list_records(self, noun: Noun[R]) -> list[R]:
        """All records of a noun."""
        self._need(noun.needs)
        records = list(noun.listing.records(self._machines))
        await self._ask(AwaitDisk)
        return records

    async def show_record(self, noun: Noun[R], key: Key) -> R:
        """The record of this key; Refusal if there is none."""
        self._need(noun.needs)
        return await self._shown(noun, key)

    async def act_on(self, noun: Noun[R], key: Key, verb: str, parameters: dict[str, Any]) -> R:
        """Do it, and return the record as it is then; Refusal or NotDone if it was not done."""
        act = noun.act(verb)
        if act.needs is not None:
            self._need(act.needs)
            self._find(noun, key)
        answer = await self._ask(lambda to: self._asked(act.event(to, key, **parameters)))
        if isinstance(answer, Done):
            if not answer.done:
                raise NotDone(answer.why)
        else:
            assert isinstance(answer, Answer), f"no answer: {answer!r}"
            if answer.status is not HResult.OK:
                raise Refusal(answer)
        return await self._shown(noun, key)

    async def _shown(self, noun: Noun[R], key: Key) -> R:
        record = self._find(noun, key)
        await self._ask(AwaitDisk)
        return record

    def _find(self, noun: Noun[R], key: Key) -> R:
        assert noun.showing is not None, f"a {noun.name} has no name"
        record = noun.showing.record(self._machines, key)
        if record is None:
            raise Refusal(Answer(noun.showing.missing, noun.showing.missing_sentence.format(key)))
        return record

    def _asked(self, event: Event) -> Event:
        return replace(event, by=self._by) if isinstance(event, Request) else event

    def _need(self, right: ManagerRight) -> None:
        missing = lacks_on_manager(self._machines.state, self._by, right)
        if missing:
            raise Refusal(Answer(HResult.ACCESS_DENIED, missing))
