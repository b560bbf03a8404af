"""Asks managers for the plans of a batch: the rows of each queue, within the limits, cut into parts.

plans   a batch that is planned now: limits are divided among all queues (`plan.allot`)
again   a batch that was planned before: its ranges are fixed, and its managers are waited for
finer   as many parts as `minPartitions` asks for (`plan.cuts`)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.client.feed import FeedClient, Plan
from reliquary.spark.managers import Managers
from reliquary.spark.offsets import QueueKey
from reliquary.spark.options import Reading
from reliquary.spark.plan import Limit, Span, allot, cuts

NOTHING: Final = Plan(0, 0, 0, ())
"""The plan for a manager that does not answer any more."""


class Planning:
    """Plans the batches of a stream, one after the other."""

    def __init__(self, managers: Managers, options: Reading) -> None:
        self._managers = managers
        self._options = options
        self._turn = 0
        """The number of batches that were divided; queues take turns by it."""

    def plans(self, spans: list[Span], limit: Limit) -> list[Plan | None]:
        """Return the messages of each queue for the batch; None for nothing."""
        some = {span.key: span for span in spans if span.until > span.after}
        planned = self._managers.by_queue(some, lambda key: self._plan(some[key], limit))
        wants = [planned.get(span.key) for span in spans]
        having = [index for index, want in enumerate(wants) if want is not None and want.rows]
        if limit != Limit() and having:
            given = allot(
                limit,
                [want for want in wants if want is not None and want.rows],
                self._turn,
                lambda index, share: self._plan(spans[having[index]], share) or NOTHING,
            )
            self._turn += 1
            wants = [None] * len(spans)
            for index, plan in zip(having, given, strict=True):
                wants[index] = plan
        taken = {span.key: plan for span, plan in zip(spans, wants, strict=True) if plan and plan.rows}
        finer = self.finer({span.key: span for span in spans}, taken)
        return [finer.get(span.key, want) for span, want in zip(spans, wants, strict=True)]

    def again(self, span: Span) -> Plan:
        """Return the plan of a range that an earlier batch has; its manager is waited for."""
        return self._managers.insist(
            span.key.manager, lambda client: self._ask(client, span, Limit()), span.key.queue
        )

    def finer(self, spans: Mapping[QueueKey, Span], plans: Mapping[QueueKey, Plan]) -> dict[QueueKey, Plan]:
        """Return the plans of a batch with more parts, if it has fewer than `minPartitions`."""
        options = self._options
        numbers = cuts([plan.rows for plan in plans.values()], options.partitions, options.min_partitions)
        parts = dict(zip(plans, numbers, strict=True))

        def finer(key: QueueKey) -> Plan:
            plan = plans[key]
            if parts[key] <= len(plan.parts):
                return plan
            return self._plan(spans[key]._replace(until=plan.until), Limit(), parts[key]) or plan

        return self._managers.by_queue(plans, finer)

    def _plan(self, span: Span, limit: Limit, parts: int | None = None) -> Plan | None:
        return self._managers.ask(
            span.key.manager, lambda client: self._ask(client, span, limit, parts), span.key.queue
        )

    def _ask(self, client: FeedClient, span: Span, limit: Limit, parts: int | None = None) -> Plan:
        return client.plan(
            span.key.queue,
            span.after,
            span.until,
            rows=limit.rows,
            bytes=limit.bytes,
            parts=parts or self._options.partitions,
            consumer=self._options.consumer,
            incarnation=span.incarnation,
        )
