"""Transactions: begin, prepare, commit, abort, and those that have not ended."""

from __future__ import annotations

from functools import partial

import msgspec

from reliquary.base.hresult import HResult
from reliquary.engine import views
from reliquary.net.api.context import Context, parameters, read_body
from reliquary.net.api.numbers import LONGEST_WAIT, span_of, transaction_of
from reliquary.net.http import Request, Responder
from reliquary.queueing.events import (
    AbortTransaction,
    BeginTransaction,
    Begun,
    CancelRead,
    CommitTransaction,
    PrepareTransaction,
)


class BeginIn(msgspec.Struct, forbid_unknown_fields=True):
    """How long an active transaction may be left alone."""

    timeout: float = 60


class PrepareIn(msgspec.Struct, forbid_unknown_fields=True):
    """Whether somebody else decides the outcome."""

    single_phase: bool = False


class NothingIn(msgspec.Struct, forbid_unknown_fields=True):
    """A request without anything to say."""


class TransactionOut(msgspec.Struct):
    """A transaction that has not ended."""

    id: str
    prepared: bool
    operations: int
    bytes: int


class TransactionsOut(msgspec.Struct):
    """All of them."""

    transactions: list[TransactionOut]


_encode = msgspec.json.Encoder().encode
_begin = msgspec.json.Decoder(BeginIn)
_prepare = msgspec.json.Decoder(PrepareIn)
_nothing = msgspec.json.Decoder(NothingIn)


def begin(context: Context, request: Request, responder: Responder, _: str) -> None:
    """POST /transactions."""
    parameters(request)
    timeout = span_of("timeout", read_body(_begin, request).timeout, LONGEST_WAIT)
    caller = context.engine.caller(partial(_begun, context, responder))
    context.engine.submit(BeginTransaction(caller, timeout))


def _begun(context: Context, responder: Responder, answer: object) -> None:
    assert isinstance(answer, Begun), f"no transaction: {answer!r}"
    if answer.status is HResult.OK:
        responder.respond(201, _encode({"transaction": answer.transaction}))
    else:
        context.refuse(responder, answer)


def prepare(context: Context, request: Request, responder: Responder, transaction: str) -> None:
    """POST /transactions/{id}/prepare."""
    parameters(request)
    single_phase = read_body(_prepare, request).single_phase
    identifier = transaction_of(transaction)
    context.submit(responder, lambda to: PrepareTransaction(to, identifier, single_phase))


def commit(context: Context, request: Request, responder: Responder, transaction: str) -> None:
    """POST /transactions/{id}/commit."""
    parameters(request)
    read_body(_nothing, request)
    identifier = transaction_of(transaction)
    context.submit(responder, lambda to: CommitTransaction(to, identifier))


def abort(context: Context, request: Request, responder: Responder, transaction: str) -> None:
    """POST /transactions/{id}/abort."""
    parameters(request)
    read_body(_nothing, request)
    identifier = transaction_of(transaction)
    context.submit(responder, lambda to: AbortTransaction(to, identifier))


def unfinished(context: Context, request: Request, responder: Responder, _: str) -> None:
    """GET /transactions."""
    parameters(request)
    seen = [
        TransactionOut(each.identifier, each.prepared, each.operations, each.bytes)
        for each in views.transactions(context.state)
    ]
    body = _encode(TransactionsOut(seen))
    # What was seen may not be on disk yet.  A question that changes nothing is answered when it is.
    caller = context.engine.caller(lambda _: responder.respond(200, body))
    context.engine.submit(CancelRead(caller, "system$;journal", 0))
