"""Makes the noun "transaction" of administration: transactions that have not ended, and remembered
outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Final
from uuid import UUID

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.time import as_datetime
from reliquary.queueing.model.administration import Column, Filter, Listing, Noun, Plane, RecordFormat, View

if TYPE_CHECKING:
    from reliquary.queueing.model.state import State


class TransactionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction; a prepared one waits for a decision."""

    id: str
    stage: str
    """active, prepared, committed or aborted; undone if a queue that it used was deleted."""
    prepared: bool
    operations: int = 0
    bytes: int = 0
    queues: list[str] = []
    """The queues that it used and that still exist."""
    owner: str = ""
    """The application that looks for the transaction after a crash."""
    external: bool = False
    """Another program chose its id and decides its outcome."""
    begun_at: datetime | None = None
    prepared_at: datetime | None = None
    """The time since which the transaction is in doubt."""
    ended_at: datetime | None = None
    decided_by: str = ""
    """The user who decided in place of the coordinator."""


def transactions(view: View, owner: str | None = None, ended: bool = False) -> Iterator[TransactionInfo]:
    """Yield the user's transactions that have not ended; `ended` adds all outcomes that are remembered."""
    from reliquary.queueing.rules.permission import may_use

    state = view.state
    own = [
        identifier for identifier, each in state.transactions.open.items() if may_use(state, view.by, each)
    ]
    for identifier in [*own, *(state.transactions.outcomes if ended else ())]:
        found = _info(state, identifier)
        assert found is not None
        if owner is None or found.owner == owner:
            yield found


def transaction(view: View, identifier: UUID) -> TransactionInfo | None:
    """Return a transaction of the user that has not ended, or an outcome that is remembered, or None."""
    from reliquary.queueing.rules.permission import may_use

    found = view.state.transactions.open.get(identifier)
    if found is not None and not may_use(view.state, view.by, found):
        return None
    return _info(view.state, identifier)


def _info(state: State, identifier: UUID) -> TransactionInfo | None:
    from reliquary.queueing.model.display import name_of
    from reliquary.queueing.rules.transactions import TransactionState, stage

    now = stage(state, identifier)
    if (found := state.transactions.open.get(identifier)) is not None:
        numbers = [
            number
            for each in found.operations
            for number in (each.queue, each.target)
            if number in state.queues
        ]
        return TransactionInfo(
            id=str(identifier),
            stage=now.value,
            prepared=now is TransactionState.PREPARED,
            operations=len(found.operations),
            bytes=found.size,
            queues=[name_of(state, state.queues[number]) for number in dict.fromkeys(numbers)],
            owner=found.owner,
            external=found.external,
            begun_at=_moment(found.begun),
            prepared_at=_moment(found.prepared_at),
        )
    if (outcome := state.transactions.outcomes.get(identifier)) is None:
        return None
    return TransactionInfo(
        id=str(identifier),
        stage=now.value,
        prepared=now is TransactionState.PREPARED,
        owner=outcome.owner,
        ended_at=_moment(outcome.ended),
        decided_by=outcome.by,
    )


def _moment(at: int) -> datetime | None:
    """Return the time of a moment; 0 is a moment that has not come."""
    return as_datetime(at) if at else None


def _identifier(text: str) -> UUID:
    from reliquary.queueing.rules.transactions import transaction_of

    return transaction_of(text)


def _second(at: datetime | None) -> str:
    return "" if at is None else at.isoformat(timespec="seconds")


def _kind(each: TransactionInfo) -> str:
    """Return the kind; a remembered outcome has none."""
    return "external" if each.external else "" if each.ended_at else "internal"


_COLUMNS: Final[tuple[str | Column[TransactionInfo], ...]] = (
    Column("transaction", attrgetter("id")),
    "stage",
    Column("kind", _kind),
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
        records=transactions,
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
    showing=RecordFormat(
        key="id",
        kind=str,
        parse=_identifier,
        record=transaction,
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
