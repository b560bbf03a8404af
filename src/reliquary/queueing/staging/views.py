"""Who publishes batches, for people."""

from __future__ import annotations

from collections.abc import Iterator

from reliquary.base.time import as_text
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.permission import is_own
from reliquary.queueing.staging.nouns import WriterInfo


def writers(state: State, by: Principal = MANAGER) -> Iterator[WriterInfo]:
    """The queries that are somebody's, by name."""
    staging = state.staging
    for query, record in sorted(staging.ledger.items()):
        if is_own(state, by, record.user):
            parts = (
                each for (owner, _), numbers in staging.batches.items() if owner == query for each in numbers
            )
            yield WriterInfo(
                query=query,
                writers=tuple(sorted(staging.names_of(query))),
                batch=record.batch,
                rows=record.messages,
                total=record.total,
                published=as_text(record.moment),
                waiting=sum(staging.stages[number].messages for number in parts),
            )
