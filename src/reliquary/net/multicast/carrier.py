"""Performs SRMP's multicast effects with a source and a receiver for each address, on one link.

Nothing is opened before it is needed.  A group that cannot be joined now is tried again after a while.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Final, Generic, Protocol, TypeVar

from reliquary.base.chance import Chance
from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import Warn
from reliquary.net.multicast.links import Heard, Link, open_link
from reliquary.net.multicast.options import MulticastOptions
from reliquary.protocols.pgm.actions import (
    Deliver,
    Lost,
    Multicast,
    PgmResult,
    Reason,
    Restarted,
    Sent,
    Unicast,
    Unused,
)
from reliquary.protocols.pgm.budget import Budget
from reliquary.protocols.pgm.receiver import Receiver
from reliquary.protocols.pgm.source import Source, SourceState
from reliquary.protocols.srmp.effects import EndSession, ListenTo, SendApdu
from reliquary.protocols.srmp.events import ApduArrived, PostEnded
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.pgm import packets
from reliquary.wire.pgm.packets import Data, Nak, NotServed, PgmPacketType, Tsi

RETRY_SECONDS: Final = 30
TOO_LARGE: Final = 400
"""The status for a message larger than a packet sequence allows: it becomes a dead letter."""

Address = tuple[str, int]
"""A group and a port."""
CallLater = Callable[..., asyncio.TimerHandle]
M = TypeVar("M", bound=Source | Receiver)


class Count(Enum):
    """The events that are counted since the process started."""

    MESSAGES_SENT = "messages-sent"
    MESSAGES_RECEIVED = "messages-received"
    PACKETS_SENT = "packets-sent"
    """Packets with new data; packets that manage the session are not counted."""
    PACKETS_REPAIRED = "packets-repaired"
    """Packets that were sent again, because a member missed them."""
    PACKETS_LOST = "packets-lost"
    """Packets that were expected and never came."""
    PACKETS_REFUSED = "packets-refused"
    """Received packets that are not PGM."""
    PACKETS_DUPLICATE = "packets-duplicate"
    """Packets that came again, or too late."""
    PACKETS_DEFERRED = "packets-deferred"
    """Packets that could not be buffered when they came; their sources are asked to send them again."""
    PACKETS_IGNORED = "packets-ignored"
    """Packets with numbers far from the expected ones, or of more sources than are followed."""
    SOURCES_RESTARTED = "sources-restarted"
    """Sources that restarted with their previous identifier."""


_UNUSED: Final = {
    Reason.DUPLICATE: Count.PACKETS_DUPLICATE,
    Reason.DEFERRED: Count.PACKETS_DEFERRED,
    Reason.IGNORED: Count.PACKETS_IGNORED,
}


class Clock(Protocol):
    """A monotonic clock, in microseconds."""

    def monotonic(self) -> int:
        """Return microseconds since an arbitrary start."""


class Timed(Generic[M]):
    """A machine and its timer; a timer that fires too early has no effect."""

    def __init__(self, machine: M, address: Address, at: str) -> None:
        self.machine: M = machine
        self.group, self.port = address
        self.at = at
        """The address of the group, as `ip:port`."""
        self.alarm: asyncio.TimerHandle | None = None
        self.rings_at: Instant | None = None

    def stop(self) -> None:
        """Cancel the timer of the machine."""
        if self.alarm is not None:
            self.alarm.cancel()


class Carrier:
    """Performs `SendApdu`, `ListenTo`, and `EndSession` for multicast."""

    def __init__(
        self,
        options: MulticastOptions,
        *,
        chance: Chance,
        clock: Clock,
        ended: Callable[[PostEnded], None],
        arrived: Callable[[ApduArrived], None],
        warn: Callable[[Warn], None],
        make_link: Callable[[MulticastOptions, Heard], Link] = open_link,
        call_later: CallLater | None = None,
    ) -> None:
        """`call_later` is that of the running loop, unless a test has another."""
        self._options = options
        self._settings = options.protocol
        self._chance, self._clock = chance, clock
        self._ended, self._arrived, self._warn = ended, arrived, warn
        self._make_link = make_link
        self._link: Link | None = None
        self._call_later = call_later or asyncio.get_running_loop().call_later
        self._name = chance.bits(48).to_bytes(6, "big")
        """The global source id of this process."""
        self._sources: dict[Tsi, Timed[Source]] = {}
        self._open: dict[Address, Timed[Source]] = {}
        """The sources that accept more messages."""
        self._sessions: dict[int, Address] = {}
        """The address to which each outgoing queue sends."""
        self._receivers: dict[Address, Timed[Receiver]] = {}
        self.budget = Budget(self._settings.most_missing)
        """The budget of all receivers together."""
        self._wanted: frozenset[str] = frozenset()
        self._members: dict[str, int] = {}
        """The number of sources and receivers of each group."""
        self._retry: asyncio.TimerHandle | None = None
        self.counts: Counter[Count] = Counter()

    # -- effects

    def send(self, effect: SendApdu) -> None:
        """Send a message; its outcome is reported."""
        failure, why = self._submit(effect)
        if failure is not None:
            ended = PostEnded(effect.session, effect.epoch, effect.lookup_id, 0, failure, why)
            self._ended(ended)
        elif why:
            self._ended(PostEnded(effect.session, effect.epoch, effect.lookup_id, TOO_LARGE, why=why))

    def listen(self, effect: ListenTo) -> None:
        """Listen only to these addresses."""
        self._wanted = effect.addresses
        for address in [each for each, timed in self._receivers.items() if timed.at not in self._wanted]:
            timed = self._receivers.pop(address)
            timed.stop()
            timed.machine.close()
            self._leave(address[0])
        self._listen_to_missing()

    def end(self, effect: EndSession) -> None:
        """Pause the source of an outgoing queue that has nothing to send; it continues to repair."""
        address = self._sessions.pop(effect.session, None)
        timed = (
            None if address is None or address in self._sessions.values() else self._open.pop(address, None)
        )
        if timed is not None:
            self._close(timed)

    def pause(self, pressed: bool) -> None:
        """Stop reading while the engine is overloaded, and read again afterwards."""
        if self._link is not None:
            self._link.pause(pressed)

    def stop(self) -> None:
        """Announce the end to all groups, and close the link."""
        if self._retry is not None:
            self._retry.cancel()
        for timed in self._open.values():
            self._close(timed)
        for sending in self._sources.values():
            sending.stop()
        for listening in self._receivers.values():
            listening.stop()
        self._open.clear()
        self._sources.clear()
        self._receivers.clear()
        if self._link is not None:
            self._link.close()
            self._link = None

    # -- sending

    def _submit(self, effect: SendApdu) -> tuple[Failure | None, str]:
        """Submit a message to its source; return the failure, if any, and its reason."""
        address = parse(effect.address)
        if address is None:
            return Failure.NO_ADDRESS, f"{effect.address} is not a multicast address with a port"
        try:
            timed = self._open.get(address) or self._new_source(address)
        except OSError as why:
            return Failure.NO_CONNECTION, str(why)
        self._sessions[effect.session] = address
        try:
            step = timed.machine.submit(effect, effect.data, self._now())
        except UsageError as why:
            return None, str(why)
        self._perform(timed, step)
        return None, ""

    def _new_source(self, address: Address) -> Timed[Source]:
        group, port = address
        link = self._join(group)  # NAKs come by multicast too
        try:
            path = link.address_towards(group)
        except OSError:
            self._leave(group)
            raise
        tsi = Tsi(self._name, self._chance.bits(16))
        while tsi in self._sources:
            tsi = Tsi(self._name, self._chance.bits(16))
        source = Source(tsi, group, port, path, self._settings, self._chance.bits(32), self._now())
        timed = Timed(source, address, f"{group}:{port}")
        self._sources[tsi] = self._open[address] = timed
        return timed

    # -- listening

    def _listen_to_missing(self) -> None:
        """Listen to all wanted addresses; a group that cannot be joined now is tried again later."""
        failed = False
        for wanted in sorted(self._wanted):
            address = parse(wanted)
            if address is None or address in self._receivers:
                continue
            try:
                self._join(address[0])
            except OSError as why:
                self._warn(
                    Warn(
                        f"multicast {wanted}",
                        "the group cannot be joined",
                        f"{why}; it is tried again: check multicast.interface",
                    )
                )
                failed = True
                continue
            receiver = Receiver(*address, self._settings, self._chance, self.budget)
            self._receivers[address] = Timed(receiver, address, wanted)
        if failed and self._retry is None:
            self._retry = self._call_later(RETRY_SECONDS, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        self._listen_to_missing()

    # -- the link

    def _join(self, group: str) -> Link:
        if self._link is None:
            self._link = self._make_link(self._options, self._hear)
        if not self._members.get(group):
            self._link.join(group)
        self._members[group] = self._members.get(group, 0) + 1
        return self._link

    def _leave(self, group: str) -> None:
        self._members[group] -= 1
        if not self._members[group]:
            del self._members[group]
            if self._link is not None:
                with suppress(OSError):
                    self._link.leave(group)

    def _hear(self, raw: bytes, sender: str, to: str) -> None:
        """Pass a packet to its machine: NAKs to the source, and packets to a group to its receiver."""
        try:
            packet = packets.decode(raw)
        except NotServed:
            return
        except PacketFault:
            self.counts[Count.PACKETS_REFUSED] += 1
            return
        now = self._now()
        if isinstance(packet, Nak) and packet.kind is PgmPacketType.NAK:
            sending = self._sources.get(packet.tsi)
            if sending is not None:
                self._perform(sending, sending.machine.hear(packet, now))
        listening = self._receivers.get((to, packet.port))
        if listening is not None:
            self._perform(listening, listening.machine.hear(packet, sender, now))

    # -- machines

    def _now(self) -> Instant:
        return Instant(self._clock.monotonic())

    def _perform(self, timed: Timed[Source] | Timed[Receiver], step: PgmResult) -> None:
        link = self._link
        assert link is not None, "there are machines only while there is a link"
        for action in step.actions:
            if isinstance(action, Multicast):
                packet = action.packet
                alert = not isinstance(packet, Data) or packet.repair
                if isinstance(packet, Data):
                    self.counts[Count.PACKETS_REPAIRED if packet.repair else Count.PACKETS_SENT] += 1
                link.multicast(packets.encode(packet), timed.group, near=action.near, alert=alert)
            elif isinstance(action, Unicast):
                link.unicast(packets.encode(action.packet), action.to)
            elif isinstance(action, Deliver):
                self.counts[Count.MESSAGES_RECEIVED] += 1
                self._arrived(ApduArrived(timed.at, action.apdu))
            elif isinstance(action, Sent):
                effect = action.ticket
                assert isinstance(effect, SendApdu), (
                    "the source confirmed a message that the carrier did not submit"
                )
                self.counts[Count.MESSAGES_SENT] += 1
                self._ended(PostEnded(effect.session, effect.epoch, effect.lookup_id, 200))
            elif isinstance(action, Unused):
                self.counts[_UNUSED[action.reason]] += 1
            else:
                self._tell_of(timed, action)
        if isinstance(timed.machine, Source) and timed.machine.state is SourceState.ENDED:
            self._forget(timed.machine)
        elif step.wake is not None and (timed.rings_at is None or step.wake < timed.rings_at):
            self._set_alarm(timed, step.wake)

    def _tell_of(self, timed: Timed[Source] | Timed[Receiver], event: Lost | Restarted) -> None:
        """Count an event of a session, and log a warning."""
        about = f"multicast {timed.at}"
        if isinstance(event, Restarted):
            self.counts[Count.SOURCES_RESTARTED] += 1
            why = f"{event.tsi} has restarted its numbering, and repairs no earlier packets"
            self._warn(Warn(about, "a source was restarted", why))
            return
        self.counts[Count.PACKETS_LOST] += event.packets
        why = f"{event.packets} packets of {event.tsi}, from number {event.first} on: {event.why}"
        self._warn(Warn(about, "messages were lost", why))

    def _close(self, timed: Timed[Source]) -> None:
        """Close a source: messages that were begun are sent, and repaired for the time of a window."""
        timed.machine.withdraw()
        self._perform(timed, timed.machine.close(self._now()))

    def _forget(self, source: Source) -> None:
        """Forget a session whose time is over."""
        del self._sources[source.tsi]
        self._leave(source.group)

    def _set_alarm(self, timed: Timed[Source] | Timed[Receiver], wake: Instant) -> None:
        timed.stop()
        timed.rings_at = wake
        delay = max(wake - self._clock.monotonic(), 0) / SECOND
        timed.alarm = self._call_later(delay, self._ring, timed)

    def _ring(self, timed: Timed[Source] | Timed[Receiver]) -> None:
        timed.alarm = timed.rings_at = None
        self._perform(timed, timed.machine.wake(self._now()))


def parse(address: str) -> Address | None:
    """Return the group and the port of `ip:port`.

    >>> parse("234.1.1.1:8001"), parse("10.0.0.1:8001")
    (('234.1.1.1', 8001), None)
    """
    group, _, port = address.partition(":")
    parts = group.split(".")
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts):
        return None
    if not 224 <= int(parts[0]) <= 239 or not port.isascii() or not port.isdigit() or int(port) > 65535:
        return None
    return group, int(port)
