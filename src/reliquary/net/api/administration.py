"""Builds the paths of the nouns of administration on the data plane from their declarations.

GET  /transactions?owner=billing   a page of the records that match the filters, in an object under the plural
GET  /transactions/{id}            one record
GET  /queues/{queue}/consumers     a page of the records of one queue
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from reliquary.net.api.context import Context, parameters
from reliquary.net.api.numbers import flag_of
from reliquary.net.api.operations import AFTER, AFTER_NUMBER, LIMIT, Query, names_of, operation
from reliquary.net.api.routes import ApiHandler
from reliquary.net.http import Request, Responder
from reliquary.queueing.model.administration import Machines, Noun, View
from reliquary.views.administration import find_page, find_record
from reliquary.views.pages import as_json, wanted_page

_encode = msgspec.json.Encoder().encode
_VALUES: Final[Mapping[type, Callable[[str, str], object]]] = {bool: flag_of, str: lambda _, text: text}
"""The functions that read a filter of a query, by the type of its value."""


def routes_of(noun: Noun[Any], machines: Machines) -> Mapping[str, Mapping[str, ApiHandler]]:
    """Return the path shapes of one noun, with a handler for each method."""
    shape = f"queues/*/{noun.plural}" if noun.of_a_queue else noun.plural
    routes = {shape: {"GET": _list_handler(noun, machines)}}
    if noun.showing is not None:
        routes[f"{shape}/*"] = {"GET": _show_handler(noun, machines)}
    return routes


def filters_of(noun: Noun[Any], query: Mapping[str, str]) -> dict[str, object]:
    """Return the filters that a query has, with their values."""
    return {
        each.name: _VALUES[each.kind](each.name, query[each.name])
        for each in noun.listing.filters
        if each.name in query
    }


def query_of(noun: Noun[Any]) -> tuple[Query, ...]:
    """Return the query parameters of the list of a noun: its filters, and the page."""
    filters = (Query(name=each.name, kind=each.kind, help=each.help) for each in noun.listing.filters)
    return *filters, AFTER_NUMBER if noun.listing.paging is None else AFTER, LIMIT


def list_operation(noun: Noun[Any]) -> dict[str, Any]:
    """Return the declaration of the list of a noun, for `operation`."""
    page = page_type(noun.plural, noun.record)
    return {"summary": f"List {noun.plural} in pages", "query": query_of(noun), "answer": page}


def page_type(plural: str, record: Any) -> type[msgspec.Struct]:
    """Return the type of a page, which `views.pages.as_json` makes."""
    fields: list[Any] = [(plural, list[record]), ("next", str | msgspec.UnsetType, msgspec.UNSET)]
    return msgspec.defstruct(f"{plural.capitalize()}Page", fields)


def _list_handler(noun: Noun[Any], machines: Machines) -> ApiHandler:
    names = names_of(query_of(noun))

    def list_records(context: Context, request: Request, responder: Responder, name: str) -> None:
        given = parameters(request, *names)
        filters = filters_of(noun, given)
        if noun.of_a_queue:
            filters["queue"] = name
        wanted = wanted_page(given.get("after"), given.get("limit"))
        page = find_page(View(machines, context.engine.by), noun, filters, wanted)
        _respond(context, responder, as_json(noun.plural, page))

    return operation(**list_operation(noun))(list_records)


def _show_handler(noun: Noun[Any], machines: Machines) -> ApiHandler:
    def show_record(context: Context, request: Request, responder: Responder, name: str) -> None:
        parameters(request)
        _respond(context, responder, find_record(View(machines, context.engine.by), noun, name))

    return operation(f"Show one {noun.name}", answer=noun.record)(show_record)


def _respond(context: Context, responder: Responder, content: object) -> None:
    """Send a response once all the state that it shows is on disk."""
    body = _encode(content)
    context.settled(lambda _: responder.respond(200, body))
