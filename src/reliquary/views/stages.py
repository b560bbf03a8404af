"""Parts of batches that are not published yet, as records."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from reliquary.base.time import Instant
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.permission import is_own


class StageView(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a batch with its query and its numbers; moments are microseconds since 1970."""

    stage: int
    query: str
    batch: int
    part: int
    attempt: str
    queues: tuple[str, ...]
    """Names of the queues, as the writer spelled them."""
    messages: int
    bytes: int
    complete: bool
    begun: int
    age: int
    """Microseconds since messages were last written to the part."""


def stages(state: State, now: Instant, by: Principal = MANAGER) -> Iterator[StageView]:
    """Yield the parts of this user that may still be published, sorted by query, batch and part."""
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
