r"""Reads queues of another manager over MQQP, with the interface of local queues.

    queue.receive() --> manager in memory --CallServer--> courier --DCE/RPC--> the other manager
                            |
                            DIRECT=OS:host\private$\orders, by the machine of MQQP's client role

The manager in this process has no queues and no folder.  It records which messages were read and not
yet confirmed, so that a lost response loses no message.  MQQP can only read: other requests are refused
with one sentence.
"""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from typing import Any, Final, NoReturn

from reliquary.client.address import MqqpAddress
from reliquary.client.directory import AsyncDirectory
from reliquary.client.errors import error_of
from reliquary.client.faults import translate_errors
from reliquary.client.local_reading import LocalReading
from reliquary.client.records import Access, LookUp, Peek, Receive, Received, Share
from reliquary.engine.open import RunningManager, open_in_memory
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.net.host import own_name
from reliquary.net.mqqp.courier import Courier, plug_in
from reliquary.protocols.mqqp.protocol import mqqp
from reliquary.protocols.mqqp.reader import READER
from reliquary.protocols.mqqp.settings import MqqpSettings, ServerSettings
from reliquary.queueing.model.names.pathnames import parse

ONLY_READS: Final = (
    "over MQQP, queues are only read, browsed and purged; for anything else, connect to an address of their"
    " manager such as http://host:8480"
)


class MqqpTransport(LocalReading):
    """The queues of one other manager."""

    def __init__(self, opened: RunningManager, courier: Courier, address: MqqpAddress) -> None:
        super().__init__(opened.engine)
        self._opened = opened
        self._courier = courier
        self._host = address.host
        self.named_queue = address.queue

    async def close(self) -> None:
        """Close all connections; messages that were read and not confirmed return to their queues."""
        try:
            with translate_errors():
                await self._opened.close()
        finally:
            self._courier.stop()

    # -- reading, by names of the other manager's queues

    async def receive(self, queue: str, ask: Receive) -> Received:
        """Receive messages; the other manager has removed them when this returns."""
        return await super().receive(self.format_name(queue), ask)

    async def peek(self, queue: str, ask: Peek) -> Received:
        """Return the first matching message without removing it."""
        return await super().peek(self.format_name(queue), ask)

    async def look_up(self, queue: str, ask: LookUp) -> Received:
        """Read the message with this LookupIdentifier, or its neighbour in the queue."""
        return await super().look_up(self.format_name(queue), ask)

    async def browse(self, queue: str, after: int | None, limit: int, handle: str | None = None) -> Received:
        """Return the messages after a position without removing them."""
        return await super().browse(self.format_name(queue), after, limit, handle)

    async def open(self, queue: str, access: Access, share: Share, lease: float) -> str:
        """Open a queue and return the handle."""
        if access in ("send", "move"):
            refuse()
        return await super().open(self.format_name(queue), access, share, lease)

    async def purge_queue(self, name: str) -> int:
        """Delete all messages of a queue; MQQP does not return their number."""
        return await super().purge_queue(self.format_name(name))

    def format_name(self, queue: str) -> str:
        """Return the direct format name of a queue that is named as at its own manager."""
        with translate_errors():
            path = parse(queue, self._host)
        return f"DIRECT={'TCP' if is_ip_address(self._host) else 'OS'}:{self._host}\\{path}"

    # -- what MQQP has no method for

    @property
    def directory(self) -> AsyncDirectory:
        """Raise the error for a request to the directory, which MQQP does not have."""
        refuse()

    async def _refuse(self, *given: Any, **named: Any) -> Any:
        """Raise the error for a method that MQQP does not have."""
        del given, named
        refuse()

    send = move = _refuse
    begin = prepare = commit = abort = _refuse
    manager = create_queue = change_queue = delete_queue = _refuse
    access = change_access = _refuse
    list_records = show_record = act_on = _refuse
    set_online = history = trace = export_history = verify = backup = _refuse
    acts = reload = _refuse


def refuse() -> NoReturn:
    """Raise the error for a request that MQQP cannot perform."""
    raise error_of("UNSUPPORTED_ACCESS_MODE", ONLY_READS)


def is_ip_address(host: str) -> bool:
    """Return whether a host is given by its IP address.

    >>> is_ip_address("::1"), is_ip_address("10.0.0.5"), is_ip_address("far.example.com")
    (True, True, False)
    """
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def open_mqqp(address: MqqpAddress) -> MqqpTransport:
    """Start the manager that reads from this address; the address itself is not contacted yet."""
    server = ServerSettings(
        name=address.host, port=address.port, user=address.user, password=address.password
    )
    settings = MqqpSettings(servers=(server,))
    with translate_errors():
        opened = await open_in_memory(
            clock=RealClock(),
            chance=SystemChance(),
            computer_name=own_name(),
            protocols=[replace(mqqp(settings), reader=replace(READER, own_addresses=True))],
        )
    return MqqpTransport(opened, plug_in(opened, settings), address)
