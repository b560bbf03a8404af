"""Verifies and backs up the store while it is in use, in a thread besides the engine.

Both read files that the engine has synced or will sync itself; neither touches a machine.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import UsageError
from reliquary.client.records import StoreReport
from reliquary.console.context import answer, context_of, read_body
from reliquary.console.history import ServerPath, exporter_of
from reliquary.console.noting import tell
from reliquary.net.api.operations import operation
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.store import backup, verify


class VerifyIn(msgspec.Struct, forbid_unknown_fields=True):
    """The empty body of a verify, which has no options."""


class BackupIn(msgspec.Struct, forbid_unknown_fields=True):
    """The folder that the backup is written to."""

    path: ServerPath
    with_history: bool = False


class BackedUp(msgspec.Struct):
    """The folder that has the copy."""

    path: str


_verify = msgspec.json.Decoder(VerifyIn)
_backup = msgspec.json.Decoder(BackupIn)


@operation("Read every row of the store and check it", body=VerifyIn, answer=StoreReport)
async def verify_store(request: Request) -> Response:
    """Serve POST /store/verify: check the files of the store and return the findings."""
    context = context_of(request)
    context.need(ManagerRight.SET_MACHINE_PROPERTIES)
    await read_body(request, _verify)
    disk = context.opened.disk
    async with context.long_work:
        report = await asyncio.to_thread(verify, disk, disk.tables)
    return answer(report)


@operation(
    "Copy the store to a folder of the server", body=BackupIn, body_required=True, answer=BackedUp, status=201
)
async def backup_store(request: Request) -> Response:
    """Serve POST /store/backup: copy the store into a folder."""
    context = context_of(request)
    context.need(ManagerRight.SET_MACHINE_PROPERTIES)
    given = await read_body(request, _backup)
    if not given.path.startswith("/") or "\0" in given.path:
        raise UsageError(f"path is a full path on the server, from / on, not {given.path[:200]!r}")
    tell(request, about=given.path)
    history = exporter_of(context).options.folder if given.with_history else None
    async with context.long_work:
        await asyncio.to_thread(backup, context.opened.disk, Path(given.path), history)
    return answer(BackedUp(given.path), 201)
