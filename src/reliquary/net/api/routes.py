"""Selects the handlers of the data plane by the shape of a path and the method.

A queue's name may contain slashes, `private$/orders`, so a path is divided at its first and last ones:

    /api/v1/queues/private$/orders/messages  -->  shape "queues/*/messages", name "private$/orders"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from reliquary.net.api import handles, health, read, send, transactions
from reliquary.net.api.context import Context
from reliquary.net.http import BodySink, Request, Responder

PREFIX: Final = "/api/v1/"

ApiHandler = Callable[[Context, Request, Responder, str], None]

StreamHandler = Callable[[Context, Request, Responder], BodySink]
"""The handler of a path whose bodies are passed on while they arrive."""

ROUTES: Final[Mapping[str, Mapping[str, ApiHandler]]] = {
    "queues/*/messages": {"POST": send.send, "GET": read.browse},
    "queues/*/receive": {"POST": read.receive},
    "queues/*/peek": {"POST": read.peek},
    "queues/*/lookup": {"POST": read.look_up},
    "queues/*/move": {"POST": send.move},
    "queues/*/open": {"POST": handles.open_queue},
    "queues/*/cancel": {"POST": read.cancel},
    "receipts": {"POST": read.end_named_read},
    "receipts/*": {"POST": read.end_read},
    "handles/*": {"DELETE": handles.close_queue},
    "handles/*/cursors": {"POST": handles.open_cursor},
    "cursors/*": {"DELETE": handles.close_cursor},
    "transactions": {"POST": transactions.begin},
    "transactions/*/prepare": {"POST": transactions.prepare},
    "transactions/*/commit": {"POST": transactions.commit},
    "transactions/*/abort": {"POST": transactions.abort},
    "health": {"GET": health.health},
}


def merged(*tables: Mapping[str, Mapping[str, ApiHandler]]) -> Mapping[str, Mapping[str, ApiHandler]]:
    """Return one table of several; a path may have methods in more than one of them."""
    whole: dict[str, dict[str, ApiHandler]] = {}
    for shape, methods in (row for table in tables for row in table.items()):
        known = whole.setdefault(shape, {})
        assert known.keys().isdisjoint(methods), f"two handlers of one method of {shape}"
        known.update(methods)
    return whole


@lru_cache(maxsize=256)
def shape_of(path: str) -> tuple[str, str]:
    """Return the shape of a path and the name in it; clients repeat a few paths, so results are cached.

    >>> shape_of("/api/v1/queues/orders/receive")
    ('queues/*/receive', 'orders')
    """
    if not path.startswith(PREFIX):
        return "", ""
    noun, slash, rest = path[len(PREFIX) :].partition("/")
    if not slash:
        return noun, ""
    name, slash, verb = rest.rpartition("/")
    return (f"{noun}/*/{verb}", name) if slash else (f"{noun}/*", rest)


def allowed(methods: Mapping[str, ApiHandler]) -> str:
    """Return the methods of a path, for the Allow header."""
    return ", ".join([*methods, *(["HEAD"] if "GET" in methods else []), "OPTIONS"])
