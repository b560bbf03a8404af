"""Stores large bodies in pieces, so that an arriving body is never complete in memory.

    LOOSE ---- a message comes with it ---> OWNED      the row of the message refers to the pieces
      |                                       |
      '-- it is dropped, or a restart         '-- the last position of the message is removed
                       |                                  |
                       '-----------> deleted <------------'

A row in `spools` says that the next start may delete the pieces of a body.  It exists while the body is
loose, and for an express message as long as the message exists.  So a crash leaves neither pieces without
an owner nor a message without its body.
"""

from __future__ import annotations

from io import BytesIO

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import Rows, every
from reliquary.queueing.model.message import StoredBody
from reliquary.queueing.model.tables import PIECES, SPOOLS, Piece, Spool, piece_key, spool_key, spool_number


class Bodies:
    """The large bodies of all messages, and those that no message owns yet."""

    __slots__ = ("_rows", "loose", "loose_bytes")

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.loose: dict[int, StoredBody] = {}
        """The size so far of each body that no message owns, by its number."""
        self.loose_bytes = 0

    def recover(self) -> None:
        """Read the numbers of the loose bodies of an earlier process; their sizes are not needed."""
        numbers = [spool_number(key) for key, _ in every(self._rows, SPOOLS)]
        self.loose = {number: StoredBody(number, 0, 0) for number in numbers}
        self.loose_bytes = 0

    def add(self, spool: int, data: bytes) -> None:
        """Store one more piece of a loose body, or the first piece of a new one."""
        body = self.loose.get(spool)
        if body is None:
            body = StoredBody(spool, 0, 0)
            self._rows.put(SPOOLS, spool_key(spool), Spool(), fresh=True)
        self._rows.put(PIECES, piece_key(spool, body.pieces), Piece(data), fresh=True, size=len(data))
        self.loose[spool] = StoredBody(spool, body.size + len(data), body.pieces + 1)
        self.loose_bytes += len(data)

    def own(self, spool: int, *, express: bool) -> None:
        """Make a loose body the body of a message."""
        self.loose_bytes -= self.loose.pop(spool).size
        if not express:
            self._rows.delete(SPOOLS, spool_key(spool))

    def drop(self, spool: int) -> None:
        """Delete a loose body, which must exist."""
        self.loose_bytes -= self.loose.pop(spool).size
        self.remove(spool, express=True)

    def remove(self, spool: int, *, express: bool) -> None:
        """Delete the pieces of a body whose message was deleted."""
        self._rows.delete_range(PIECES, piece_key(spool, 0), piece_key(spool + 1, 0))
        if express:
            self._rows.delete(SPOOLS, spool_key(spool))

    def piece(self, spool: int, index: int) -> bytes | None:
        """Return one piece of a body, or None when it does not exist."""
        row = self._rows.get(PIECES, piece_key(spool, index))
        return None if row is None else row.data

    def whole(self, body: StoredBody) -> bytes:
        """Return the whole body; the pieces are joined in one buffer, without a second copy."""
        joined = BytesIO()
        if body.size:  # reserve the memory at once; `getvalue` then returns it without a copy
            joined.seek(body.size - 1)
            joined.write(b"\0")
            joined.seek(0)
        for index in range(body.pieces):
            data = self.piece(body.spool, index)
            if data is None:
                raise StoreDamage(f"piece {index} of the large body {body.spool} has no row")
            joined.write(data)
        if joined.tell() != body.size:
            raise StoreDamage(
                f"the large body {body.spool} has {joined.tell()} bytes, its message says {body.size}"
            )
        return joined.getvalue()
