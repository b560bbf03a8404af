"""A message that came by one protocol and goes on by another: what belongs to the first is left behind.

    peer --one protocol--> this manager --another protocol--> next peer
             its words end here, and so do its receipts: from here on the message is ours

A message that goes on by the protocol that brought it is no matter of this module: it may keep all it has.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import NO_GUID, AuthenticationLevel, Delivery, Message
from reliquary.queueing.model.names.formats import DirectName, is_format_name, name_of_url, parse_single
from reliquary.queueing.model.names.schemes import is_bare_url

_LEFT_BEHIND: Final = {
    "soap_envelope": "",
    "soap_compound_message": "",
    "soap_header": "",
    "soap_body": "",
    "carrier_header": "",
    "sequence": None,
    "sequence_number": 0,
    "previous_sequence_number": 0,
    "first_in_transaction": False,
    "last_in_transaction": False,
    "final_ack_required": False,
    "transaction_status_queue": "",
    "destination_queue": "",  # the manager writes the name of the outgoing queue
    "destination_manager": NO_GUID,
    "authentication": AuthenticationLevel.NONE,
    "signature": b"",
    "sender_certificate": b"",
    "positive_journaling": False,  # its source has it in a journal (DM-049)
}
"""Attributes that speak of the first protocol, and what they are afterwards."""


def leads_elsewhere(name: str) -> bool:
    """Whether a name in the settings is no path name, but a format name or a URL of a protocol."""
    return is_format_name(name) or is_bare_url(name)


def onward_name(text: str) -> DirectName:
    """Return the destination that messages are passed on to; UsageError if no protocol brings them there."""
    name = parse_single(text if is_format_name(text) else name_of_url(text))
    if not isinstance(name, DirectName) or not name.scheme.is_url:
        raise UsageError(f"messages are passed on to a URL such as DIRECT=HTTPS://host/path, not to {text}")
    return name


def crossed(message: Message, transaction: UUID | None) -> Message:
    """Return a message as it goes on by another protocol.

    With a transaction it stays in its order behind the messages before it, and is delivered once, where the
    next protocol does that for transactions alone.
    """
    delivery = message.delivery if transaction is None else Delivery.RECOVERABLE
    return replace(message, transaction=transaction, delivery=delivery, **_LEFT_BEHIND)
