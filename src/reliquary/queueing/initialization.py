"""Initializes the manager, [MS-MQDMPR] 3.1.3: makes its record, and its object in the directory.

host and settings --> LocalQueueManager --> its object in the directory --> sites, enterprise, timers

The next steps of a start, system queues and unfinished transactions, are in `lifecycle`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import msgspec

from reliquary.base.chance import new_guid
from reliquary.base.faults import UsageError
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.directory import operations, upkeep
from reliquary.queueing.directory.publishing import is_published, queue_object
from reliquary.queueing.model import facts
from reliquary.queueing.model.directory.connection import Connection
from reliquary.queueing.model.directory.holdings import Surroundings
from reliquary.queueing.model.events import StartManager
from reliquary.queueing.model.names.pathnames import COMPUTER_NAME_LIMIT, check_name
from reliquary.queueing.model.queue import QueueManagerRecord
from reliquary.queueing.model.state import State
from reliquary.wire.security import parse_sid


@dataclass(frozen=True, slots=True)
class HostIdentity:
    """The names of this computer and its domain; Windows has them from LSA."""

    computer_name: str
    qualified_computer_name: str
    domain: UUID | None


def identify(request: StartManager) -> HostIdentity:
    """Return the computer's identity (DM-082); raise UsageError if its name is not valid."""
    name = check_name("the computer's name", request.computer_name, COMPUTER_NAME_LIMIT)
    qualified = request.qualified_computer_name or name
    if request.dns_domain:
        qualified = f"{name}.{request.dns_domain}"  # DM-083
    return HostIdentity(name, qualified, request.machine_domain)


def initialize(state: State, request: StartManager, now: Instant) -> None:
    """Set LocalQueueManager from the host, the directory and the settings, in this order."""
    host = identify(request)
    if state.manager.record is None:
        apply(state, facts.ManagerNamed(_new_record(state, host, now)))
    joined, integrated = state.identity().directory_integrated, request.directory is not None
    sid = request.directory.machine_sid if request.directory is not None else ""
    state.directory.around = Surroundings(host.domain, parse_sid(sid) if sid else None)  # DM-146
    state.directory.connection = Connection.ONLINE if integrated else Connection.APART  # DM-014
    if integrated:
        upkeep.take_own(state)  # DM-090
    _take_settings(state, request, host, now)
    if not integrated:
        return
    with suppress(UsageError):  # the manager starts also if the directory refuses its object
        upkeep.publish_own(state, now)
    if not joined:
        _join(state, now)
    upkeep.read_surroundings(state)  # DM-090, DM-091
    for timer in upkeep.PERIODS:  # DM-087, DM-092
        upkeep.set_timer(state, timer)


def _new_record(state: State, host: HostIdentity, now: Instant) -> QueueManagerRecord:
    """Return the record of a new manager (DM-083, DM-084; AN-44: with a directory or without)."""
    moment = in_whole_seconds(now)
    return QueueManagerRecord(
        identifier=new_guid(state.chance),
        computer_name=host.computer_name,
        qualified_computer_name=host.qualified_computer_name,
        create_time=moment,
        modify_time=moment,
    )


def _take_settings(state: State, request: StartManager, host: HostIdentity, now: Instant) -> None:
    """Store the settings of this start; they replace the stored ones."""
    record, directory = state.identity(), request.directory
    changes: dict[str, object] = {
        "directory_integrated": directory is not None,
        "last_domain": host.domain,
    }
    if request.quota is not None:
        changes["quota"] = request.quota
    if request.hardened_security is not None:
        changes["hardened_security"] = request.hardened_security  # DM-095: `harden` comes after this
    if request.http_support is not None:
        changes["http_support"] = request.http_support  # DM-151: what new queues allow
    if directory is not None:
        if directory.site is not None and directory.site not in record.site_identifiers:
            changes["site_identifiers"] = (*record.site_identifiers, directory.site)  # DM-085
        changes |= {
            name: given
            for name, given in (
                ("directory_servers", directory.servers),  # DM-086
                ("public_encryption_keys", directory.encryption_keys),  # DM-088
                ("public_signing_keys", directory.signing_keys),  # DM-089
            )
            if given
        }
    changed = msgspec.structs.replace(record, **changes)
    if changed != record:
        moment = in_whole_seconds(now)
        apply(state, facts.ManagerNamed(msgspec.structs.replace(changed, modify_time=moment)))


def _join(state: State, now: Instant) -> None:
    """Create the public queues in the directory that existed before the manager joined it."""
    for queue in list(state.queues.values()):
        if is_published(queue.record):
            with suppress(UsageError):
                operations.create(state, queue_object(queue.record, state.identity().identifier), now)
