"""Keeps the ledger: the last published batch of each query, and the query that owns each writer's name.

A query publishes its batches in the order of their numbers, so the number of its last batch says which were
published.  A writer's name belongs to one query.  A second query with this name, for example a copy of an
application with its own checkpoint, is refused before it writes all messages a second time.
"""

from __future__ import annotations

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Published, Publishing
from reliquary.queueing.staging.events import ForgetWriter, PublishAnswer, PublishBatch
from reliquary.queueing.staging.facts import QueryReleased, WriterForgotten


def taken(state: State, request: PublishBatch) -> PublishAnswer | None:
    """Return a refusal if another query publishes under this writer's name, else None.  Changes nothing."""
    owner = state.staging.writers.get(request.writer) if request.writer else None
    if owner is None or owner == request.query or request.take_over:
        return None
    why = (
        f"{owner} publishes as {request.writer}, and {request.query} is another query: give it another name,"
        " or let it take over when the other one has ended"
    )
    return PublishAnswer(HResult.WRITER_TAKEN, why)


def check_spread(request: PublishBatch, known: Published) -> None:
    """Refuse a batch that was published before, if its rows were spread over managers in another way then.

    Some of its rows would be on two managers, and others on none.
    """
    if request.batch == known.batch and request.spread != known.spread:
        raise UsageError(
            f"batch {request.batch} of {request.query} was published here when its rows were spread over"
            " other managers, or by another column: start the query once with the managers as they were,"
            " until the batch has ended"
        )


def check_era(state: State, request: PublishBatch) -> None:
    """Refuse a batch if earlier batches of its query may be missing because the store was restored.

    The batch is refused until an administrator sets `take_over` or forgets the query, after the lost
    batches were written again or given up.  A query that the store does not know may have published its
    first batches after the backup.
    """
    if request.take_over or state.manager.era is None:
        return
    if state.staging.released.get(request.query) == _era(state):
        return
    known = state.staging.ledger.get(request.query)
    if known is not None and (known.era == _era(state) or request.batch <= known.batch + 1):
        return
    first, last = known.batch + 1 if known else 0, request.batch - 1
    if last < first:
        return
    what = (
        f"batches {first} to {last} of {request.query} were published after the backup from which the store"
        " was restored, and are gone"
        if known
        else f"the store was restored from a backup and does not know {request.query}: if it published its"
        f" batches {first} to {last} here, they are gone"
    )
    raise UsageError(
        f"{what}; write them again, or give them up, then publish once with take_over (Spark: takeOver=true)"
    )


def _era(state: State) -> int:
    """Return the moment at which the era of the store began; 0 if it was never restored."""
    return 0 if state.manager.era is None else state.manager.era.began


def user_of(state: State) -> str:
    """Return the SID of the user whose request this turn handles; empty for the manager itself."""
    return "" if state.turn.by is MANAGER else str(state.turn.by.user)


def note(state: State, batch: PublishBatch | Publishing, user: str, messages: int, now: Instant) -> Published:
    """Return the ledger's entry for a batch that is being published."""
    before = state.staging.ledger.get(batch.query)
    return Published(
        batch.batch,
        batch.writer,
        messages,
        now,
        messages + (before.total if before else 0),
        before.user if before else user,
        _era(state),
        batch.spread,
    )


def forget_oldest(state: State) -> None:
    """Remove the query without a writer's name that published longest ago, if the ledger has too many."""
    ledger = state.staging.ledger
    if len(ledger) <= state.sizes.queries:
        return
    named = set(state.staging.writers.values())
    unnamed = [query for query in ledger if query not in named]
    if len(unnamed) > state.sizes.queries:
        apply(state, WriterForgotten(unnamed[0]))


def forget(state: State, request: ForgetWriter, now: Instant) -> None:
    """Remove a query from the ledger, or free a writer's name for other queries, on the order of an
    administrator.

    In a restored store a query that is forgotten may go on with any batch, also one that the store does not
    know.
    """
    del now
    if bool(request.query) == bool(request.writer):
        raise UsageError("either a query or a writer's name is forgotten: give one of them")
    known = state.staging.ledger if request.query else state.staging.writers
    name = request.query or request.writer
    if request.query and state.manager.era is not None:
        if name in known:
            apply(state, WriterForgotten(request.query))
        apply(state, QueryReleased(request.query, _era(state)))
        state.reply(request.to, Answer(HResult.OK))
        return
    if name not in known:
        what = "query" if request.query else "writer"
        state.reply(request.to, Answer(HResult.OBJECT_NOT_FOUND, f"no {what} {name} has published anything"))
        return
    apply(state, WriterForgotten(request.query, request.writer))
    state.reply(request.to, Answer(HResult.OK))
