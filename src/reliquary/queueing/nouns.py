"""Transactions as a noun of administration: those that have not ended, and how others did."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from operator import attrgetter
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.hresult import HResult
from reliquary.queueing.model.administration import Column, Filter, Listing, Noun, Plane, Showing, View


class TransactionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction; a prepared one waits for somebody's decision."""

    id: str
    stage: str
    """active, prepared, committed, aborted; undone when a queue it used was deleted."""
    prepared: bool
    operations: int = 0
    bytes: int = 0
    queues: list[str] = []
    """Those it used, as far as they are still there."""
    owner: str = ""
    """The application that asks for it after a crash."""
    external: bool = False
    """Somebody else gave it its id, and decides."""
    begun_at: datetime | None = None
    prepared_at: datetime | None = None
    """In doubt since then."""
    ended_at: datetime | None = None
    decided_by: str = ""
    """The person who decided in place of the coordinator."""


def _transactions(view: View, owner: str | None = None, ended: bool = False) -> Iterator[TransactionInfo]:
    from reliquary.queueing.views import transactions

    return (
        each
        for each in transactions(view.state, view.by, ended=ended)
        if owner is None or each.owner == owner
    )


def _transaction(view: View, identifier: UUID) -> TransactionInfo | None:
    from reliquary.queueing.views import transaction

    return transaction(view.state, identifier, view.by)


def _identifier(text: str) -> UUID:
    from reliquary.queueing.rules.transactions import transaction_of

    return transaction_of(text)


def _second(at: datetime | None) -> str:
    return "" if at is None else at.isoformat(timespec="seconds")


_COLUMNS: Final[tuple[str | Column[TransactionInfo], ...]] = (
    Column("transaction", attrgetter("id")),
    "stage",
    Column("kind", lambda each: "external" if each.external else "internal"),
    "owner",
    "operations",
    Column("queues", lambda each: " ".join(each.queues)),
    Column("begun", lambda each: _second(each.begun_at)),
    Column("in doubt since", lambda each: _second(each.prepared_at)),
)

TRANSACTION: Final[Noun[TransactionInfo]] = Noun(
    name="transaction",
    plural="transactions",
    record=TransactionInfo,
    summary="List transactions that have not ended, and decide them.",
    plane=Plane.DATA,
    needs=None,
    listing=Listing(
        records=_transactions,
        columns=_COLUMNS,
        help="List the transactions that have not ended; prepared ones wait for a decision.",
        filters=(
            Filter(
                name="owner",
                kind=str,
                option="--owner",
                metavar="NAME",
                help="Only those of this application.",
            ),
            Filter(
                name="ended",
                kind=bool,
                option="--ended",
                help="Also those that ended lately, after they were prepared.",
            ),
        ),
        example="--owner billing --ended",
    ),
    showing=Showing(
        key="id",
        kind=str,
        parse=_identifier,
        record=_transaction,
        missing=HResult.STATUS_NOT_FOUND,
        missing_sentence="transaction {} has ended or never was",
        help="Show the transaction ID, also one that ended lately: how, when, and who decided.",
        example="6b29fc40-ca47-1067-b31d-00dd010662da",
        fields=(
            *_COLUMNS,
            "bytes",
            Column("ended", lambda each: _second(each.ended_at)),
            Column("decided by", attrgetter("decided_by")),
        ),
    ),
)
