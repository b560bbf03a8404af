"""Builds the paths of the nouns of administration from their declarations.

GET   /channels                  a page of records, in an object under the noun's plural
GET   /channels/{number}         one record
POST  /channels/{number}/report  an act; its parameters are the JSON body, the answer is the record
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.context import answer, context_of, read_body
from reliquary.console.description import Row, api
from reliquary.net.api.administration import filters_of, list_operation
from reliquary.net.api.operations import operation
from reliquary.queueing.model.administration import Act, Noun
from reliquary.views.administration import Administrator
from reliquary.views.pages import as_json, wanted_page

_CONVERTORS: Final = {int: "int", str: "path"}


def rows_of(noun: Noun[Any], prefix: str) -> Iterator[Row]:
    """Yield the paths of one noun below a prefix; those of acts first, because a key may contain slashes."""
    path = f"{prefix}/{noun.plural}"
    yield api(path, _list_handler(noun), "GET")
    if noun.showing is None:
        return
    one = f"{path}/{{{noun.name}:{_CONVERTORS[noun.showing.kind]}}}"
    for act in noun.acts:
        yield api(f"{one}/{act.verb}", _act_handler(noun, act), "POST")
    yield api(one, _show_handler(noun), "GET")


def _list_handler(noun: Noun[Any]) -> Any:
    async def list_records(request: Request) -> Response:
        query = request.query_params
        wanted = wanted_page(query.get("after"), query.get("limit"))
        page = await _administrator(request).list_page(noun, wanted, **filters_of(noun, query))
        return answer(as_json(noun.plural, page))

    return operation(**list_operation(noun))(list_records)


def _show_handler(noun: Noun[Any]) -> Any:
    async def show_record(request: Request) -> Response:
        return answer(await _administrator(request).show_record(noun, request.path_params[noun.name]))

    return operation(f"Show one {noun.name}", answer=noun.record)(show_record)


def _act_handler(noun: Noun[Any], act: Act) -> Any:
    fields = [
        (each.name, each.kind, msgspec.NODEFAULT if each.default is None else each.default)
        for each in act.parameters
    ]
    body = msgspec.defstruct(
        f"{noun.name.capitalize()}{act.verb.capitalize()}", fields, forbid_unknown_fields=True
    )
    decoder = msgspec.json.Decoder(body)

    async def act_on(request: Request) -> Response:
        given = msgspec.structs.asdict(await read_body(request, decoder)) if act.parameters else {}
        key = request.path_params[noun.name]
        return answer(await _administrator(request).act_on(noun, key, act.verb, given))

    act_on.__name__ = f"{act.verb}_{noun.name}"  # the name of the act in the log of acts
    declared = operation(
        act.help,
        body=body if act.parameters else None,
        body_required=any(each.default is None for each in act.parameters),
        answer=noun.record,
    )
    return declared(act_on)


def _administrator(request: Request) -> Administrator:
    context = context_of(request)
    return Administrator(context.opened, context.opened.engine.ask, context.by)
