"""Pictures of batches from outside, for people: parts that wait to be published, and what was."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from reliquary.base.time import Instant
from reliquary.queueing.security.permits import is_own
from reliquary.queueing.security.principals import MANAGER, Principal
from reliquary.queueing.state import State


class StageView(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a batch as a person wants to see it; moments are microseconds since 1970."""

    stage: int
    query: str
    batch: int
    part: int
    attempt: str
    queues: tuple[str, ...]
    """As the writer named them."""
    messages: int
    bytes: int
    complete: bool
    begun: int
    age: int
    """Microseconds since somebody wrote to it."""


class LedgerView(msgspec.Struct, frozen=True, kw_only=True):
    """A query that publishes batches."""

    query: str
    writers: tuple[str, ...]
    """The names that are its own."""
    batch: int
    """The last one that was published."""
    messages: int
    """In that batch."""
    total: int
    """In all its batches."""
    published: int
    """When the last batch was, microseconds since 1970."""
    waiting: int
    """Messages in parts that are not published."""


def stages(state: State, now: Instant, by: Principal = MANAGER) -> Iterator[StageView]:
    """The parts that are somebody's and may still be published, by query, batch and part."""
    staging = state.staging
    for _, number in sorted(staging.places.items()):
        stage = staging.stages[number]
        if is_own(state, by, stage.user):
            yield StageView(
                stage=number,
                query=stage.query,
                batch=stage.batch,
                part=stage.part,
                attempt=stage.attempt,
                queues=tuple(stage.queues.values()),
                messages=stage.messages,
                bytes=stage.size,
                complete=stage.complete,
                begun=stage.begun,
                age=max(now - stage.written, 0),
            )


def ledger(state: State, by: Principal = MANAGER) -> Iterator[LedgerView]:
    """The queries that are somebody's, by name."""
    staging = state.staging
    for query, record in sorted(staging.ledger.items()):
        if is_own(state, by, record.user):
            parts = (
                each for (owner, _), numbers in staging.batches.items() if owner == query for each in numbers
            )
            yield LedgerView(
                query=query,
                writers=tuple(sorted(staging.names_of(query))),
                batch=record.batch,
                messages=record.messages,
                total=record.total,
                published=record.moment,
                waiting=sum(staging.stages[number].messages for number in parts),
            )
