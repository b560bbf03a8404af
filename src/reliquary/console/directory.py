"""Shows and changes the objects of the directory, and exports and imports them as a file.

Changes are events, which the manager judges.  Reading, also of the object to change, needs a right of
the manager.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.context import Context, answer, context_of, read_body, read_bytes
from reliquary.net.api.administration import page_type
from reliquary.net.api.operations import AFTER_NUMBER, LIMIT, Query, operation
from reliquary.queueing.directory.events import (
    CreateDirectoryObject,
    DeleteDirectoryObject,
    ImportDirectory,
    SwitchDirectory,
    WriteDirectory,
)
from reliquary.queueing.directory.exchange import changed, import_text, kind_named, subject_of
from reliquary.queueing.directory.results import DirectoryAnswer
from reliquary.queueing.model.directory.objects import ObjectKind
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.views import directory as views
from reliquary.views.pages import as_json, cut, wanted_page

_object = msgspec.json.Decoder(dict[str, Any])


class Imported(msgspec.Struct):
    """The number of objects that were imported."""

    objects: int


class Removed(msgspec.Struct):
    """The object that was removed."""

    identifier: UUID


Fields = dict[str, Any]
"""The attributes of an object, by name."""
ObjectsPage = page_type("objects", Fields)
WHERE: Final = Query(
    name="where", help="A condition, such as name=north; all conditions must hold.", repeated=True
)

IMPORT_BYTES = 64 * 1024 * 1024
TOML = "application/toml"


@operation("Show the state of the directory", answer=views.DirectoryView)
async def show_status(request: Request) -> Response:
    """Serve GET /directory: return whether the manager is attached to the directory."""
    return await _status(_reader(request))


@operation("Attach the directory", answer=views.DirectoryView)
async def attach(request: Request) -> Response:
    """Serve POST /directory/attach: attach the manager to the directory."""
    return await _switch(request, attached=True)


@operation("Detach the directory", answer=views.DirectoryView)
async def detach(request: Request) -> Response:
    """Serve POST /directory/detach: detach the manager from the directory."""
    return await _switch(request, attached=False)


async def _switch(request: Request, *, attached: bool) -> Response:
    context = context_of(request)
    await context.ask(lambda to: SwitchDirectory(to, attached))
    return await _status(context)


async def _status(context: Context) -> Response:
    seen = views.status(context.opened.state)
    await context.opened.settled()
    return answer(seen)


@operation("Export the directory as TOML", answers=(TOML,))
async def export(request: Request) -> Response:
    """Serve GET /directory/export: return all objects as a file."""
    opened = _reader(request).opened
    text = views.exported(opened.state)
    await opened.settled()
    return Response(text, media_type=TOML)


@operation("Import objects of a TOML file: all of them or none", bodies=(TOML,), answer=Imported)
async def take_in(request: Request) -> Response:
    """Serve POST /directory/import: add the objects of a file to the directory."""
    context = context_of(request)
    context.need(ManagerRight.SET_MACHINE_PROPERTIES)  # before much is read and parsed
    text = (await read_bytes(request, IMPORT_BYTES)).decode()
    subjects = await asyncio.to_thread(import_text, text)
    await context.ask(lambda to: ImportDirectory(to, subjects))
    return answer(Imported(len(subjects)))


@operation("List objects of the directory in pages", query=(WHERE, AFTER_NUMBER, LIMIT), answer=ObjectsPage)
async def list_objects(request: Request) -> Response:
    """Serve GET /directory/{kind}?where=CONDITION: return the objects of a kind."""
    opened, query = _reader(request).opened, request.query_params
    wanted = wanted_page(query.get("after"), query.get("limit"))
    seen = cut(views.listed(opened.state, _kind(request), query.getlist("where")), wanted)
    await opened.settled()
    return answer(as_json("objects", seen))


@operation("Show an object of the directory", answer=Fields)
async def show_object(request: Request) -> Response:
    """Serve GET /directory/{kind}/{which}: return one object."""
    context = _reader(request)
    return await _shown(context, _kind(request), request.path_params["which"])


@operation("Create an object of the directory", body=Fields, body_required=True, answer=Fields, status=201)
async def add_object(request: Request) -> Response:
    """Serve POST /directory/{kind}: create an object."""
    context, kind = context_of(request), _kind(request)
    fields = await read_body(request, _object)
    subject = subject_of(kind, fields)
    made = await context.ask(lambda to: CreateDirectoryObject(to, subject))
    assert isinstance(made, DirectoryAnswer), f"no object: {made!r}"
    assert made.subject is not None, "it was created"
    return await _shown(context, kind, str(made.subject.identifier), 201)


@operation("Change attributes of an object of the directory", body=Fields, body_required=True, answer=Fields)
async def change_object(request: Request) -> Response:
    """Serve PATCH /directory/{kind}/{which}: change attributes of an object."""
    context, kind = _reader(request), _kind(request)
    fields = await read_body(request, _object)
    identifier = _identifier(context, request)
    subject, attributes = changed(kind, identifier, fields)
    await context.ask(lambda to: WriteDirectory(to, subject, attributes))
    return await _shown(context, kind, str(identifier))


@operation("Remove an object of the directory", answer=Removed)
async def remove_object(request: Request) -> Response:
    """Serve DELETE /directory/{kind}/{which}: remove an object."""
    context, kind = _reader(request), _kind(request)
    identifier = _identifier(context, request)
    await context.ask(lambda to: DeleteDirectoryObject(to, kind, identifier))
    return answer(Removed(identifier))


def _reader(request: Request) -> Context:
    """Return the context of a request whose user may read the directory."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    return context


def _kind(request: Request) -> ObjectKind:
    return kind_named(request.path_params["kind"])


def _identifier(context: Context, request: Request) -> UUID:
    return views.found(context.opened.state, _kind(request), request.path_params["which"]).identifier


async def _shown(context: Context, kind: ObjectKind, which: str, status: int = 200) -> Response:
    seen = views.shown(context.opened.state, kind, which)
    await context.opened.settled()
    return answer(seen, status)
