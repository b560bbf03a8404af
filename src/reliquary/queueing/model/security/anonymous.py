"""Lists the acts of anonymous clients that no access list of this manager decides.

An access list says who may use a queue of this manager.  No list is asked when a message goes to another
computer, when a queue is read there, or when a transaction begins; and the list of the manager lets everyone
look at the manager.  A manager with users forbids these acts to anonymous clients, unless its administrator
names them in the settings; otherwise every client could use it as a relay, or see its queues and its peers.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.queueing.model.security.principals import ANONYMOUS_USER, Principal


class AnonymousAct(IntFlag):
    """The acts that need no right on a queue of this manager."""

    SEND_ELSEWHERE = 1
    READ_ELSEWHERE = 2
    BEGIN_TRANSACTIONS = 4
    LOOK = 8
    """Read lists and metrics of the control plane from another computer."""


EVERY_ACT: Final = AnonymousAct(15)
_WORDS: Final = {
    AnonymousAct.SEND_ELSEWHERE: "send to other computers",
    AnonymousAct.READ_ELSEWHERE: "read queues of other computers",
    AnonymousAct.BEGIN_TRANSACTIONS: "begin transactions",
    AnonymousAct.LOOK: "look at the control plane from another computer",
}


def name_of(act: AnonymousAct) -> str:
    """Return the name of an act in the settings.

    >>> name_of(AnonymousAct.SEND_ELSEWHERE)
    'send-elsewhere'
    """
    assert act.name is not None, f"{act!r} is not one act"
    return act.name.lower().replace("_", "-")


def acts_named(names: Iterable[str]) -> AnonymousAct:
    """Return the acts that the settings name; raise UsageError for an unknown name."""
    known = {name_of(act): act for act in AnonymousAct}
    found = AnonymousAct(0)
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no act {name[:80]!r} of anonymous clients; these are {', '.join(known)}"
            )
        found |= known[name]
    return found


def denied(allowed: AnonymousAct, by: Principal, act: AnonymousAct) -> str:
    """Return a sentence that says why a client may not do this; empty if it may."""
    if by.user != ANONYMOUS_USER or act in allowed:
        return ""
    return (
        f"{by} may not {_WORDS[act]}: this manager has users, and anonymous_may does not name {name_of(act)}"
    )
