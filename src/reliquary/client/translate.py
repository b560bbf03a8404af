"""Translates between the values of the client and those of the queue manager, for a manager in
process.

The rules are those of the JSON API (`net.api`), so a value has one meaning in both modes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, as_datetime
from reliquary.client import records
from reliquary.client.errors import NotOpen
from reliquary.client.message import Message, OutgoingMessage
from reliquary.engine.history import HistoryStatus
from reliquary.net.api import messages as api
from reliquary.queueing.model import message as machine
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.model.message import FOREVER, NO_GUID
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.security.principals import ANONYMOUS_USER, EVERYONE
from reliquary.queueing.model.security.rights import ManagerRight, QueueRight, names_of, right_named
from reliquary.queueing.security.permissions import descriptor_of
from reliquary.views.manager import ManagerView
from reliquary.views.queues import Settings, limit_of
from reliquary.wire.security import Ace, AceKind, Sid

_SETTINGS: Final = frozenset(Settings.__struct_fields__)


def message_of(given: OutgoingMessage) -> machine.Message:
    """Return the queue manager's message for one that an application sends."""
    return api.message_of(
        api.MessageIn(
            body=given.body,
            label=given.label,
            priority=given.priority,
            expires=given.expires,
            reach=api.REACH if given.reach is None else given.reach,
            durable=given.durable,
            journal=given.journal,
            deadletter=given.deadletter,
            correlation=given.correlation or "",
            tag=given.tag,
            body_type=given.body_type,
            extension=given.extension,
            response_queue=given.response_queue,
            administration_queue=given.administration_queue,
            acknowledgements=tuple(map(_acknowledgement, given.acknowledgements)),
            deadletter_queue=given.deadletter_queue,
            tracing_queue=given.tracing_queue,
            delay=given.delay,
            authentication=_authentication(given.authentication),
            httpr=given.httpr,
            traceparent=given.traceparent,
            tracestate=given.tracestate,
        )
    )


def shown(delivered: Delivered) -> Message:
    """Return a received message in the form of the client."""
    out = api.shown_whole(delivered)
    return Message(
        id=out.id,
        lookup_id=delivered.position.lookup_id,
        body=out.body,
        label=out.label,
        priority=out.priority,
        sent=as_datetime(delivered.message.sent_time * SECOND),
        arrived=as_datetime(delivered.position.arrived),
        expires=None if out.expires == FOREVER else out.expires,
        reach=out.reach,
        durable=out.durable,
        journal=out.journal,
        deadletter=out.deadletter,
        correlation=out.correlation or None,
        tag=out.tag,
        body_type=out.body_type,
        extension=out.extension,
        response_queue=out.response_queue,
        administration_queue=out.administration_queue,
        acknowledgements=tuple(each.value for each in out.acknowledgements),
        deadletter_queue=out.deadletter_queue,
        tracing_queue=str(out.tracing_queue) if out.tracing_queue != NO_GUID else "",
        origin=out.origin,
        message_class=out.why,
        source=str(out.source),
        transaction=None if out.transaction is None else str(out.transaction),
        delay=out.delay,
        handed_out=out.handed_out,
        aborted=out.aborted,
        moved=out.moved,
        authentication=out.authentication.value,
        sender_certificate=out.sender_certificate,
        httpr=out.httpr,
        traceparent=out.traceparent,
        tracestate=out.tracestate,
    )


def _acknowledgement(word: str) -> machine.Acknowledgement:
    try:
        return machine.Acknowledgement(word)
    except ValueError:
        words = ", ".join(each.value for each in machine.Acknowledgement)
        raise UsageError(f"{word!r} is no acknowledgement; these are {words}") from None


def _authentication(word: str) -> machine.AuthenticationLevel:
    try:
        return machine.AuthenticationLevel(word)
    except ValueError:
        raise UsageError(f"authentication is none or xmlsig, not {word!r}") from None


def number_of(name: str | None, what: str) -> int:
    """Return a handle, cursor or receipt as a number of the machine; 0 for an empty one."""
    if name is None:
        return 0
    if not name.isdigit():
        raise NotOpen("INVALID_HANDLE", f"the {what} is not known")
    return int(name)


def changes_of(given: Mapping[str, object]) -> dict[str, Any]:
    """Return the given settings in the types of the machine."""
    unknown = sorted(given.keys() - _SETTINGS)
    if unknown:
        raise UsageError(
            f"{unknown[0]!r} is not a setting of a queue; these are {', '.join(sorted(_SETTINGS))}"
        )
    unlimited = {
        name: FOREVER for name in ("quota", "journal_quota") if name in given and given[name] is None
    }
    try:
        settings = msgspec.convert({**given, **unlimited}, QueueSettings)
    except msgspec.ValidationError as why:
        raise UsageError(str(why)) from why
    return {name: getattr(settings, name) for name in given}


def manager_info(view: ManagerView) -> records.ManagerInfo:
    """Return the public record of the queue manager."""
    return records.ManagerInfo(
        id=view.identifier,
        computer_name=view.computer_name,
        queues=view.queues,
        messages=view.messages,
        bytes=view.bytes,
        quota_kilobytes=limit_of(view.quota_kilobytes),
        transactions_active=view.transactions_active,
        transactions_prepared=view.transactions_prepared,
        copies_lost=view.copies_lost,
        poison_overflows=view.poison_overflows,
        state=view.state.value,
        online=view.online,
        throttled=view.throttled,
    )


def history_info(status: HistoryStatus) -> records.HistoryInfo:
    """Return the public record of the history's state."""
    return records.HistoryInfo(**{name: getattr(status, name) for name in status.__struct_fields__})


def access_info(
    security: bytes, kind: type[QueueRight | ManagerRight], name_of: Callable[[Sid], str]
) -> records.AccessInfo:
    """Return an access list in words."""
    descriptor = descriptor_of(security)
    all_users = (Ace(AceKind.ALLOWED, kind["GENERIC_ALL"].value, EVERYONE),)
    entries = [
        records.AccessEntry(
            user=name_of(ace.sid),
            sid=str(ace.sid),
            allow=ace.kind is AceKind.ALLOWED,
            rights=[name.lower().replace("_", "-") for name in names_of(kind(ace.mask))],
        )
        for ace in (all_users if descriptor.dacl is None else descriptor.dacl)
        if isinstance(ace, Ace)
    ]
    owner = descriptor.owner or ANONYMOUS_USER
    return records.AccessInfo(owner=name_of(owner), owner_sid=str(owner), entries=entries)


def rights_of(kind: type[QueueRight | ManagerRight], change: str, names: Sequence[str]) -> int:
    """Return the mask of some rights by name; a revocation without names means all rights."""
    if change == "owner":
        return 0
    if not names and change == "revoke":
        return int(kind["GENERIC_ALL"])
    if not names:
        raise UsageError(f"{change} needs a right, such as send, receive, peek or all")
    mask = 0
    for name in names:
        mask |= right_named(kind, name).value
    return mask
