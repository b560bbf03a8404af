"""Shows pages of queues: the list, one queue with its messages, and the forms that change it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import UsageError
from reliquary.client.message import Message
from reliquary.client.translate import changes_of, shown
from reliquary.console.context import Context, context_of
from reliquary.console.samples import QUEUES
from reliquary.console.web.charts import Series, line_chart
from reliquary.console.web.messages import RETURNED_AT_ONCE, RETURNED_FROM, browse
from reliquary.console.web.pages import field_of, go_to, read_form, render
from reliquary.queueing.model.administration import View
from reliquary.queueing.model.events import (
    ChangeQueue,
    CreateQueue,
    DeleteQueue,
    Purged,
    PurgeQueue,
)
from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.queue import QueueSettings, QueueType
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.permission import Act, lacks
from reliquary.views.administration import find_page, find_record
from reliquary.views.pages import Page, PageWanted
from reliquary.views.queues import QUEUE, QueueInfo, queue
from reliquary.views.queues import queues as find_queues

PAGE: Final = 100
"""The number of queues on one page."""
MESSAGES: Final = 25
"""The number of messages on one page."""
SYSTEM_QUEUES: Final = (r"system$;deadletter", r"system$;deadxact", r"system$;journal")
SUBQUEUES: Final = ("journal", "poison")
NO_TYPE: Final = str(NO_GUID)
_SHOWN_ABOVE: Final = frozenset(
    {"settings", "messages", "locked", "delayed", "bytes", "readers_waiting", "messages_retained"}
)
_LIMITS: Final = ("quota", "journal_quota", "poison_limit")
_NAMES: Final = {
    "bytes_retained": "bytes kept for consumers",
    "copies_lost": "copies that were lost",
    "quota": "quota in KB",
    "journal_quota": "quota of the journal in KB",
    "poison_limit": "reads before poison",
    "retry_delay": "retry delay in s",
    "longest_retry_delay": "longest retry delay in s",
    "keep_refused": "refused become dead letters",
}
"""Properties whose names need more words, or a unit, on the page."""
_ACTS: Final = {
    Act.PEEK: "look at its messages",
    Act.SEND: "send to it",
    Act.RECEIVE: "move its messages",
    Act.CHANGE: "change its settings",
    Act.PURGE: "delete its messages",
    Act.DELETE: "delete it",
}
"""The acts that the page of a queue offers, in the words of its sentence for a user without all rights."""
_COMES: Final = {
    "journal": "A copy comes here when a message leaves, if its queue or its sender keeps copies.",
    "poison": "A message comes here when it was read too often without success.",
    "deadletter": "A message comes here when it did not arrive in time, if its sender wants dead letters.",
    "deadxact": "A message of a transaction comes here when it did not arrive in time.",
}
"""When messages come to a queue of the manager's own, by the end of its name."""
_ACTS_ON_PARTS: Final = (Act.PEEK, Act.RECEIVE, Act.PURGE)
"""The acts that the page offers for journals, poison queues and dead letters."""


async def show_queues(request: Request) -> Response:
    """Serve GET /console/queues?after=NEXT&find=TEXT: show a page of queues."""
    context, query = context_of(request), request.query_params
    view, find = View(context.opened, context.by), query.get("find", "").strip()
    after = query.get("after", "")
    if find:
        records = list(islice(find_queues(view.state, view.by, after, find), PAGE + 1))
        page = Page(records[:PAGE], records[PAGE - 1].pathname if len(records) > PAGE else "")
    else:
        page = find_page(view, QUEUE, {}, PageWanted(after, PAGE))
    await context.opened.settled()
    return render(
        request,
        "queues.html",
        queues=[each for each in page.records if find or each.kind != QueueType.SYSTEM.value],
        find=find,
        next=page.next,
    )


async def create_queue(request: Request) -> Response:
    """Serve POST /console/queues: create a queue."""
    context, fields = context_of(request), await read_form(request)
    name = field_of(fields, "name")
    chosen = {"transactional": "transactional" in fields, "journaling": "journaling" in fields}
    settings = QueueSettings(**changes_of(chosen | {"label": fields.get("label", "")}))
    await context.ask(lambda to: CreateQueue(to, name, settings))
    return go_to(request, "/console/queue", f"The queue {name} was created.", name=name)


async def show_queue(request: Request) -> Response:
    """Serve GET /console/queue?name=NAME&after=LOOKUP_ID: show one queue and a page of its messages."""
    context, query = context_of(request), request.query_params
    name = query.get("name", "")
    info = find_record(View(context.opened, context.by), QUEUE, name)
    after = _place(query.get("after", ""))
    is_ordinary = info.kind not in {"system", "journal", "dead-letter"} and ";" not in info.name
    refused = _refused(context, name, _ACTS if is_ordinary else _ACTS_ON_PARTS)
    messages: list[Message] = []
    has_more = False
    if Act.PEEK in refused:
        await context.opened.settled()
    else:
        messages = list(map(shown, await browse(context, name, after, MESSAGES)))
        has_more = bool(messages and await browse(context, name, messages[-1].lookup_id, 1))
    return render(
        request,
        "queue.html",
        queue=info,
        subqueues=_subqueues(context, info),
        facts=_facts(info),
        returns=_returns(info.name),
        returned_at_once=RETURNED_AT_ONCE,
        is_ordinary=is_ordinary,
        comes=_COMES.get(info.name.partition(";")[2].casefold(), ""),
        refused={act.name for act in refused},
        may_not=_listed(_ACTS[act] for act in refused),
        chart=_depth_chart(context, name),
        messages=messages,
        has_classes=any(each.message_class for each in messages),
        next=messages[-1].lookup_id if has_more else None,
        is_first=after < 0,
    )


def _refused(context: Context, name: str, acts: Iterable[Act]) -> list[Act]:
    """Return the acts on a queue for which the user lacks a right."""
    found = destinations.find(context.opened.state, name)
    assert found is not None, f"the record of {name} was found"
    return [act for act in acts if lacks(context.opened.state, context.by, found, act)]


def _listed(words: Iterable[str]) -> str:
    """Return words as a list in a sentence.

    >>> _listed([]), _listed(["a"]), _listed(["a", "b", "c"])
    ('', 'a', 'a, b or c')
    """
    *first, last = [*words] or [""]
    return f"{', '.join(first)} or {last}" if first else last


def _returns(name: str) -> str:
    """Return the queue to which the messages of a poison or dead-letter queue can return.

    Empty for others.
    """
    home, _, part = name.partition(";")
    if part.casefold() == "poison":
        return home
    return "the queues they came from" if part.casefold() in RETURNED_FROM else ""


async def show_journals(request: Request) -> Response:
    """Serve GET /console/journals?after=NEXT.

    Journals, dead letters and poison queues with their messages.
    """
    context, query = context_of(request), request.query_params
    view = View(context.opened, context.by)
    page = find_page(view, QUEUE, {}, PageWanted(query.get("after", ""), PAGE))
    systems = [each for name in SYSTEM_QUEUES if (each := queue(view.state, name)) is not None]
    copies = [
        part
        for each in page.records
        for part in _subqueues(context, each)
        if part.messages or each.settings.journaling or part.name.casefold().endswith(";poison")
    ]
    await context.opened.settled()
    return render(
        request,
        "journals.html",
        systems=systems,
        copies=copies,
        next=page.next,
        is_first=not query.get("after"),
    )


def _subqueues(context: Context, info: QueueInfo) -> list[QueueInfo]:
    """Return the journal and the poison queue of a queue, if they exist."""
    if ";" in info.name:
        return []
    found = (queue(context.opened.state, f"{info.name};{part}") for part in SUBQUEUES)
    return [each for each in found if each is not None]


def _facts(info: QueueInfo) -> dict[str, object]:
    """Return the properties below the messages: the record, then the settings."""
    record = {name: getattr(info, name) for name in info.__struct_fields__ if name not in _SHOWN_ABOVE}
    found = record | msgspec.structs.asdict(info.settings)
    found |= {name: found[name] or "no limit" for name in _LIMITS}
    return {_NAMES.get(name, name): value for name, value in found.items() if value != NO_TYPE}


def _depth_chart(context: Context, name: str) -> object:
    found = destinations.find(context.opened.state, name)
    sampled = context.console.sampler.depths
    depths = sampled.get(0 if found is None else found.number, ())
    if sampled and not depths:
        return Markup('<p class="empty">{}</p>').format(
            f"There is no chart of this queue: the depths of the first {QUEUES} queues are sampled, and of no"
            " journal."
        )
    return line_chart("Messages in the queue", "", Series("messages", list(depths)))


def _place(text: str) -> int:
    if not text:
        return -1
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise UsageError(f"after is the lookup id of a message, not {text[:40]!r}")
    return int(text)


async def change_queue(request: Request) -> Response:
    """Serve POST /console/queue/settings: change the settings of a queue."""
    context, fields = context_of(request), await read_form(request)
    name = field_of(fields, "name")
    limit = fields.get("poison_limit", "").strip() or "0"
    if not (limit.isascii() and limit.isdigit() and len(limit) < 10):
        raise UsageError(f"the poison limit is a whole number, not {limit[:40]!r}")
    chosen = {
        "label": fields.get("label", ""),
        "journaling": "journaling" in fields,
        "poison_limit": int(limit),
    }
    changes = changes_of(chosen)
    await context.ask(lambda to: ChangeQueue(to, name, changes))
    return go_to(request, "/console/queue", "The settings were changed.", name=name)


async def purge_queue(request: Request) -> Response:
    """Serve POST /console/queue/purge: delete the messages of a queue."""
    context, fields = context_of(request), await read_form(request)
    name = _confirmed(fields)
    purged = await context.ask(lambda to: PurgeQueue(to, name))
    assert isinstance(purged, Purged), f"no count: {purged!r}"
    return go_to(request, "/console/queue", f"{purged.count:,} messages were deleted.", name=name)


async def delete_queue(request: Request) -> Response:
    """Serve POST /console/queue/delete: delete a queue."""
    context, fields = context_of(request), await read_form(request)
    name = _confirmed(fields)
    purged = await context.ask(lambda to: DeleteQueue(to, name))
    assert isinstance(purged, Purged), f"no count: {purged!r}"
    return go_to(request, "/console/queues", f"The queue {name} was deleted with {purged.count:,} messages.")


def _confirmed(fields: dict[str, str]) -> str:
    """Return the name of the queue, if the user typed it again."""
    name = field_of(fields, "name")
    if fields.get("again", "").strip() != name:
        raise UsageError(f"type the name of the queue, {name}, to confirm that its messages are deleted")
    return name
