"""Handles requests that begin, prepare, commit and abort transactions."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec

from reliquary.base.hresult import HResult
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.forms import Bodies, read_body
from reliquary.net.api.limits import Span, limited
from reliquary.net.api.numbers import LONGEST_WAIT, span_of
from reliquary.net.api.operations import MSGPACK, operation
from reliquary.net.http import Request, Responder
from reliquary.queueing.model.events import (
    AbortTransaction,
    Answer,
    BeginTransaction,
    Begun,
    CommitTransaction,
    PrepareTransaction,
)
from reliquary.queueing.rules.transactions import transaction_of


class BeginIn(msgspec.Struct, forbid_unknown_fields=True):
    """The time after which an unused transaction ends, its id at the coordinator, and its owner."""

    timeout: Span = 60
    id: Annotated[str, limited(format="uuid")] | None = None
    owner: str = ""


class PrepareIn(msgspec.Struct, forbid_unknown_fields=True):
    """Whether the queue manager decides the outcome itself, without a second phase."""

    single_phase: bool = False


class DecideIn(msgspec.Struct, forbid_unknown_fields=True):
    """The administrator who decides in place of the coordinator."""

    by: str = ""


class Transaction(msgspec.Struct):
    """The id of a transaction that began."""

    transaction: str


_encode = msgspec.json.Encoder().encode
_begin = Bodies(BeginIn)
_prepare = Bodies(PrepareIn)
_decide = Bodies(DecideIn)


@operation("Begin a transaction", body=BeginIn, bodies=(MSGPACK,), answer=Transaction, status=201)
def begin(context: Context, request: Request, responder: Responder, _: str) -> None:
    """Answer POST /transactions: begin a transaction and return its id."""
    parameters(request)
    given = read_body(_begin, request)
    timeout = span_of("timeout", given.timeout, LONGEST_WAIT)
    identifier = None if given.id is None else transaction_of(given.id)
    caller = context.engine.caller(partial(_begun, context, responder))
    context.engine.submit(BeginTransaction(caller, timeout, identifier, given.owner))


def _begun(context: Context, responder: Responder, answer: object) -> None:
    assert isinstance(answer, Answer), f"no answer: {answer!r}"
    if isinstance(answer, Begun) and answer.status is HResult.OK:
        responder.respond(201, _encode({"transaction": answer.transaction}))
    else:
        context.refuse(responder, answer)


@operation("Prepare a transaction", body=PrepareIn, bodies=(MSGPACK,), status=204)
def prepare(context: Context, request: Request, responder: Responder, transaction: str) -> None:
    """Answer POST /transactions/{id}/prepare: make a transaction ready for its outcome."""
    parameters(request)
    single_phase = read_body(_prepare, request).single_phase
    identifier = transaction_of(transaction)
    context.submit(responder, lambda to: PrepareTransaction(to, identifier, single_phase))


@operation("Commit a transaction", body=DecideIn, bodies=(MSGPACK,), status=204)
def commit(context: Context, request: Request, responder: Responder, transaction: str) -> None:
    """Answer POST /transactions/{id}/commit: commit a transaction."""
    _end(context, request, responder, transaction, CommitTransaction)


@operation("Abort a transaction", body=DecideIn, bodies=(MSGPACK,), status=204)
def abort(context: Context, request: Request, responder: Responder, transaction: str) -> None:
    """Answer POST /transactions/{id}/abort: abort a transaction."""
    _end(context, request, responder, transaction, AbortTransaction)


def _end(
    context: Context,
    request: Request,
    responder: Responder,
    transaction: str,
    event: type[CommitTransaction | AbortTransaction],
) -> None:
    parameters(request)
    by = read_body(_decide, request).by
    identifier = transaction_of(transaction)
    if by:  # an administrator decides in place of the coordinator
        act = "commit-transaction" if event is CommitTransaction else "abort-transaction"
        context.on_act(context.engine.by, request.peer, act, f"{identifier} by {by[:80]}")
    context.submit(responder, lambda to: event(to, identifier, by))
