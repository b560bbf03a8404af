r"""Shows pages of the nouns of administration, built from their declarations.

GET  /console/records/PLURAL            a table of the declared columns
GET  /console/record/PLURAL?key=KEY     one record, its parts, a form for each act
POST /console/record/PLURAL/VERB        an act; the answer leads back to the record, or to the list
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import UsageError
from reliquary.base.time import as_datetime
from reliquary.client.nouns import NOUNS
from reliquary.console.context import Context, context_of
from reliquary.console.noting import tell
from reliquary.console.web.pages import field_of, go_to, has_page, label_of, read_form, render
from reliquary.console.web.texts import DONE, EMPTY, choices, heading, title_of
from reliquary.queueing.model.administration import Act, Column, Key, Noun, Parameter, RecordFormat, Refusal
from reliquary.queueing.model.events import AbortTransaction, CommitTransaction
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.rules.transactions import transaction_of
from reliquary.views.administration import Administrator
from reliquary.views.consumers import ConsumerView, all_consumers
from reliquary.views.outgoing_queues import OUTGOING
from reliquary.views.pages import wanted_page
from reliquary.views.transactions import TRANSACTION

PAGE: Final = "100"
"""The number of records on one page."""
_NOUNS: Final = {noun.plural: noun for noun in NOUNS if has_page(noun)}
CONSUMER_COLUMNS: Final[tuple[tuple[str, Callable[[ConsumerView], object]], ...]] = (
    ("consumer", lambda each: each.name),
    ("queue", lambda each: each.queue),
    ("lag", lambda each: each.lag),
    ("read up to", lambda each: each.cursor),
    ("last number", lambda each: each.mark),
    ("messages kept", lambda each: each.messages_retained),
    ("bytes kept", lambda each: each.bytes_retained),
    ("lost", lambda each: each.lost),
    ("paused", lambda each: each.paused),
    ("moved", lambda each: as_datetime(each.moved)),
)
"""The columns of the page of consumers."""
_DECISIONS: Final[dict[str, Callable[[int, UUID, str], Any]]] = {
    "commit": CommitTransaction,
    "abort": AbortTransaction,
}
"""The decisions of an administrator for a transaction whose coordinator does not return."""


async def show_records(request: Request) -> Response:
    """Serve GET /console/records/{plural}?after=NEXT: show a table of records."""
    noun, query = _noun(request), request.query_params
    page = await _administrator(request).list_page(noun, wanted_page(query.get("after"), PAGE))
    columns = noun.listing.columns
    parts = {} if noun.showing is None else noun.showing.parts
    return render(
        request,
        "records.html",
        title=label_of(noun),
        noun=noun,
        help=noun.listing.help,
        heads=list(map(_head, columns)),
        rows=[
            (_key(noun, each), [_cell(each, column, parts) for column in columns], _quick_acts(noun, each))
            for each in page.records
        ],
        next=page.next,
        has_acts=noun is OUTGOING,
        empty=EMPTY.get(noun.plural, ""),
    )


def _quick_acts(noun: Noun[Any], record: Any) -> list[str]:
    """Return the acts on an outgoing queue that have an effect now."""
    if noun is not OUTGOING:
        return []
    is_paused = record.state == OutgoingState.ON_HOLD.value
    waits = is_paused or record.resting or record.failures > 0
    return ["resume"] * waits + ["pause"] * (not is_paused)


async def show_record(request: Request) -> Response:
    """Serve GET /console/record/{plural}?key=KEY: show one record with its acts."""
    noun = _noun(request)
    showing = _showing(noun)
    key = _parsed(showing, request.query_params.get("key", ""))
    record = await _administrator(request).show_record(noun, key)
    names = showing.fields or tuple(
        name for name in noun.record.__struct_fields__ if name not in showing.parts
    )
    return render(
        request,
        "record.html",
        title=label_of(noun),
        one=title_of(noun),
        noun=noun,
        key=str(key),
        argument=showing.key,
        fields={_head(name): _cell(record, name) for name in names},
        parts_of_record=_parts(record, showing.parts),
        acts=[each for each in noun.acts if noun is not OUTGOING or each.verb in _quick_acts(noun, record)],
        decisions=list(_DECISIONS) if noun is TRANSACTION and record.prepared else [],
    )


async def act_on_record(request: Request) -> Response:
    """Serve POST /console/record/{plural}/{verb}: perform an act on a record."""
    noun, verb, fields = _noun(request), request.path_params["verb"], await read_form(request)
    key = _parsed(_showing(noun), field_of(fields, "key"))
    tell(request, act=f"{verb}-{noun.name}")
    if noun is TRANSACTION:
        await _decide(context_of(request), str(key), verb)
    else:
        act = next((each for each in noun.acts if each.verb == verb), None)
        if act is None:
            raise HTTPException(404)
        await _administrator(request).act_on(noun, key, verb, _parameters(act, fields))
    notice = f"{title_of(noun)} {key} {DONE[verb]}."
    try:
        await _administrator(request).show_record(noun, key)
    except Refusal:
        return go_to(request, f"/console/records/{noun.plural}", notice)
    return go_to(request, f"/console/record/{noun.plural}", notice, key=str(key))


async def show_consumers(request: Request) -> Response:
    """Serve GET /console/consumers: the readers of feeds, and the progress of each."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    records = list(all_consumers(context.opened.state))
    await context.opened.settled()
    rows = [[value(each) for _, value in CONSUMER_COLUMNS] for each in records]
    heads = [head for head, _ in CONSUMER_COLUMNS]
    return render(request, "consumers.html", consumers=records, heads=heads, rows=rows)


async def _decide(context: Context, transaction: str, verb: str) -> None:
    make = _DECISIONS.get(verb)
    if make is None:
        raise HTTPException(404)
    identifier, person = transaction_of(transaction), context.by.name or "console"
    await context.ask(lambda to: make(to, identifier, person))


def _noun(request: Request) -> Noun[Any]:
    noun = _NOUNS.get(request.path_params["plural"])
    if noun is None:
        raise HTTPException(404)
    return noun


def _showing(noun: Noun[Any]) -> RecordFormat[Any]:
    if noun.showing is None:
        raise HTTPException(404)
    return noun.showing


def _administrator(request: Request) -> Administrator:
    context = context_of(request)
    return Administrator(context.opened, context.opened.engine.ask, context.by)


def _parsed(showing: RecordFormat[Any], text: str) -> Key:
    """Return a key in the type of the noun."""
    if showing.kind is str:
        return text
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise UsageError(f"the key is a number, not {text[:40]!r}")
    return int(text)


def _parameters(act: Act, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of an act from the fields of its form."""
    return {each.name: _argument(each, fields) for each in act.parameters}


def _argument(parameter: Parameter, fields: Mapping[str, str]) -> bool | int | str:
    text = fields.get(parameter.name, "").strip()
    if parameter.kind is bool:
        words = choices(parameter)
        if words is not None and text not in words and parameter.default is None:
            raise UsageError(f"choose one: {words[0]} or {words[1]}")
        return bool(text) if words is None else text == words[0] or (not text and bool(parameter.default))
    if not text and parameter.default is not None:
        return parameter.default
    if parameter.kind is int:
        if not text.lstrip("-").isdigit():
            raise UsageError(f"{parameter.name} is a whole number, not {text[:40]!r}")
        return int(text)
    return text


def _key(noun: Noun[Any], record: msgspec.Struct) -> str | None:
    return None if noun.showing is None else str(getattr(record, noun.showing.key))


def _parts(
    record: msgspec.Struct, parts: Mapping[str, tuple[str, ...]]
) -> list[tuple[str, Sequence[str], list[list[object]]]]:
    """Return the tables of the records in a record: name, heads, rows."""
    return [
        (name, columns, [[_cell(each, column) for column in columns] for each in getattr(record, name)])
        for name, columns in parts.items()
    ]


def _head(column: str | Column[Any]) -> str:
    return heading(column if isinstance(column, str) else column.head)


def _cell(
    record: msgspec.Struct, column: str | Column[Any], parts: Mapping[str, object] | None = None
) -> object:
    if not isinstance(column, str):
        return column.value(record)
    value = getattr(record, column)
    return len(value) if parts and column in parts else value
