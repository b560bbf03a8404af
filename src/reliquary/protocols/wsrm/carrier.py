"""Describes WS-RM as a carrier: its destinations, and the messages that it can bring there.

A message that cannot be written as an envelope is refused at the send, so that its sender can correct it.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import UsageError
from reliquary.protocols.wsrm.mapping import check_sendable
from reliquary.protocols.wsrm.schemes import names_endpoint
from reliquary.queueing.model.message import AuthenticationLevel, Message, MessagePrivacy
from reliquary.queueing.model.names.formats import SingleName
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.carriers import Carrier

NAME: Final = "wsrm"
"""The name of this carrier in the queue manager."""


def check(state: State, name: SingleName, message: Message, *, in_transaction: bool) -> None:
    """Refuse a message that cannot go to this destination."""
    del state, in_transaction
    if message.privacy is not MessagePrivacy.NONE:
        raise UsageError(f"no body is encrypted on its way to {name}; wsrms:// keeps the whole way secret")
    if message.authentication is not AuthenticationLevel.NONE:
        raise UsageError(f"no message is signed on its way to {name}; wsrms:// protects the whole way")
    try:
        check_sendable(message)
    except UsageError as why:
        raise UsageError(f"a message to {name} cannot be written as an envelope: {why}") from why


CARRIER: Final = Carrier(
    name=NAME,
    claims=names_endpoint,
    check=check,
    reports_refusals=False,  # a destination does not write acknowledgements of a queue manager
    acknowledgements=frozenset(),
)
