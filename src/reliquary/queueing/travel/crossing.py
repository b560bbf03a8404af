"""Removes the attributes of one protocol from a message that another protocol passes on.

    peer --one protocol--> this manager --another protocol--> next peer
           its headers and receipts end here: this manager is the sender for the next peer

A message that the protocol which brought it passes on keeps all its attributes and is not changed here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import NO_GUID, AuthenticationLevel, Delivery, Message
from reliquary.queueing.model.names.formats import DirectName, is_format_name, name_of_url, parse_single
from reliquary.queueing.model.names.schemes import OS, TCP, is_bare_url

_REPLACED: Final = {
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
    "destination_queue": "",  # the manager sets the name of the outgoing queue
    "destination_manager": NO_GUID,
    "authentication": AuthenticationLevel.NONE,
    "signature": b"",
    "sender_certificate": b"",
    "positive_journaling": False,  # its source has a copy in a journal (DM-049)
}
"""The attributes that belong to the first protocol, with the values that replace them."""


@lru_cache(maxsize=1024)
def leads_elsewhere(name: str) -> bool:
    """Return whether a name in the settings is a format name or a URL of a protocol, and no path name."""
    return is_format_name(name) or is_bare_url(name)


def onward_name(text: str) -> DirectName:
    """Return the destination that messages are passed on to; raise UsageError if no protocol reaches it."""
    name = parse_single(text if is_format_name(text) else name_of_url(text))
    if not isinstance(name, DirectName) or not (name.scheme.is_url or name.scheme in (OS, TCP)):
        raise UsageError(
            "messages are passed on to a URL such as DIRECT=HTTPS://host/path, or to a host as in"
            f" DIRECT=OS:host\\private$\\orders, not to {text}"
        )
    return name


def as_sent_onward(message: Message, transaction: UUID | None) -> Message:
    """Return a message in the form in which another protocol passes it on.

    A message with a transaction keeps its order and is delivered once, also by a protocol that promises
    this only for transactions.
    """
    delivery = message.delivery if transaction is None else Delivery.RECOVERABLE
    return message.changed(transaction=transaction, delivery=delivery, **_REPLACED)
