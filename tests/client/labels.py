"""A noun of administration for tests, with all that a noun can have: the labels of queues."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from reliquary.base.hresult import HResult
from reliquary.queueing.model.administration import (
    Act,
    Filter,
    Listing,
    Machines,
    Noun,
    Parameter,
    RecordFormat,
)
from reliquary.queueing.model.events import ChangeQueue
from reliquary.queueing.model.queue import QueueType
from reliquary.views import queues


class WordInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A word of a label."""

    text: str
    length: int
    """The length of the label in characters."""


class LabelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The label of a queue, as its creator wrote it."""

    queue: str
    label: str
    """Empty if nothing is written there."""
    words: list[WordInfo]
    initials: list[str]


def info_of(queue: queues.QueueInfo) -> LabelInfo:
    words = queue.settings.label.split()
    return LabelInfo(
        queue=queue.name,
        label=queue.settings.label,
        words=[WordInfo(text=word, length=len(word)) for word in words],
        initials=[word[0] for word in words],
    )


def labels(machines: Machines, word: str = "", empty: bool = False) -> Iterator[LabelInfo]:
    for each in queues.queues(machines.state):
        label = each.settings.label
        if each.kind == QueueType.PRIVATE.value and word in label and (label or empty):
            yield info_of(each)


def label(machines: Machines, queue: str) -> LabelInfo | None:
    found = queues.queue(machines.state, queue)
    return None if found is None else info_of(found)


def write(to: int, queue: str, *, text: str) -> ChangeQueue:
    return ChangeQueue(to, queue, {"label": text})


LABEL = Noun(
    name="label",
    plural="labels",
    record=LabelInfo,
    summary="List, show and write the labels of queues.",
    listing=Listing(
        records=labels,
        columns=("queue", "words", "initials"),
        help="List the labels.\n\nA queue that has none is not listed.",
        filters=(
            Filter(name="word", kind=str, option="--word", metavar="WORD", help="Only those with this word."),
            Filter(name="empty", kind=bool, option="--empty", help="Also queues without a label."),
        ),
        example="--word rush",
    ),
    showing=RecordFormat(
        key="queue",
        kind=str,
        record=label,
        missing=HResult.QUEUE_NOT_FOUND,
        missing_sentence="{} has no label, for it does not exist",
        help="Show the label of QUEUE.",
        example="orders",
        parts={"words": ("length", "text")},
    ),
    acts=(
        Act(
            verb="write",
            event=write,
            needs=None,
            parameters=(Parameter(name="text", kind=str, option="--text", help="What to write."),),
            example="orders --text 'rush hour'",
            help="Write on QUEUE.\n\nWhat was there before is gone.",
        ),
    ),
)
