"""Who reads the feed of a queue, for people."""

from __future__ import annotations

from collections.abc import Iterator

from reliquary.base.hresult import HResult
from reliquary.base.time import as_text
from reliquary.queueing.feed.nouns import ConsumerInfo
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.state import State
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.permission import Act, lacks


def consumers(state: State, queue: str, by: Principal = MANAGER) -> Iterator[ConsumerInfo]:
    """The consumers of one queue by name; a Refusal if it is not there or may not be read."""
    found = destinations.find(state, queue)
    if found is None:
        raise Refusal(Answer(HResult.QUEUE_NOT_FOUND, f"there is no queue {queue}"))
    if missing := lacks(state, by, found, Act.PEEK):
        raise Refusal(Answer(HResult.ACCESS_DENIED, missing))
    for name, each in sorted(found.consumers.items()):
        yield ConsumerInfo(
            name=name, cursor=str(each.cursor), created=as_text(each.created), moved=as_text(each.moved)
        )
