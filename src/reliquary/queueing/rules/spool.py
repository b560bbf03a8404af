"""Store large bodies piece by piece while they arrive, until a message owns all pieces.

    net --StorePiece--> a loose body grows --> Message(stored_body=...) is enqueued: it owns the pieces
                              '-- DropSpool, BodiesUnwanted, a restart --> deleted

A loose body belongs to no message yet.  The sender gets no promise before the message is stored, so the
answer to a piece does not wait for a sync.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import Answer, DropSpool, PieceStored, StorePiece
from reliquary.queueing.model.message import BODY_LIMIT, Message
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.transfer import BodiesUnwanted
from reliquary.queueing.rules.enqueue import manager_is_full, why_full

PIECE_LIMIT: Final = 1024 * 1024
"""The largest number of bytes of one piece; a piece is a row, and a row is in memory as a whole."""


def store_piece(state: State, request: StorePiece, now: Instant) -> None:
    """Store one more piece of a body, or the first piece of a new body."""
    del now
    bodies, size = state.messages.bodies, len(request.data)
    if not 1 <= size <= PIECE_LIMIT:
        raise UsageError(f"a piece has 1 to {PIECE_LIMIT} bytes, this one has {size}")
    before = 0
    if request.spool:
        body = bodies.loose.get(request.spool)
        if body is None:
            raise UsageError(f"there is no body {request.spool} that pieces could be added to")
        before = body.size
    if before + size > BODY_LIMIT:
        raise UsageError(f"a body has at most {BODY_LIMIT} bytes, this one would have {before + size}")
    if state.manager.throttled or manager_is_full(state, bodies.loose_bytes + size):  # DM-187
        state.reply(request.to, Answer(HResult.INSUFFICIENT_RESOURCES, why_full(state)))
        return
    spool = request.spool or state.numbers.next_sequence()
    apply(state, facts.PieceKept(spool, bytes(request.data)))
    kept = bodies.loose[spool]
    state.reply(request.to, PieceStored(HResult.OK, "", spool, kept.pieces, kept.size))


def drop_spool(state: State, request: DropSpool, now: Instant) -> None:
    """Delete a loose body that its sender does not complete; a body that a message owns is not changed."""
    del now
    drop(state, (request.spool,))


def on_unwanted(state: State, signal: BodiesUnwanted, now: Instant) -> None:
    """Delete loose bodies that no message will own."""
    del now
    drop(state, signal.spools)


def drop(state: State, spools: Iterable[int]) -> None:
    """Delete those of the bodies that are loose."""
    loose = tuple(dict.fromkeys(spool for spool in spools if spool in state.messages.bodies.loose))
    if loose:
        apply(state, facts.SpoolsDropped(loose))


def check_bodies(state: State, messages: Iterable[Message]) -> None:
    """Refuse messages unless each large body is loose, complete and named by one message only."""
    stored = [each for each in messages if each.more is not None and each.more.stored_body is not None]
    taken = set[int]()
    for message in stored:
        body = message.stored_body
        assert body is not None
        if message.body:
            raise UsageError("a message has its body in itself or in pieces, not both")
        if body.spool in taken or body.spool not in state.messages.bodies.loose:
            raise UsageError(f"the large body {body.spool} is not there, or is another message's")
        if body != state.messages.bodies.loose[body.spool]:
            raise UsageError(f"the large body {body.spool} has not the size that its message says")
        taken.add(body.spool)


def read_piece(state: State, spool: int, index: int) -> bytes:
    """Return one piece of a large body; the network sends a body piece by piece."""
    data = state.messages.bodies.piece(spool, index)
    if data is None:
        raise UsageError(f"the large body {spool} has no piece {index}, or its message is gone")
    return data
