"""A manager that receives: two queues, and a look at the receipts that it writes.

bench = Receiving()                       "orders", and "torders" which is transactional
bench.post(*user_message(...))            as another manager would
bench.receipts                            what it has written so far and could not send yet
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as Tree

import msgspec

from reliquary.queueing.model.message import Message
from tests.protocols.srmp.srmp_harness import SrmpBench
from tests.queueing.state_checks import walk


class Receipt(msgspec.Struct, frozen=True):
    """The content of a receipt that the receiver has sent."""

    to: str
    message_class: int
    said: dict[str, str]
    """The leaves of its header blocks."""
    label: str = ""


class Receiving(SrmpBench):
    """A manager to which others send."""

    def __init__(self, **options: Any) -> None:
        super().__init__("orders", **options)
        self.create("torders", transactional=True)

    @property
    def outgoing(self) -> list[Message]:
        """Return all messages that wait in outgoing queues, oldest first."""
        found = [
            self.state.messages.get(position)
            for queue in self.state.names.outgoing.values()
            for position in [*walk(queue), *queue.order.locked.values()]
        ]
        return sorted(found, key=lambda message: message.identifier.uniquifier)

    @property
    def receipts(self) -> list[Receipt]:
        """Receipts that wait in outgoing queues, oldest first."""
        return [
            Receipt(
                message.destination_queue.partition("=")[2].replace("HTTP:", "http:"),
                message.message_class,
                leaves(message.soap_header),
                message.label,
            )
            for message in self.outgoing
            if message.soap_header
        ]


def leaves(blocks: str) -> dict[str, str]:
    """Return the elements with text of some header blocks."""
    return {
        element.tag: element.text for element in Tree.fromstring(f"<x>{blocks}</x>").iter() if element.text
    }


def first(bench: Receiving, path: str = "orders") -> Message:
    """Return the message at the head of a queue."""
    position = bench.queue(path).order.first()
    assert position is not None
    return bench.state.messages.get(position)


def contents(bench: Receiving) -> tuple[Any, ...]:
    """Return all that a message could have changed."""
    state = bench.srmp.state
    return (
        bench.bodies("orders"),
        bench.bodies("torders"),
        bench.outgoing,
        dict(state.incoming),
        state.receiver.arriving,
    )


def refused(bench: Receiving, post: tuple[str, bytes], *, naming: str, status: int = 400) -> None:
    """Check that a POST is refused with a sentence that names the element, and changes nothing."""
    before, facts = contents(bench), len(bench.facts)
    answer = bench.post(*post)
    assert answer.status == status
    assert answer.why.startswith(f"{naming}:"), answer.why
    assert contents(bench) == before
    assert len(bench.facts) == facts
