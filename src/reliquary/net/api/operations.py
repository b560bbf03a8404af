"""Declares handlers of the API: their query, their body and their answers.

    @operation("Send messages", query=(TRANSACTION, HANDLE), body=MessageIn, answer=SendOut, status=201)
    def send(...): ...

The declaration stands at the handler.  `openapi` makes the description of the API from the table of
routes and these declarations; handlers take the names of their query parameters from them.  The
declaration adds no cost to a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, TypeVar

from reliquary.net.api.limits import Guid, LookupId, PageSize, limited
from reliquary.queueing.rules.checks import COUNT_LIMIT

Handler = TypeVar("Handler", bound=Callable[..., Any])

JSON: Final = "application/json"
TEXT: Final = "text/plain"
MSGPACK: Final = "application/msgpack"
OCTETS: Final = "application/octet-stream"


@dataclass(frozen=True, kw_only=True)
class Query:
    """A parameter of the query."""

    name: str
    help: str
    kind: Any = str
    required: bool = False
    repeated: bool = False


AFTER: Final = Query(name="after", help="The field `next` of the page before; the first page without it.")
AFTER_NUMBER: Final = replace(AFTER, kind=Annotated[str, limited(pattern="^[0-9]{0,15}$")])
"""The parameter of lists in which the number of a record is its position."""
LIMIT: Final = Query(name="limit", kind=PageSize, help="How many records the page has at most.")
AFTER_MESSAGE: Final = Query(
    name="after",
    kind=LookupId,
    help="The lookup id of the message before the page; the first page without it.",
)
MESSAGES: Final = Query(
    name="limit",
    kind=Annotated[int, limited(minimum=1, maximum=COUNT_LIMIT, default=100)],
    help="How many messages the page has at most.",
)
HANDLE: Final = Query(name="handle", help="An open handle that is used in place of the queue.")
TRANSACTION: Final = Query(name="transaction", kind=Guid, help="The transaction that the request belongs to.")


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A method of a path, as clients see it."""

    summary: str
    query: tuple[Query, ...] = ()
    body: Any = None
    """The type of the JSON body; None if the request has none."""
    body_required: bool = False
    bodies: tuple[str, ...] = ()
    """Further media types of the body."""
    answer: Any = None
    """The type of the JSON answer; None if the answer has no body, or none in JSON."""
    answers: tuple[str, ...] = ()
    """Further media types of the answer, or all of them without `answer`."""
    status: int = 200
    statuses: Mapping[int, str] = field(default_factory=dict)
    """Further statuses, or statuses with another meaning than in other answers."""


def names_of(query: Sequence[Query]) -> tuple[str, ...]:
    """Return the names of query parameters."""
    return tuple(each.name for each in query)


def operation(summary: str, **said: Any) -> Callable[[Handler], Handler]:
    """Declare the parameters, the body and the answers of a handler."""
    declared = Operation(summary=summary, **said)

    def declare(handler: Handler) -> Handler:
        handler.operation = declared  # type: ignore[attr-defined]
        return handler

    return declare


def operation_of(handler: Callable[..., Any]) -> Operation:
    """Return the declaration of a handler."""
    declared = getattr(handler, "operation", None)
    assert isinstance(declared, Operation), f"{handler!r} is not declared by @operation"
    return declared
