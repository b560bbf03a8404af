"""Our manager in a process, for tests with a WS-RM peer: its settings, and what the tests ask it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Final

import pytest

from tests.e2e.sites import Site
from tests.peers.gsoap_build import IMPORTS, Version
from tests.peers.gsoap_peer import PATIENCE

_TEXT: Final = re.compile(r"<(?:\w+:)?(text|answer)\b[^>]*>(.*?)</")


@dataclass(frozen=True)
class Variant:
    """One kind of conversation with a gSOAP peer."""

    version: Version
    soap: int
    """1 or 2: SOAP 1.1 or 1.2."""
    flow: bool
    """The peer's acknowledgements have BufferRemaining."""
    duplex: bool
    """The sender has an address of its own for acknowledgements; else they come on responses."""

    def __str__(self) -> str:
        parts = [f"rm{self.version}", f"soap1.{self.soap}"]
        parts += ["flow"] * self.flow + ["duplex"] * self.duplex
        return "-".join(parts)


SHORT: Final = (
    Variant("1.0", 1, False, False),
    Variant("1.0", 2, True, True),
    Variant("1.1", 1, False, True),
    Variant("1.1", 2, True, False),
)
"""Each value of each property, once for each version."""
ALL: Final = [
    Variant(version, soap, flow, duplex)
    for version, soap, flow, duplex in product(IMPORTS, (1, 2), (False, True), (False, True))
]
VARIANTS: Final = [
    pytest.param(each, id=str(each), marks=[] if each in SHORT else [pytest.mark.long]) for each in ALL
]
LONG_VARIANTS: Final = [
    pytest.param(each, id=str(each), marks=[] if each == SHORT[3] else [pytest.mark.long]) for each in ALL
]
"""The variants for tests with several kinds of loss: one of them is in the short tier."""


def settings(site: Site, *tables: str) -> str:
    """Return settings with an address that peers here can reach, and with short waits."""
    lines = [
        "[wsrm]",
        f'origin = "http://127.0.0.1:{site.data_port}"',
        "retransmission = 0.3",
        "longest_retransmission = 0.6",
        *tables,
    ]
    return "\n".join(lines) + "\n"


def peer(port: int, variant: Variant, *, replies_into: str = "") -> str:
    """Return the settings of our source for a gSOAP server.

    gSOAP answers in WS-Addressing 1.0 always, and knows only that version's anonymous address.
    """
    lines = [
        "[[wsrm.peers]]",
        f'address = "wsrm://127.0.0.1:{port}/*"',
        f'version = "{variant.version}"',
        f'soap = "1.{variant.soap}"',
        'addressing = "1.0"',
        f"addressable = {str(variant.duplex).lower()}",
    ]
    if replies_into:
        lines += ["offer = true", f'replies_into = "{replies_into}"']
    return "\n".join(lines)


@contextmanager
def running(site: Site) -> Iterator[Site]:
    """Yield a site while the block runs."""
    try:
        site.start()
        yield site
    finally:
        site.end()


def endpoint(site: Site, name: str) -> str:
    """Return the URL of an endpoint."""
    return f"http://127.0.0.1:{site.data_port}/wsrm/{name}"


def text_in(body: str) -> str:
    """Return the text of a note, a request or a response."""
    found = _TEXT.search(body)
    assert found, f"no text in {body!r}"
    return found[2]


def received(site: Site, queue: str, count: int) -> list[str]:
    """Wait until a queue has this many messages; the texts in them, in their order."""
    with site.connect() as manager:
        wait_until(lambda: manager.queue(queue).info().messages >= count)
        return [text_in(message.text) for message in manager.queue(queue).browse()]


def let_go(site: Site) -> None:
    """Wait until no message is left to send."""
    with site.connect() as manager:
        wait_until(lambda: not any(each.messages for each in manager.outgoing()))


def wait_until(is_so: Callable[[], bool]) -> None:
    """Ask the manager again and again."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "what the test waits for did not come"
