"""Makes the noun "queue" of administration: settings of queues, and the numbers of their messages and
readers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, as_datetime
from reliquary.queueing.model.administration import Column, Listing, Noun, Paging, RecordFormat, Refusal, View
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.security.principals import MANAGER, Principal

if TYPE_CHECKING:
    from reliquary.queueing.model.queue_state import QueueState
    from reliquary.queueing.model.state import State

Privacy = Literal["none", "optional", "body"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a queue; quotas are kilobytes, and None is no limit."""

    label: str = ""
    journaling: bool = False
    journal_required: bool = False
    """Refuse a receive if the journal has no room for the copy, instead of leaving the copy out."""
    quota: int | None = None
    journal_quota: int | None = None
    transactional: bool = False
    base_priority: int = 0
    authentication: bool = False
    privacy: Privacy = "optional"
    multicast_address: str | None = None
    type: str = "00000000-0000-0000-0000-000000000000"
    poison_limit: int = 0
    """How often a message is handed out without being consumed before it goes to `QUEUE;poison`; 0:
    no limit."""
    retry_delay: int = 0
    """Seconds before a returned message is handed out again, doubled each time."""
    longest_retry_delay: int = 3600
    keep_refused: bool = True
    """Whether a message that its peer refuses permanently becomes a dead letter, unless its sender wants
    none.
    """


class QueueInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A queue at the moment of the request."""

    name: str
    pathname: str
    id: str
    kind: str
    messages: int
    """Messages that can be received."""
    locked: int
    """Messages that a receipt or a transaction has locked."""
    delayed: int = 0
    """Messages that are not visible yet."""
    bytes: int
    readers_waiting: int
    open_handles: int
    copies_lost: dict[str, int]
    """Copies and acknowledgements for which there was no room or no queue, by kind."""
    created: datetime
    modified: datetime
    settings: Settings
    messages_retained: int = 0
    """Messages that left the queue and are kept for readers of its feed; no other number counts them."""
    bytes_retained: int = 0


def queue(state: State, path: str) -> QueueInfo | None:
    """Return the queue of this name, or None."""
    from reliquary.queueing.rules import destinations

    found = destinations.find(state, path)
    return None if found is None else _info(state, found)


def queues(
    state: State, by: Principal = MANAGER, after: str = "", containing: str = ""
) -> Iterator[QueueInfo]:
    """Yield the queues that this user may see, sorted by name, from behind the path name `after`.

    With `containing`, only those whose path name has this text, in small or capital letters.

    Queues may be created and deleted between two of them.  A queue that is being deleted is left out, and so
    are journals and outgoing queues: `outgoing_queues.py` shows the latter.
    """
    from reliquary.queueing.rules.permission import Act, lacks

    text = containing.casefold()
    for each in queue_states(state, after):
        if text in each.record.pathname.casefold() and not lacks(state, by, each, Act.SHOW):
            yield _info(state, each)


def queue_states(state: State, after: str = "") -> Iterator[QueueState]:
    """Yield the states of all queues that `queues` shows to the manager itself, in its order."""
    records = (each.record for each in state.queues.values())
    for number in state.names.in_order.behind(after, records):
        each = state.queues.get(number)
        if each is not None and not each.record.deleting:
            yield each


def delayed(each: QueueState) -> int:
    """Return the number of messages of a queue that are not visible yet."""
    return each.counts.delayed + len(each.delayed_express)


def limit_of(kilobytes: int) -> int | None:
    """Return a quota as records show it: None is no limit."""
    return None if kilobytes == FOREVER else kilobytes


def _info(state: State, each: QueueState) -> QueueInfo:
    from reliquary.queueing.model.display import name_of
    from reliquary.queueing.rules.losses import by_word

    record = each.record
    return QueueInfo(
        name=name_of(state, each),
        pathname=record.pathname,
        id=str(record.identifier),
        kind=record.kind.value,
        messages=len(each.order),
        locked=len(each.order.locked),
        delayed=delayed(each),
        bytes=each.total_bytes,
        readers_waiting=len(each.readers.waiting),
        open_handles=len(each.readers.descriptors),
        copies_lost=by_word(each.counts.lost),
        created=as_datetime(record.create_time * SECOND),
        modified=as_datetime(record.modify_time * SECOND),
        settings=_settings(record.settings),
        messages_retained=each.feed.retained,
        bytes_retained=each.feed.retained_size,
    )


def _settings(chosen: QueueSettings) -> Settings:
    """Return the settings without the access list, which has commands and records of its own."""
    fields = msgspec.structs.asdict(chosen)
    del fields["security"]
    fields["type"] = str(chosen.type)
    fields["privacy"] = chosen.privacy.value
    for name in ("quota", "journal_quota"):
        fields[name] = limit_of(fields[name])
    return Settings(**fields)


def _listed(view: View, after: str = "") -> Iterator[QueueInfo]:
    return queues(view.state, view.by, after)


def _shown(view: View, name: str) -> QueueInfo | None:
    from reliquary.queueing.rules import destinations
    from reliquary.queueing.rules.permission import Act, lacks

    found = destinations.find(view.state, name)
    if found is None:
        return None
    if missing := lacks(view.state, view.by, found, Act.SHOW):
        raise Refusal(Answer(HResult.ACCESS_DENIED, missing))
    return _info(view.state, found)


def _copies_lost(info: QueueInfo) -> str | None:
    return ", ".join(f"{count} {copy}" for copy, count in info.copies_lost.items()) or None


_FIELDS: Final[tuple[str | Column[QueueInfo], ...]] = (
    *(
        Column("copies_lost", _copies_lost) if name == "copies_lost" else name
        for name in QueueInfo.__struct_fields__
        if name != "settings"
    ),
    *(Column(name, attrgetter(f"settings.{name}")) for name in Settings.__struct_fields__),
)

QUEUE: Final[Noun[QueueInfo]] = Noun(
    name="queue",
    plural="queues",
    record=QueueInfo,
    summary="Make, list, show, delete and empty queues.",
    needs=None,
    listing=Listing(records=_listed, paging=Paging(behind=_listed, place=attrgetter("pathname"))),
    showing=RecordFormat(
        key="name",
        kind=str,
        record=_shown,
        missing=HResult.QUEUE_NOT_FOUND,
        missing_sentence="there is no queue {}",
        help="Show all that is known of the queue NAME.",
        example="orders",
        fields=_FIELDS,
    ),
)
