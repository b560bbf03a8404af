"""Helpers for tests of staging: a writer that stages and publishes batches."""

from __future__ import annotations

from typing import Any

from reliquary.base.hresult import HResult
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.staging.events import (
    BeginStage,
    CompleteStage,
    PublishAnswer,
    PublishBatch,
    StageAnswer,
    StageMessages,
)
from tests.queueing.manager_harness import Bench, message

QUERY = "query"


def begin(
    bench: Bench,
    batch: int = 0,
    part: int = 0,
    attempt: str = "first",
    *,
    query: str = QUERY,
    by: Principal = MANAGER,
) -> int:
    """Begin a part; its number."""
    answer: StageAnswer = bench.ask(BeginStage(0, query, batch, part, attempt, by=by))
    assert answer.status is HResult.OK, answer.why
    return answer.stage


def stage(
    bench: Bench,
    number: int,
    *bodies: bytes,
    queue: str = "orders",
    by: Principal = MANAGER,
    **attributes: Any,
) -> StageAnswer:
    """Add messages to a part."""
    messages = tuple(message(body, **attributes) for body in bodies)
    answer: StageAnswer = bench.ask(StageMessages(0, number, queue, messages, by=by))
    return answer


def write(
    bench: Bench,
    *bodies: bytes,
    batch: int = 0,
    part: int = 0,
    attempt: str = "first",
    query: str = QUERY,
    queue: str = "orders",
    **attributes: Any,
) -> int:
    """Write a part from its beginning to its end; return its number."""
    number = begin(bench, batch, part, attempt, query=query)
    if bodies:
        answer = stage(bench, number, *bodies, queue=queue, **attributes)
        assert answer.status is HResult.OK, answer.why
    assert bench.ask(CompleteStage(0, number)).status is HResult.OK
    return number


def publish(
    bench: Bench, *stages: int, batch: int = 0, query: str = QUERY, **parameters: Any
) -> PublishAnswer:
    """Publish a batch of these stages and return the answer."""
    answer: PublishAnswer = bench.ask(PublishBatch(0, query, batch, stages, **parameters))
    return answer
