"""The paths of the nouns of administration, built from their declarations.

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
from starlette.routing import Route

from reliquary.console.context import answer, context_of, read_body
from reliquary.net.api.administration import filters_of
from reliquary.queueing.model.administration import Act, Noun
from reliquary.views.administration import Administrator
from reliquary.views.pages import as_json, wanted_page

_CONVERTORS: Final = {int: "int", str: "path"}


def routes_of(noun: Noun[Any], prefix: str) -> Iterator[Route]:
    """The routes of one noun below a prefix; those of acts first, for a key may hold slashes."""
    path = f"{prefix}/{noun.plural}"
    yield Route(path, _list_handler(noun), methods=["GET"])
    if noun.showing is None:
        return
    one = f"{path}/{{key:{_CONVERTORS[noun.showing.kind]}}}"
    for act in noun.acts:
        yield Route(f"{one}/{act.verb}", _act_handler(noun, act), methods=["POST"])
    yield Route(one, _show_handler(noun), methods=["GET"])


def _list_handler(noun: Noun[Any]) -> Any:
    async def list_records(request: Request) -> Response:
        query = request.query_params
        wanted = wanted_page(query.get("after"), query.get("limit"))
        page = await _administrator(request).list_page(noun, wanted, **filters_of(noun, query))
        return answer(as_json(noun.plural, page))

    return list_records


def _show_handler(noun: Noun[Any]) -> Any:
    async def show_record(request: Request) -> Response:
        return answer(await _administrator(request).show_record(noun, request.path_params["key"]))

    return show_record


def _act_handler(noun: Noun[Any], act: Act) -> Any:
    fields = [
        (each.name, each.kind, msgspec.NODEFAULT if each.default is None else each.default)
        for each in act.parameters
    ]
    body = msgspec.defstruct("Parameters", fields, forbid_unknown_fields=True)
    decoder = msgspec.json.Decoder(body)

    async def act_on(request: Request) -> Response:
        given = msgspec.structs.asdict(await read_body(request, decoder)) if act.parameters else {}
        key = request.path_params["key"]
        return answer(await _administrator(request).act_on(noun, key, act.verb, given))

    return act_on


def _administrator(request: Request) -> Administrator:
    context = context_of(request)
    return Administrator(context.opened, context.opened.engine.ask, context.by)
