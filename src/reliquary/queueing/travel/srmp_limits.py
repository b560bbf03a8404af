"""What SRMP can carry: a message for a URL or a multicast address is refused at the send, or goes.

A sender that hears of it at once can mend it; in the outgoing queue it would only be a dead letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.queueing.acknowledge import names
from reliquary.queueing.events import Access
from reliquary.queueing.message import AuthenticationLevel, Message, MessageClass, MessagePrivacy
from reliquary.queueing.naming import destinations
from reliquary.queueing.naming.expand import elements_of
from reliquary.queueing.naming.formats import (
    DirectName,
    MulticastName,
    SingleName,
    is_format_name,
    parse_format,
)
from reliquary.queueing.naming.names import Pathname
from reliquary.queueing.queue import QueueType
from reliquary.queueing.state import State
from reliquary.queueing.travel.transfer import Wrapper, wrapper_for

APDU_LIMIT: Final = 64 * 1024
"""What one multicast message may have, [MC-MQSRM] 2.1.3."""
ENVELOPE: Final = 4096
"""Room for what a multicast message has beside body, extension and names; a signature needs as much again."""
ESCAPED: Final = 6
"""Bytes that one character takes at most, as `&quot;`."""
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_srmp(state: State, target: int | str, messages: Sequence[Message], *, in_transaction: bool) -> None:
    """Refuse what cannot go to one of the destinations that are reached by SRMP."""
    for name in _by_srmp(state, target):
        for message in messages:
            _check(state, name, message)
            if isinstance(name, MulticastName):
                _check_multicast(name, message, in_transaction=in_transaction)


def _by_srmp(state: State, target: int | str) -> Iterator[SingleName]:
    """The destinations that are reached by SRMP; only format names name them."""
    if isinstance(target, int):
        descriptor = state.handles.get(target)
        target = "" if descriptor is None else descriptor.format_name
    if "=" not in target:
        return
    name = destinations.expanded(state, target, Access.SEND)
    if name is None or isinstance(name, Pathname):
        return
    for each in elements_of(name):
        ours = isinstance(each, DirectName) and destinations.is_own_address(state, each)
        if wrapper_for(each) is Wrapper.SRMP and not ours:
            yield each


def _check(state: State, name: SingleName, message: Message) -> None:
    if message.message_class != MessageClass.NORMAL:
        raise UsageError(
            f"a message to {name} is of class {MessageClass.NORMAL:d}, because no other is taken there,"
            f" not {message.message_class:d}"
        )
    if message.privacy is not MessagePrivacy.NONE:
        raise UsageError(
            f"no body is encrypted on its way to {name}; an https URL keeps the whole way secret"
        )
    for what, text in _texts(message):
        wrong = _NOT_IN_XML.search(text)
        if wrong is not None:
            raise UsageError(f"{what} cannot contain {wrong[0]!r} on its way to {name}")
    _check_names(state, name, message)


def _check_names(state: State, name: SingleName, message: Message) -> None:
    """What is named beside the destination has a name there too: a queue of ours goes as its URL."""
    told = names(message)
    for each in (message.response_queue, *message.response_queues, *told, *message.destination_queues):
        if each and not is_format_name(each) and not _is_ours(state, each):
            raise UsageError(
                f"a message to {name} names queues of this manager or format names, because elsewhere"
                f" nothing else is known, not {each!r}"
            )
    for each in told if message.acknowledgements else ():
        if is_format_name(each) and not _is_url(each):
            raise UsageError(
                f"what becomes of a message to {name} is told to a queue of this manager or to a URL such as"
                f" DIRECT=http://host/msmq/private$/admin, not to {each!r}"
            )


def _check_multicast(name: MulticastName, message: Message, *, in_transaction: bool) -> None:
    """One to many: nobody answers, so nothing can be asked for ([MC-MQSRM] 3.1.7.2.3)."""
    if in_transaction:
        raise UsageError(f"a message to {name} is in no transaction, because nobody there can acknowledge it")
    if message.acknowledgements:
        raise UsageError(f"a message to {name} asks for no acknowledgement, because many would answer")
    size = message.body_size + len(message.extension) + _room(message)
    if size > APDU_LIMIT:
        raise UsageError(
            f"a message to {name} has at most {APDU_LIMIT} bytes with its envelope, this one has {size}"
        )


def _room(message: Message) -> int:
    signature = ENVELOPE if message.authentication is not AuthenticationLevel.NONE else 0
    return ENVELOPE + signature + ESCAPED * sum(len(text) for _, text in _texts(message))


def _texts(message: Message) -> Iterator[tuple[str, str]]:
    """All that an application writes into the envelope."""
    yield "a label", message.label
    for name in (message.response_queue, *message.response_queues):
        yield "the name of a response queue", name
    for name in names(message):
        yield "the name of an administration queue", name


def _is_ours(state: State, path: str) -> bool:
    """Whether messages can come to a path name by its URL: it is no other manager's, and no journal."""
    try:
        name = destinations.read_name(state, path)
    except UsageError:
        return False
    return isinstance(name, Pathname) and name.kind is not QueueType.SYSTEM and not name.journal


def _is_url(text: str) -> bool:
    name = parse_format(text)
    return isinstance(name, DirectName) and name.protocol.is_http
