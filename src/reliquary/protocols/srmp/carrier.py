"""Describes SRMP as a carrier: its destinations, and the messages that it can bring there.

A message that it cannot bring is refused at the send.  Then its sender can correct it at once; in the
outgoing queue the message would become a dead letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.codec.compound import BOUNDARIES, apdu, compound
from reliquary.protocols.srmp.codec.encode import encode
from reliquary.protocols.srmp.codec.kinds import RECEIPT_CLASSES
from reliquary.protocols.srmp.settings import ENVELOPE_BYTES, LARGEST_MESSAGE
from reliquary.protocols.srmp.tables import NAME
from reliquary.queueing.model.message import (
    AuthenticationLevel,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
)
from reliquary.queueing.model.names.formats import (
    DirectName,
    MulticastName,
    SingleName,
    is_format_name,
    parse_format,
)
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.names.schemes import HTTP, HTTPS
from reliquary.queueing.model.queue import QueueType
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.acknowledge import names

MULTICAST: Final = "multicast"
"""The value of `protocol` in the history for messages to a multicast address."""
APDU_LIMIT: Final = 64 * 1024
"""The size limit of one multicast message in bytes, [MC-MQSRM] 2.1.3."""
SIGNATURE: Final = 4096
"""Room for the signature of a multicast message."""
LAST_ORDINAL: Final = 0xFFFFFFFF
ANY_TIME: Final = 1_700_000_000
"""A time; every time has as many characters in an envelope as this one."""
ESCAPED: Final = 6
"""The most bytes of an escaped character, as in `&quot;`."""
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def carrier(*, signs: bool, largest: int = LARGEST_MESSAGE) -> Carrier:
    """Return the description of SRMP for the queue manager; `signs` if there is a key to sign with.

    Messages with more than `largest` bytes are refused at the send.
    """
    return Carrier(
        name=NAME,
        claims=claims,
        check=partial(check, largest=largest),
        carries_signatures=True,
        signs=signs,
        reports_refusals=False,  # a status of HTTP reaches only the sending manager
        acknowledgements=RECEIPT_CLASSES,
        brought=came_with_envelope,
        labels=lambda name: MULTICAST if isinstance(name, MulticastName) else NAME,
    )


def claims(name: SingleName) -> bool:
    """Return whether SRMP carries messages to this destination: a URL of HTTP or a multicast address."""
    return isinstance(name, MulticastName) or (isinstance(name, DirectName) and name.scheme in (HTTP, HTTPS))


def came_with_envelope(message: Message) -> bool:
    """Return whether a message came by SRMP."""
    return bool(message.soap_envelope)


def check(state: State, name: SingleName, message: Message, *, in_transaction: bool, largest: int) -> None:
    """Refuse a message that cannot go to this destination."""
    _check(state, name, message)
    if isinstance(name, MulticastName):
        _check_multicast(state, name, message, in_transaction=in_transaction)
    else:
        _check_size(name, message, largest)


def _check_size(name: SingleName, message: Message, largest: int) -> None:
    """Refuse a message that no receiver with these limits would take."""
    size = message.body_size + len(message.extension)
    if size > largest:
        raise UsageError(
            f"a message to {name} has at most {largest} bytes of body and extension, this one has {size}"
        )
    if ESCAPED * sum(len(text) for _, text in _texts(message)) > ENVELOPE_BYTES // 2:
        raise UsageError(
            f"the label and the names in a message to {name} need more than {ENVELOPE_BYTES // 2} bytes"
        )


def _check(state: State, name: SingleName, message: Message) -> None:
    if message.message_class != MessageClass.NORMAL:
        raise UsageError(
            f"a message to {name} has the class {message.message_class:d}, which its receiver refuses:"
            f" send it with the class {MessageClass.NORMAL:d}"
        )
    if message.privacy is not MessagePrivacy.NONE:
        raise UsageError(
            f"a message to {name} asks for an encrypted body, which SRMP does not have: send it without"
            " encryption to an https URL, which encrypts the whole connection"
        )
    for what, text in _texts(message):
        wrong = _NOT_IN_XML.search(text)
        if wrong is not None:
            raise UsageError(f"{what} cannot contain {wrong[0]!r} in a message to {name}, which is XML")
    _check_names(state, name, message)


def _check_names(state: State, name: SingleName, message: Message) -> None:
    """Refuse names of queues that the receiver could not use; a local queue is named by its URL."""
    reports_to = names(message)
    for each in (message.response_queue, *message.response_queues, *reports_to, *message.destination_queues):
        if each and not is_format_name(each) and not _is_ours(state, each):
            raise UsageError(
                f"a message to {name} names the queue {each!r}, which its receiver cannot find: give the name"
                " of a queue of this manager, or a format name"
            )
    for each in reports_to if message.acknowledgements else ():
        if is_format_name(each) and not _is_url(each):
            raise UsageError(
                f"a message to {name} asks for acknowledgements in {each!r}, which its receiver cannot reach"
                " over HTTP: give the name of a queue of this manager, or a URL such as"
                " DIRECT=http://host/msmq/private$/admin"
            )


def _check_multicast(state: State, name: MulticastName, message: Message, *, in_transaction: bool) -> None:
    """Check a message to a multicast address: receivers do not answer, so it cannot request receipts
    ([MC-MQSRM] 3.1.7.2.3).
    """
    if in_transaction:
        raise UsageError(
            f"a message to {name} cannot be in a transaction, because its receivers cannot acknowledge it"
        )
    if message.acknowledgements:
        raise UsageError(
            f"a message to {name} cannot ask for acknowledgements, because each receiver of the group would"
            " send them"
        )
    size = size_on_wire(state, name, message)
    if size > APDU_LIMIT:
        raise UsageError(
            f"a message to {name} has at most {APDU_LIMIT} bytes on the wire with its envelope,"
            f" this one has {size}"
        )


def size_on_wire(state: State, name: MulticastName, message: Message) -> int:
    """Return the size of a message in its group, in an envelope with numbers of the largest length.

    A signature is counted with its largest size, because the key is not known here.
    """
    lineage = state.identity().identifier
    addressed = message.changed(
        identifier=ObjectId(lineage, LAST_ORDINAL),
        source_machine=lineage,
        sent_time=message.sent_time or ANY_TIME,
        destination_queue=str(name),
    )
    envelope = message.soap_envelope or encode(addressed, here=_longest_origin(state))
    body = message.body or bytes(message.body_size)
    parts = compound(envelope, body, message.extension, lineage, BOUNDARIES - 1)
    signature = 0 if message.authentication is AuthenticationLevel.NONE else SIGNATURE
    return len(apdu(f"{name.address}:{name.port}", parts)) + signature


def _longest_origin(state: State) -> str:
    """Return the longest beginning that URLs of local queues can have."""
    known = {authority for each in state.travel.own_urls.values() for authority in each.authorities}
    return f"https://{max(known, key=len, default=state.identity().computer_name)}"


def _texts(message: Message) -> Iterator[tuple[str, str]]:
    """Yield all that an application writes into the envelope."""
    yield "a label", message.label
    for name in (message.response_queue, *message.response_queues):
        yield "the name of a response queue", name
    for name in names(message):
        yield "the name of an administration queue", name


def _is_ours(state: State, path: str) -> bool:
    """Return whether messages can come to a path name by its URL: a local queue that is no journal."""
    try:
        name = destinations.read_name(state, path)
    except UsageError:
        return False
    return isinstance(name, Pathname) and name.kind is not QueueType.SYSTEM and not name.journal


def _is_url(text: str) -> bool:
    name = parse_format(text)
    return isinstance(name, DirectName) and name.scheme in (HTTP, HTTPS)
