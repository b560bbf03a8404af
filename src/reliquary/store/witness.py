"""Writes and reads the witness: a file outside the folder of a store with the last synced change.

A folder that was copied while its server was stopped, and is put back later, looks like any other store.
Only a file outside it can show that the store was further already.  So after every sync the sequence
number is also written beside the folder, `data.witness` for `data`:

    | magic: 4 | crc32: 4 | owner: 16 | synced: 8 |

When a store is opened whose owner the witness knows, and whose changes end before the number in the
witness, the folder is an older copy: that is noted as `store restore` notes it (`restored.py`), and the
manager begins a new era.  The modification time of the file is the time until which the newer state was in
use.

Where there is no witness (another machine, or a parent folder without write access), an older copy is not
detected.  A witness that cannot be written is no reason to stop.
"""

from __future__ import annotations

import os
from pathlib import Path
from struct import Struct as Layout
from typing import Final, NamedTuple
from uuid import UUID, uuid5
from zlib import crc32

from msgspec.structs import replace

from reliquary.base.restoration import Restoration
from reliquary.store.files import write_durably

SUFFIX: Final = ".witness"
MAGIC: Final = b"RQW1"
OPENING: Final = Layout(">4sI")
BODY: Final = Layout(">16sQ")
_MICROSECOND: Final = 1000  # nanoseconds


class Statement(NamedTuple):
    """The content of a witness file."""

    owner: bytes
    """The identifier of the manager whose store it is."""
    synced: int
    """The sequence number up to which the store was synced."""
    moment: int = 0
    """When it was written, microseconds since 1970."""


def beside(folder: Path) -> Path | None:
    """Return the default path of the witness of a folder; None for the root folder."""
    place = folder.absolute()
    return place.with_name(place.name + SUFFIX) if place.name else None


def encode(owner: bytes, synced: int) -> bytes:
    """Return the content of the file."""
    body = BODY.pack(owner, synced)
    return OPENING.pack(MAGIC, crc32(body)) + body


def read(path: Path) -> Statement | None:
    """Return the content of the witness; None if the file is missing or corrupted."""
    try:
        content, changed = path.read_bytes(), path.stat().st_mtime_ns
    except OSError:
        return None
    if len(content) != OPENING.size + BODY.size:
        return None
    owner, synced = BODY.unpack_from(content, OPENING.size)
    if content != encode(owner, synced):
        return None
    return Statement(owner, synced, changed // _MICROSECOND)


def begin(path: Path, owner: bytes, synced: int) -> int:
    """Write the witness; return its open file, or -1 if it cannot be written."""
    try:
        write_durably(path, encode(owner, synced))
        return os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def consult(path: Path, owner: bytes, found: int, noted: Restoration | None) -> Restoration | None:
    """Return the record of a restore, or a new record if the folder is an older copy, or None.

    `found` is the last change in the store, `noted` the record that `store restore` left in it.
    """
    said = read(path)
    if said is None or said.owner != owner:
        return noted
    if noted is not None:
        return noted if noted.alive_until else replace(noted, alive_until=said.moment)
    if said.synced <= found:
        return None
    # The name is computed from the content, so that a start that was interrupted finds it again.
    return Restoration(uuid5(UUID(bytes=owner), f"{found} of {said.synced} changes"), said.moment)
