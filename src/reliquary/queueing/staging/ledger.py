"""The ledger: the last batch of each query, and whose the writers' names are.

A query publishes its batches in the order of their numbers, so its last one says which were published.  A
writer's name belongs to one query: a second one under the same name, such as a copy of an application with a
checkpoint of its own, is refused before it has written everything a second time.
"""

from __future__ import annotations

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Published
from reliquary.queueing.staging.events import ForgetWriter, PublishAnswer, PublishBatch
from reliquary.queueing.staging.facts import WriterForgotten


def taken(state: State, request: PublishBatch) -> PublishAnswer | None:
    """Whether another query publishes under this writer's name.  Changes nothing."""
    owner = state.staging.writers.get(request.writer) if request.writer else None
    if owner is None or owner == request.query or request.take_over:
        return None
    why = (
        f"{owner} publishes as {request.writer}, and {request.query} is another query: give it another name,"
        " or let it take over when the other one has ended"
    )
    return PublishAnswer(HResult.WRITER_TAKEN, why)


def check_era(state: State, request: PublishBatch) -> None:
    """Refuse a batch after which others of its query are missing, because the store was restored.

    Once: a person forgets the query in the ledger when the lost batches are written again, or given up.
    """
    known = state.staging.ledger.get(request.query)
    if known is None or known.era == _era(state) or request.batch <= known.batch + 1:
        return
    first, last = known.batch + 1, request.batch - 1
    raise UsageError(
        f"batches {first} to {last} of {request.query} were published after the backup from which the store"
        f" was restored, and are gone: write them again, or give them up, then run: reliquary writer forget"
        f" --query {request.query}"
    )


def _era(state: State) -> int:
    return 0 if state.era is None else state.era.began


def note(state: State, request: PublishBatch, messages: int, now: Instant) -> Published:
    """What the ledger says when this batch is published."""
    before = state.staging.ledger.get(request.query)
    user = "" if state.by is MANAGER else str(state.by.user)
    return Published(
        request.batch,
        request.writer,
        messages,
        now,
        messages + (before.total if before else 0),
        before.user if before else user,
        _era(state),
    )


def forget_oldest(state: State) -> None:
    """Forget the query that published longest ago, where there are too many; not one that has a name."""
    ledger = state.staging.ledger
    if len(ledger) <= state.sizes.queries:
        return
    named = set(state.staging.writers.values())
    unnamed = [query for query in ledger if query not in named]
    if len(unnamed) > state.sizes.queries:
        apply(state, WriterForgotten(unnamed[0]))


def forget(state: State, request: ForgetWriter, now: Instant) -> None:
    """A person removes a query from the ledger, or lets a name be anybody's."""
    del now
    if bool(request.query) == bool(request.writer):
        raise UsageError("either a query or a writer's name is forgotten: give one of them")
    known = state.staging.ledger if request.query else state.staging.writers
    name = request.query or request.writer
    if name not in known:
        what = "query" if request.query else "writer"
        state.reply(request.to, Answer(HResult.OBJECT_NOT_FOUND, f"no {what} {name} has published anything"))
        return
    apply(state, WriterForgotten(request.query, request.writer))
    state.reply(request.to, Answer(HResult.OK))
