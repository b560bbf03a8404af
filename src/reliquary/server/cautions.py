"""Warns at the start of a server about access that its administrator may not expect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from reliquary.net.host import is_loopback
from reliquary.net.identity.users import Users
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import ADMINISTRATORS, ANONYMOUS
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.permission import Act, QueueKind, lacks, place_of
from reliquary.server.config import Settings

FOR_OTHERS: Final = 0o007
"""The bits of a mode that give rights to users who are neither the owner nor in the group."""
NAMED: Final = 3
"""The most queues that a warning names; it counts the others."""


def cautions(settings: Settings, state: State, users: Users) -> Iterator[str]:
    """Return warnings for the administrator, one sentence each."""
    yield from open_folders(settings)
    if reached := open_addresses(settings):
        where = " and ".join(reached)
        yield f"access: no users are named: every client that reaches {where} may do everything"
    if settings.tls_client_required and settings.data_tls_port is not None:
        yield (
            "access: tls_client_required counts at data_tls_port; clients of data_port use plain HTTP"
            " and show no certificate"
        )
    if not settings.users:
        return
    if not any(ADMINISTRATORS in user.groups for user in users.principals):
        yield (
            "access: no user is in the group administrators: no user may administer this server,"
            " nor use the queues of its settings"
        )
    if found := [_name(state, queue) for queue in state.queues.values() if _is_open(state, queue)]:
        names = ", ".join(found[:NAMED]) + (f" and {len(found) - NAMED} more" if len(found) > NAMED else "")
        yield (
            "access: queues from before there were users are open: every client may change"
            f" {names}: see `reliquary access revoke QUEUE everyone`"
        )


def open_folders(settings: Settings) -> Iterator[str]:
    """Return a warning for each folder of messages, history or acts that every user of the computer can
    enter; folders in the data folder are as safe as it is.
    """
    data, history = settings.folder, settings.history.export(settings.folder)
    folders = [data, *([] if history is None else [history.folder])]
    folders += [settings.acts.place(data)] if settings.acts.enabled else []
    for folder in dict.fromkeys(folders):
        if (folder == data or not folder.is_relative_to(data)) and _is_for_others(folder):
            yield (
                f"access: every user of this computer can enter the folder {folder}:"
                f" `chmod o= {folder}` takes that right back"
            )


def open_addresses(settings: Settings) -> tuple[str, ...]:
    """Return the hosts at which every client in the network has all rights."""
    hosts = dict.fromkeys((settings.data_host, settings.control_host))
    return () if settings.users else tuple(host for host in hosts if not is_loopback(host))


def _is_for_others(folder: Path) -> bool:
    try:
        return bool(folder.stat().st_mode & FOR_OTHERS)
    except OSError:  # the folder does not exist yet, or this user may not look
        return False


def _is_open(state: State, queue: QueueState) -> bool:
    if place_of(queue) is not QueueKind.QUEUE or queue.record.parent is not None:
        return False
    return not lacks(state, ANONYMOUS, queue, Act.CHANGE_ACCESS)


def _name(state: State, queue: QueueState) -> str:
    return str(state.parse(queue.record.pathname))
