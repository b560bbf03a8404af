"""Creates the queues of the settings with their options and access lists: the rows [[queue]].

    [[queue]]
    name = "orders"
    transactional = true
    quota = 1048576                                     each option of a queue, see the guide of queues
    owner = "alice"                                     without it, the administrators
    access = [{user = "bob", rights = ["send"]}, {user = "everyone", rights = ["peek"], deny = true}]

A queue that is missing is created, with its options and its list in one step.  An existing one is not
changed, because an administrator may have changed it since.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.engine.open import OpenedEngine
from reliquary.net.identity.users import User, Users
from reliquary.queueing.model.events import AccessChange, Answer, ChangeAccess, CreateQueue
from reliquary.queueing.model.names.pathnames import parse
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.security.principals import ADMINISTRATORS, ANONYMOUS_USER
from reliquary.queueing.model.security.rights import QueueRight, check_mask, default_descriptor, right_named
from reliquary.queueing.rules import destinations
from reliquary.queueing.security.permissions import changed
from reliquary.server.values import naming
from reliquary.wire.security import encode_descriptor


class AccessEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rights that a user or a group is granted or denied."""

    user: str
    rights: tuple[str, ...]
    deny: bool = False

    @property
    def mask(self) -> int:
        """All rights of the entry as a mask."""
        found = 0
        for name in self.rights:
            found |= int(right_named(QueueRight, name))
        return found


class QueueEntry(QueueSettings, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A queue of the settings: its name, all options of a queue, and its access list."""

    name: str
    """The path name of the queue, such as `orders` or `private$\\orders`."""
    owner: str = ""
    """The user who may always read and change the access list; empty for the administrators."""
    access: tuple[AccessEntry, ...] = ()
    """Rows with `user`, `rights` and `deny`; empty for the default list."""

    def options(self) -> QueueSettings:
        """Return the options without name, owner and access list."""
        return QueueSettings(**{each: getattr(self, each) for each in QueueSettings.__struct_fields__})


def check_entries(entries: Sequence[QueueEntry], users: Sequence[User], computer_name: str) -> None:
    """Refuse names that no queue can have, repeated queues, and unknown users and rights."""
    known, seen = Users(UUID(int=0), users), set()
    for entry in entries:
        try:
            name = str(parse(entry.name, computer_name)).casefold()
            if name in seen:
                raise UsageError("the name is given twice")
            seen.add(name)
            if entry.security:
                raise UsageError("security is not for the settings; give owner and access")
            for each in entry.access:
                with naming(f"access of {each.user[:80]!r}"):
                    if not each.rights:
                        raise UsageError("it names no rights")
                    known.sid_of(each.user)
                    check_mask(each.mask, QueueRight)
            with naming("owner"):
                if entry.owner:
                    known.sid_of(entry.owner)
        except UsageError as why:
            raise UsageError(f"queue {entry.name[:80]!r}: {why}") from why


async def make_entries(opened: OpenedEngine, users: Users, entries: Sequence[QueueEntry]) -> None:
    """Create the missing queues; UsageError names one that cannot be created."""
    for entry in entries:
        if destinations.find(opened.state, entry.name) is not None:
            continue
        options = settings_of(opened, users, entry)
        answer = await opened.engine.ask(partial(CreateQueue, path=entry.name, settings=options))
        assert isinstance(answer, Answer), f"no answer: {answer!r}"
        if answer.status not in (HResult.OK, HResult.QUEUE_EXISTS):
            raise UsageError(
                f"the queue {entry.name!r} cannot be made: {answer.why or answer.status.sentence}"
            )


def settings_of(opened: OpenedEngine, users: Users, entry: QueueEntry) -> QueueSettings:
    """Return the options of a queue with its access list, if the entry has one."""
    if not entry.owner and not entry.access:
        return entry.options()
    state = opened.state
    owner = users.sid_of(entry.owner) if entry.owner else ADMINISTRATORS if users.any else ANONYMOUS_USER
    machine, http = state.directory.around.machine_sid, state.identity().http_support
    security = encode_descriptor(default_descriptor(None, owner, machine=machine, http_support=http))
    for each in entry.access:
        change = AccessChange.DENY if each.deny else AccessChange.GRANT
        request = ChangeAccess(0, entry.name, change, users.sid_of(each.user), each.mask)
        security = changed(security, request, QueueRight)
    return msgspec.structs.replace(entry.options(), security=security)
