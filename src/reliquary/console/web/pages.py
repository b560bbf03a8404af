"""Provides the parts that all pages of the console share: templates, forms, headers and error pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from hmac import compare_digest
from string import ascii_lowercase, digits
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from reliquary.base.faults import UsageError
from reliquary.client.nouns import NOUNS
from reliquary.console.context import BODY_LIMIT, Context, context_of, read_bytes
from reliquary.console.noting import tell
from reliquary.console.request import Asked
from reliquary.console.web.bodies import preview
from reliquary.console.web.charts import short
from reliquary.console.web.story import used_columns
from reliquary.console.web.texts import choices, column_class, heading, introduction, marked, moment, prose
from reliquary.queueing.model.administration import Noun
from reliquary.queueing.model.security.principals import ANONYMOUS
from reliquary.views.queues import QUEUE

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
_LABELS: Final = {
    "outgoing": "Outgoing queues",
    "streams": "Streams",
    "channels": "HTTPR channels",
    "sequences": "WS-RM sequences",
    "rpc": "MQQP associations",
    "sessions": "MQQB sessions",
}


def label_of(noun: Noun[Any]) -> str:
    """Return the name of the page of a noun."""
    return _LABELS.get(noun.plural, noun.plural.capitalize())


def has_page(noun: Noun[Any]) -> bool:
    """Return whether a page lists the records of a noun and is built from its declaration."""
    return noun is not QUEUE and not noun.of_a_queue and bool(noun.listing.columns)


MENU: Final = (
    ("Overview", "/console"),
    ("Queues", "/console/queues"),
    ("Journals", "/console/journals"),
    *((label_of(noun), f"/console/records/{noun.plural}") for noun in NOUNS if has_page(noun)),
    ("Consumers", "/console/consumers"),
    ("History", "/console/history"),
    ("Acts", "/console/acts"),
    ("Alarms", "/console/alarms"),
)
"""The pages of the menu: names and paths."""


def keys_of(menu: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the key of each page by its path: the first letter of its name that no page before it has.

    >>> keys_of([("Overview", "/a"), ("Outgoing queues", "/b"), ("Oo", "/c")])
    {'/a': 'o', '/b': 'u', '/c': 'a'}
    """
    found: dict[str, str] = {}
    for name, path in menu:
        wanted = [*name.lower(), *ascii_lowercase, *digits]
        found[path] = next(each for each in wanted if each.isalnum() and each not in found.values())
    return found


KEYS: Final = keys_of(MENU)
"""The keys that lead to pages, each after `g`."""
HEADINGS: Final = {
    "/console/records/outgoing": "Other managers",
    "/console/records/writers": "Spark",
    "/console/history": "Operation",
}
"""The headings of the menu, by the path of the page below each."""
_OF_A_QUEUE: Final = {"/console/queue": "name", "/console/message": "queue"}
"""The pages about a queue, with the field of their address that names it."""
KEPT_IN: Final = frozenset({"journal", "poison", "deadletter", "deadxact"})
"""The ends of names of queues that keep copies, dead letters and poisonous messages."""


def section_of(path: str, query: Mapping[str, str]) -> str:
    """Return the page of the menu that leads to a page.

    >>> section_of("/console/queue", {"name": "orders;poison"}), section_of("/console/record/streams", {})
    ('/console/journals', '/console/records/streams')
    """
    if path not in _OF_A_QUEUE:
        return path.replace("/record/", "/records/")
    part = query.get(_OF_A_QUEUE[path], "").partition(";")[2]
    return "/console/journals" if part.casefold() in KEPT_IN else "/console/queues"


@lru_cache(maxsize=1)
def templates() -> Environment:
    """Return the templates; each value is escaped unless it is own markup."""
    found = Environment(
        loader=PackageLoader("reliquary.console.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"shown": shown, "short": short, "query": urlencode, "exact": exact}
    found.filters |= {"prose": prose, "heading": heading, "choices": choices, "column_class": column_class}
    found.filters |= {"introduction": introduction, "marked": marked, "preview": preview}
    found.filters["used_columns"] = used_columns
    return found


def shown(value: object) -> str:
    """Return a value of a record in readable form.

    >>> shown(None), shown(True), shown(1234567), shown(["a", "b"])
    ('-', 'yes', '1,234,567', 'a, b')
    """
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds").replace("+00:00", " UTC")
        case list() | tuple():
            return ", ".join(map(shown, value)) or "-"
        case dict():
            return ", ".join(f"{name}: {shown(each)}" for name, each in value.items()) or "-"
        case str():
            written = moment(value)
            return value if written is None else shown(written)
        case _:
            return str(value)


def exact(moment: datetime) -> str:
    """Return a time with its milliseconds.

    >>> exact(datetime(2026, 11, 18, 7, 5, 9, 120_000))
    '2026-11-18 07:05:09.120'
    """
    return moment.isoformat(sep=" ", timespec="milliseconds").replace("+00:00", "")


def render(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Return a page; `values` are for its template."""
    context = context_of(request)
    html = (
        templates()
        .get_template(template)
        .render(
            menu=MENU,
            keys=KEYS,
            headings=HEADINGS,
            path=request.url.path,
            section=section_of(request.url.path, request.query_params),
            assets={name: asset.path for name, asset in context.console.assets.items()},
            csrf=context.console.sessions.csrf_of(Asked(request.scope)),
            user=None if context.by is ANONYMOUS else context.by.name,
            has_users=context.users.any,
            computer=context.opened.state.identity().computer_name,
            version=context.version,
            notice=_notice_of(request),
            **values,
        )
    )
    return Response(html, status, HEADERS, media_type="text/html")


async def settled(context: Context, page: Callable[[], Response]) -> Response:
    """Make a page, and return it after everything that it shows is on disk."""
    made = page()
    await context.opened.settled()
    return made


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form that a page of this session sent; refuse any other form."""
    body = await read_bytes(request, BODY_LIMIT)
    try:
        fields = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100))
    except ValueError as why:
        raise UsageError(f"the form cannot be read: {why}") from why
    sessions = context_of(request).console.sessions
    if not sessions.is_own_form(Asked(request.scope), fields.pop("csrf", "")):
        raise HTTPException(403, "the form is not from this session: load the page again, then repeat it")
    about = fields.get("name") or fields.get("key") or fields.get("queue") or ""
    keys = " ".join(fields[each] for each in ("lookup_id", "target") if fields.get(each))
    tell(request, about=about, detail=keys)
    return fields


def field_of(fields: Mapping[str, str], name: str) -> str:
    """Return a field that a form must have."""
    value = fields.get(name, "").strip()
    if not value:
        raise UsageError(f"the field {name!r} is empty")
    return value


def number_of(text: str) -> int:
    """Return a number of a form or an address; refuse any other text."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise UsageError(f"{text[:40]!r} is no number")
    return int(text)


def go_to(request: Request, path: str, notice: str, **query: str) -> Response:
    """Redirect the browser to a page after a form was handled; the page shows the sentence `notice`."""
    seal = context_of(request).console.sessions.seal_of(notice)
    return RedirectResponse(f"{path}?{urlencode(query | {'notice': notice, 'seal': seal})}", 303, HEADERS)


def _notice_of(request: Request) -> str:
    """Return the notice in the address of a page; empty if it is not from this server, but from a link."""
    notice, seal = (request.query_params.get(name, "") for name in ("notice", "seal"))
    expected = context_of(request).console.sessions.seal_of(notice)
    return notice if compare_digest(seal.encode(), expected.encode()) else ""
