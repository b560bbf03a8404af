"""Large bodies: in pieces, a row each, so that none of them is ever whole in memory on its way.

    LOOSE ---- a message came with it ----> OWNED      the message's own row says where its pieces lie
      |                                       |
      '-- nobody wants it, or a restart       '-- the last position of the message goes
                       |                                  |
                       '-------------> gone <-------------'

A row in `spools` says that the next start may throw these pieces away.  It is there while they are
loose, and for an express message as long as it lives: so a crash leaves neither pieces that nobody
owns nor a message without its body.
"""

from __future__ import annotations

from io import BytesIO

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import Rows, every
from reliquary.queueing.model.message import StoredBody
from reliquary.queueing.model.tables import PIECES, SPOOLS, Piece, Spool, piece_key, spool_key, spool_number


class Bodies:
    """The pieces of all large bodies."""

    __slots__ = ("_rows", "loose", "loose_bytes")

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.loose: dict[int, StoredBody] = {}
        """By spool, what came so far of those that belong to no message."""
        self.loose_bytes = 0

    def recover(self) -> None:
        """Know again what an earlier process left; how much there is of each is not asked any more."""
        numbers = [spool_number(key) for key, _ in every(self._rows, SPOOLS)]
        self.loose = {number: StoredBody(number, 0, 0) for number in numbers}
        self.loose_bytes = 0

    def add(self, spool: int, data: bytes) -> None:
        """One more piece of a loose body, or the first of a new one."""
        body = self.loose.get(spool)
        if body is None:
            body = StoredBody(spool, 0, 0)
            self._rows.put(SPOOLS, spool_key(spool), Spool(), fresh=True)
        self._rows.put(PIECES, piece_key(spool, body.pieces), Piece(data), fresh=True)
        self.loose[spool] = StoredBody(spool, body.size + len(data), body.pieces + 1)
        self.loose_bytes += len(data)

    def own(self, spool: int, *, express: bool) -> None:
        """A message has this body now, and nobody else may."""
        self.loose_bytes -= self.loose.pop(spool).size
        if not express:
            self._rows.delete(SPOOLS, spool_key(spool))

    def drop(self, spool: int) -> None:
        """A body that nobody owns is gone."""
        self.loose_bytes -= self.loose.pop(spool).size
        self.remove(spool, express=True)

    def remove(self, spool: int, *, express: bool) -> None:
        """The message that owned this body is gone, and so are its pieces."""
        self._rows.delete_range(PIECES, piece_key(spool, 0), piece_key(spool + 1, 0))
        if express:
            self._rows.delete(SPOOLS, spool_key(spool))

    def piece(self, spool: int, index: int) -> bytes | None:
        """One piece, or None where there is none."""
        row = self._rows.get(PIECES, piece_key(spool, index))
        return None if row is None else row.data

    def whole(self, body: StoredBody) -> bytes:
        """All of it, put together in its final place: there is never a second copy."""
        joined = BytesIO()
        if body.size:  # the place is made at once; what `getvalue` hands out is that very place
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
