"""Tests links on the loopback interface: what is sent to a group is received by its members."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable

import pytest

from reliquary.net.multicast.links import Link, RawLink, UdpLink, open_link
from reliquary.net.multicast.options import Encapsulation, MulticastOptions
from tests.ports import free_port, free_ports

GROUP = "239.255.77.1"
may_be_raw = pytest.mark.skipif(os.geteuid() != 0, reason="raw sockets are for root")
KINDS = [UdpLink, pytest.param(RawLink, marks=may_be_raw)]


def options(**chosen: object) -> MulticastOptions:
    source_port, group_port = free_ports(2)
    given = {"interface": "127.0.0.1", "source_port": source_port, "group_port": group_port} | chosen
    return MulticastOptions(**given)  # type: ignore[arg-type]


pytestmark = pytest.mark.xdist_group("multicast")
"""One worker runs them: every raw socket of a machine receives all packets of the protocol."""


class PacketRecorder:
    """A callback that keeps the packets which a link receives."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[tuple[bytes, str, str]] = asyncio.Queue()

    def __call__(self, packet: bytes, sender: str, to: str) -> None:
        self.heard.put_nowait((packet, sender, to))


def play(
    kind: type[Link], scene: Callable[[Link, Link, PacketRecorder], Awaitable[None]], **chosen: object
) -> None:
    """Open one link that sends and one that listens, on the loopback interface."""

    async def run() -> None:
        settings, recorder = options(**chosen), PacketRecorder()
        one, other = kind(settings, lambda *_: None), kind(settings, recorder)
        try:
            await scene(one, other, recorder)
        finally:
            one.close()
            other.close()

    asyncio.run(run())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.spec("SR-005")
def test_a_member_receives_what_is_sent_to_its_group(kind: type[Link]) -> None:
    async def scene(one: Link, other: Link, recorder: PacketRecorder) -> None:
        other.join(GROUP)
        one.multicast(b"far", GROUP)
        one.multicast(b"near", GROUP, near=True)
        one.multicast(b"alert", GROUP, alert=True)
        came = {await recorder.heard.get() for _ in range(3)}
        assert came == {(what, "127.0.0.1", GROUP) for what in (b"far", b"near", b"alert")}
        assert one.unsent == 0

    play(kind, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_receives_what_is_sent_to_it_alone(kind: type[Link]) -> None:
    async def scene(one: Link, other: Link, recorder: PacketRecorder) -> None:
        one.unicast(b"nak", "127.0.0.1")
        assert (await recorder.heard.get())[:2] == (b"nak", "127.0.0.1")

    play(kind, scene)


def test_with_one_port_for_both_roles_each_packet_is_received_once() -> None:
    async def scene(one: Link, other: Link, recorder: PacketRecorder) -> None:
        one.join("239.255.77.2")
        other.join(GROUP)
        one.multicast(b"for others", "239.255.77.2")
        one.multicast(b"data", GROUP)
        one.unicast(b"nak", "127.0.0.1")
        came = [await recorder.heard.get() for _ in range(2)]
        assert sorted(came) == [(b"data", "127.0.0.1", GROUP), (b"nak", "127.0.0.1", "")]
        assert recorder.heard.empty()

    port = free_port()
    play(UdpLink, scene, source_port=port, group_port=port)


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_that_left_its_group_receives_nothing_more(kind: type[Link]) -> None:
    async def scene(one: Link, other: Link, recorder: PacketRecorder) -> None:
        other.join(GROUP)
        other.join("239.255.77.2")
        other.leave(GROUP)
        one.multicast(b"one", GROUP)
        one.multicast(b"other", "239.255.77.2")
        assert (await recorder.heard.get())[0] == b"other"
        assert recorder.heard.empty()

    play(kind, scene)


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_that_is_paused_reads_later(kind: type[Link]) -> None:
    async def scene(one: Link, other: Link, recorder: PacketRecorder) -> None:
        other.pause(True)
        other.join(GROUP)
        one.multicast(b"x", GROUP)
        for _ in range(10):
            await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(int))])
        assert recorder.heard.empty()
        other.pause(False)
        assert (await recorder.heard.get())[0] == b"x"

    play(kind, scene)


def test_what_the_system_does_not_take_is_counted() -> None:
    async def scene(one: Link, other: Link, recorder: PacketRecorder) -> None:
        one.multicast(bytes(70_000), GROUP)
        assert one.unsent == 1

    play(UdpLink, scene)


def test_our_address_is_the_one_of_the_interface() -> None:
    async def scene(one: Link, other: Link, recorder: PacketRecorder) -> None:
        assert one.address_towards(GROUP) == "127.0.0.1"

    play(UdpLink, scene)
    play(UdpLink, scene, interface="lo")


@pytest.mark.parametrize("interface", ["nowhere0", "192.0.2.1"])
def test_an_interface_that_is_not_there_opens_no_link(interface: str) -> None:
    async def run() -> None:
        with pytest.raises(OSError, match=r"No such device|requested address"):
            open_link(options(interface=interface, encapsulation=Encapsulation.UDP), lambda *_: None)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("chosen", "allowed", "kind"),
    [
        (Encapsulation.UDP, True, UdpLink),
        pytest.param(Encapsulation.AUTO, True, RawLink, marks=may_be_raw),
        pytest.param(Encapsulation.RAW, True, RawLink, marks=may_be_raw),
        (Encapsulation.AUTO, False, UdpLink),
    ],
)
def test_the_kind_is_the_one_that_was_chosen_and_is_allowed(
    chosen: Encapsulation, allowed: bool, kind: type[Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not allowed:
        forbid_raw(monkeypatch)

    async def run() -> None:
        link = open_link(options(encapsulation=chosen), lambda *_: None)
        assert type(link) is kind
        link.close()

    asyncio.run(run())


def test_where_raw_is_demanded_and_forbidden_there_is_no_link(monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_raw(monkeypatch)

    async def run() -> None:
        with pytest.raises(PermissionError):
            open_link(options(encapsulation=Encapsulation.RAW), lambda *_: None)

    asyncio.run(run())


def forbid_raw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid raw sockets, as for a process without CAP_NET_RAW."""

    def refuse(link: RawLink) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(RawLink, "_open", refuse)
