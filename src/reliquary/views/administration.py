"""Lists, shows and acts on the nouns of administration of an open manager, for one user.

The methods of `Administrator` return when all that the records say is on disk.  The control plane and the
client of a manager in process call these functions, so both check the rights of the user in one way and
refuse with one sentence.

Modules of this folder:

    queues            queues with their settings and numbers         noun
    outgoing_queues   queues of messages for other managers          noun
    transactions      transactions that have not ended               noun
    consumers         readers of feeds                               noun
    writers           queries that publish batches                   noun
    manager           totals of the whole manager
    directory         status and objects of the directory
    pages             lists in pages
    administration    list, show and act, for every noun
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import islice
from typing import Any

from msgspec.structs import replace

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.queueing.model.administration import Done, Key, Machines, Noun, R, Refusal, View
from reliquary.queueing.model.events import Answer, AwaitDisk, Request
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.queueing.rules.permission import lacks_on_manager
from reliquary.views.pages import Page, PageWanted, cut

Ask = Callable[[Callable[[int], Event]], Awaitable[object]]
"""Makes an event for the number of a caller, submits it, and returns the answer."""


class NotDone(Exception):
    """An act could not be done now; the sentence says why."""


def find_records(view: View, noun: Noun[R], filters: dict[str, Any]) -> list[R]:
    """Return all records of a noun that the user may see; changes in them may not be on disk yet."""
    if noun.needs is not None:
        _need(view, noun.needs)
    return list(noun.listing.records(view, **filters))


def find_page(view: View, noun: Noun[R], filters: dict[str, Any], wanted: PageWanted) -> Page[R]:
    """Return a page of the records that the user may see; changes in them may not be on disk yet."""
    paging = noun.listing.paging
    if noun.needs is not None:
        _need(view, noun.needs)
    if paging is None:
        return cut(noun.listing.records(view, **filters), wanted)
    found = list(islice(paging.behind(view, wanted.after, **filters), wanted.limit + 1))
    more = len(found) > wanted.limit
    page = found[: wanted.limit]
    return Page(page, paging.place(page[-1]) if more else "")


def find_record(view: View, noun: Noun[R], key: Key) -> R:
    """Return the record of this key, if the user may see it; raise Refusal if there is none."""
    if noun.needs is not None:
        _need(view, noun.needs)
    return _find(view, noun, key)


class Administrator:
    """An open manager as one user lists its records, shows them and acts on them."""

    def __init__(self, machines: Machines, ask: Ask, by: Principal = MANAGER) -> None:
        self._view = View(machines, by)
        self._ask = ask

    async def list_records(self, noun: Noun[R], **filters: Any) -> list[R]:
        """Return all records of a noun that pass the filters."""
        records = find_records(self._view, noun, filters)
        await self._ask(AwaitDisk)
        return records

    async def list_page(self, noun: Noun[R], wanted: PageWanted, **filters: Any) -> Page[R]:
        """Return a page of the records of a noun that pass the filters."""
        page = find_page(self._view, noun, filters, wanted)
        await self._ask(AwaitDisk)
        return page

    async def show_record(self, noun: Noun[R], key: Key) -> R:
        """Return the record of this key; raise Refusal if there is none."""
        record = find_record(self._view, noun, key)
        await self._ask(AwaitDisk)
        return record

    async def act_on(self, noun: Noun[R], key: Key, verb: str, parameters: dict[str, Any]) -> R:
        """Do an act, and return the record as it is afterwards; raise Refusal or NotDone if it failed.

        If the act removed the record, return it as it was before the act.
        """
        act, before = noun.act(verb), None
        if act.needs is not None:
            _need(self._view, act.needs)
            before = _find(self._view, noun, key)
            parameters = parameters | {name: getattr(before, name) for name in act.fields}
        answer = await self._ask(lambda to: self._asked(act.event(to, key, **parameters)))
        if isinstance(answer, Done):
            if not answer.done:
                raise NotDone(answer.why)
        else:
            assert isinstance(answer, Answer), f"no answer: {answer!r}"
            if answer.status is not HResult.OK:
                raise Refusal(answer)
        record = _find(self._view, noun, key, before)
        await self._ask(AwaitDisk)
        return record

    def _asked(self, event: Event) -> Event:
        return replace(event, by=self._view.by) if isinstance(event, Request) else event


def _find(view: View, noun: Noun[R], key: Key, before: R | None = None) -> R:
    showing = noun.showing
    assert showing is not None, f"a {noun.name} has no name"
    known = showing.parse(key)
    record = showing.record(view, known) or before
    if record is None:
        raise Refusal(Answer(showing.missing, showing.missing_sentence.format(known)))
    return record


def _need(view: View, right: ManagerRight) -> None:
    missing = lacks_on_manager(view.state, view.by, right)
    if missing:
        raise Refusal(Answer(HResult.ACCESS_DENIED, missing))
