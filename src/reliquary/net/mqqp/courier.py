"""Calls methods of other managers over DCE/RPC for MQQP's client.

    CallServer --> the link --> the association of its interface --> ServerResponded, ServerFaulted
    EndLink -----> the link is closed, and nothing of it is reported afterwards
    LinkLost <---- a connection was lost or could not be made, or a response cannot be read

The port of a call is:

    the effect names one --------------------------------> that one (QP-145)
    else the settings name one --------------------------> that one, for both interfaces (F-02)
    else the endpoint mapper on port 135 knows one ------> that one
    else -------------------------------------------------> 2103 for qmcomm, 2105 for qm2qm
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from reliquary.engine.loop import EngineStopped
from reliquary.engine.open import RunningManager
from reliquary.net.rpc.dialing import Association, Call, DialLimits
from reliquary.net.rpc.mapper import ask_mapper
from reliquary.net.rpc.ntlm import NTLM, ntlm_client
from reliquary.net.rpc.outgoing import Traffic
from reliquary.net.tcp.dialing import ServerAddress
from reliquary.protocols.mqqp.codec import qm2qm
from reliquary.protocols.mqqp.codec.qm2qm import Request
from reliquary.protocols.mqqp.codec.stubs import (
    StubFault,
    decode_response,
    encode_request,
    interface_of,
    opnum_of,
)
from reliquary.protocols.mqqp.effects import CallServer, EndLink
from reliquary.protocols.mqqp.events import LinkLost, ServerFaulted, ServerResponded
from reliquary.protocols.mqqp.settings import MqqpSettings, ServerSettings
from reliquary.protocols.rpc.client import ClientConnection
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.ndr.encoding import Encoding
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM, SyntaxId

WELL_KNOWN: Final[Mapping[SyntaxId, int]] = {QMCOMM: 2103, QM2QM: 2105}
"""The port of each interface if neither effect, settings nor mapper name one."""
MAY_WAIT: Final = (qm2qm.StartReceive, qm2qm.StartReceive2)
"""The methods that a server may answer after a wait for a message."""

Submit = Callable[[ServerResponded | ServerFaulted | LinkLost], None]
AskMapper = Callable[[str, SyntaxId], Awaitable[int]]
"""The type of a function for the port of an interface at the endpoint mapper of a host; 0 for none."""


class Courier:
    """Makes the calls of `CallServer`, and closes links for `EndLink`."""

    def __init__(
        self,
        submit: Submit,
        settings: MqqpSettings,
        *,
        limits: DialLimits = DialLimits(),  # noqa: B008 - it is frozen
        mapper: AskMapper = ask_mapper,
    ) -> None:
        """`submit` takes the outcome of each call; `mapper` asks a host for the port of an interface."""
        self._submit = submit
        self.settings = settings
        self.limits = limits
        self.mapper = mapper
        self.links: dict[int, Link] = {}
        self._last = 0
        """The highest number of a link so far: links with lower numbers are not begun again."""
        self.traffic = Traffic()
        self.calls: Counter[str] = Counter()
        """The number of calls, by the name of the method's request."""
        self.responses = 0
        self.faults: Counter[int] = Counter()
        """The number of calls that were refused, by the status of the fault."""
        self.failures: Counter[Failure] = Counter()
        """The number of links that were lost, by reason."""

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return sum(link.connections for link in self.links.values())

    def call(self, effect: CallServer) -> None:
        """Call a method; calls for a lost link were answered by that loss."""
        link = self.links.get(effect.link)
        if link is None:
            if effect.link <= self._last:
                return
            self._last = effect.link
            link = self.links[effect.link] = Link(self, effect.link)
        self.calls[type(effect.request).__name__] += 1
        link.call(effect)

    def end(self, effect: EndLink) -> None:
        """Close the connections of a link; its calls get no answer."""
        link = self.links.pop(effect.link, None)
        if link is not None:
            link.close()

    def stop(self) -> None:
        """Close all connections, of which nothing is reported any more."""
        for link in self.links.values():
            link.close()
        self.links.clear()

    # -- called by links

    def responded(self, event: ServerResponded) -> None:
        """Count a response, and report it."""
        self.responses += 1
        self._submit(event)

    def faulted(self, event: ServerFaulted) -> None:
        """Count a fault, and report it."""
        self.faults[event.status] += 1
        self._submit(event)

    def lost(self, event: LinkLost) -> None:
        """Forget a lost link, and report it."""
        del self.links[event.link]
        self.failures[event.failure] += 1
        self._submit(event)


class _InterfaceAssociation(NamedTuple):
    """The association that calls to one interface use now."""

    port: int
    """The port that the effect named."""
    association: Association

    def leads_to(self, port: int) -> bool:
        """Return whether it is the association of this port; 0 means any port."""
        address = self.association.address
        return port in (0, self.port) or (address is not None and port == address.port)


class Link:
    """The connections to another manager for one queue: an association for each interface."""

    def __init__(self, courier: Courier, number: int) -> None:
        self._courier = courier
        self._number = number
        self._bindings: dict[SyntaxId, _InterfaceAssociation] = {}
        self._leaving: list[Association] = []
        """Associations at ports that are no longer called; each is closed after all its answers."""
        self._requests: dict[int, Request] = {}
        """The calls without an answer."""

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return sum(each.connections for each in self._associations())

    def call(self, effect: CallServer) -> None:
        """Make a call at the port of its effect."""
        request = effect.request
        association = self._association(effect)
        self._requests[effect.call] = request
        stub = partial(encode_request, request)
        association.call(
            Call(
                effect.call,
                opnum_of(request),
                lambda encoding: [stub(encoding)],
                isinstance(request, MAY_WAIT),
            )
        )

    def close(self) -> None:
        """Close all connections; nothing is reported any more."""
        for association in self._associations():
            association.close()

    # -- called by associations

    def returned(self, call: int, stub: bytes, encoding: Encoding) -> None:
        """Report the answer of a call; a response that cannot be read ends the link."""
        request = self._requests.pop(call)
        try:
            response = decode_response(request, stub, encoding)
        except StubFault as fault:
            self.lost(Failure.LOST, f"the response to {type(request).__name__} cannot be read: {fault}")
            return
        self._part()
        self._courier.responded(ServerResponded(self._number, call, response))

    def faulted(self, call: int, status: int) -> None:
        """Report that a call was refused, or that its method raised a status."""
        del self._requests[call]
        self._part()
        self._courier.faulted(ServerFaulted(self._number, call, status))

    def lost(self, failure: Failure, why: str) -> None:
        """Report the loss of a connection, and with it of the link."""
        self.close()
        self._courier.lost(LinkLost(self._number, failure, why))

    # -- ports

    def _associations(self) -> list[Association]:
        return [*(binding.association for binding in self._bindings.values()), *self._leaving]

    def _association(self, effect: CallServer) -> Association:
        """Return the association for a call; another port is a new binding, and the old one is closed."""
        interface = interface_of(effect.request)
        binding = self._bindings.get(interface)
        if binding is not None:
            if binding.leads_to(effect.port):
                return binding.association
            self._leaving.append(binding.association)  # QP-145
            self._part()
        association = self._begin(interface, effect)
        self._bindings[interface] = _InterfaceAssociation(effect.port, association)
        return association

    def _part(self) -> None:
        """Close associations that are no longer called and have all their answers."""
        for association in [each for each in self._leaving if not each.is_busy]:
            self._leaving.remove(association)
            association.close()

    def _begin(self, interface: SyntaxId, effect: CallServer) -> Association:
        courier = self._courier
        server = courier.settings.server(effect.server)
        host = server.host or effect.server
        return Association(
            partial(_find, courier.mapper, host, interface, effect.port or server.port),
            partial(_connection, interface, server, host),
            self,
            courier.limits,
            courier.traffic,
        )


async def _find(mapper: AskMapper, host: str, interface: SyntaxId, port: int) -> ServerAddress:
    """Return the address of an interface of a host."""
    return ServerAddress(host, port or await mapper(host, interface) or WELL_KNOWN[interface])


def _connection(interface: SyntaxId, server: ServerSettings, host: str, association: int) -> ClientConnection:
    """Return a connection of an association group, with the authentication of the settings."""
    if not server.user:
        return ClientConnection(interface, association=association)
    return ClientConnection(
        interface,
        association=association,
        security=ntlm_client(server.user, server.password, NTLM, host),
        auth_type=NTLM,
        protection=max(server.protection, Protection.CONNECT),
    )


def plug_in(manager: RunningManager, settings: MqqpSettings, *, limits: DialLimits = DialLimits()) -> Courier:  # noqa: B008 - it is frozen
    """Connect a courier to the calls of an engine's client role."""
    engine = manager.engine

    def submit(event: ServerResponded | ServerFaulted | LinkLost) -> None:
        with suppress(EngineStopped):
            engine.submit(event)

    courier = Courier(submit, settings, limits=limits)
    engine.performers |= {CallServer: courier.call, EndLink: courier.end}
    return courier
