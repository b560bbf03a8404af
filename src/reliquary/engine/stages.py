"""Parts of batches that wait to be published, for people."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from reliquary.base.time import Instant
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.permission import is_own


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
