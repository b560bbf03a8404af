"""Our source sends to gSOAP's server, plain and through a proxy that loses and repeats messages.

gSOAP's server drops duplicates, and drops what comes before its predecessor without an acknowledgement.
To the anonymous address it acknowledges on the response to a new message, if the application wants it,
and when the sequence ends; never on the response to a duplicate.  To an address it acknowledges all the time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.sites import Site
from tests.peers.gsoap_build import Build
from tests.peers.gsoap_peer import ANSWER, ASK, NOTE, GsoapServer, ask, note, texts
from tests.peers.http_proxy import HttpProxy, Plan, ProxyAction, every, pass_all, seeded
from tests.peers.wsrm_sites import (
    LONG_VARIANTS,
    VARIANTS,
    Variant,
    let_go,
    peer,
    received,
    running,
    settings,
    text_in,
    wait_until,
)

pytestmark = pytest.mark.needs("gsoap")

COUNT = 30
FEW = 10
"""Messages on a bad line: our queue rests for a second after each failure."""


def send(site: Site, port: int, bodies: list[str], label: str, *, response_queue: str = "") -> None:
    with site.connect() as manager:
        manager.queue(f"DIRECT=WSRM://127.0.0.1:{port}/notes").send_many(
            bodies, label=label, deadletter=True, response_queue=response_queue
        )


def deliver(
    gsoap: Build, folder: Path, variant: Variant, *answers: str, count: int = COUNT, plan: Plan = pass_all
) -> HttpProxy:
    """Send notes until none is left; the server must have each once and in order."""
    program = gsoap.peer(variant.version, flow_control=variant.flow)
    site = Site(folder / "site")
    with GsoapServer(program, *answers) as server, HttpProxy(server.port, plan) as proxy:
        site.file = settings(site, "retries = 4", peer(proxy.port, variant))
        with running(site):
            send(site, proxy.port, [note(text) for text in texts(count)], NOTE)
            let_go(site)
            server.wait_until(lambda it: len(it.accepted) >= count)
            with site.connect() as manager:
                assert list(manager.queue("system$;deadletter").browse()) == []
        assert [each.text for each in server.accepted] == texts(count)
    return proxy


def answers_of(variant: Variant) -> list[str]:
    """Return the server's arguments: to the anonymous address, one-way messages are acknowledged at once."""
    return [] if variant.duplex else ["--acknowledge"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_messages_arrive_once_and_in_order_and_their_sequence_ends(
    gsoap: Build, tmp_path: Path, variant: Variant
) -> None:
    site = Site(tmp_path / "site")
    with GsoapServer(gsoap.peer(variant.version, flow_control=variant.flow), *answers_of(variant)) as server:
        site.file = settings(site, "idle = 0.5", peer(server.port, variant))
        with running(site):
            send(site, server.port, [note(text) for text in texts(COUNT)], NOTE)
            let_go(site)
            server.wait_until(lambda it: any(each.endswith("/TerminateSequence") for each in it.heard))
            with site.connect() as manager:
                wait_until(lambda: not any(each.direction == "out" for each in manager.sequences()))
        assert [each.text for each in server.accepted] == texts(COUNT)
        assert [each.number for each in server.accepted] == [*range(1, COUNT + 1)]
        assert any(each.endswith("/LastMessage") for each in server.heard) == (variant.version == "1.0")


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_server_that_acknowledges_only_at_the_end_of_a_sequence(
    gsoap: Build, tmp_path: Path, version: str
) -> None:
    deliver(gsoap, tmp_path, Variant("1.0" if version == "1.0" else "1.1", 1, False, False))


@pytest.mark.parametrize("variant", LONG_VARIANTS)
@pytest.mark.parametrize(
    "action",
    [
        pytest.param(ProxyAction.LOSE_REQUEST, id="lost requests", marks=pytest.mark.long),
        pytest.param(ProxyAction.LOSE_RESPONSE, id="lost responses"),
        pytest.param(ProxyAction.REPEAT, id="repeated requests"),
    ],
)
def test_nothing_is_lost_or_doubled_on_a_bad_line(
    gsoap: Build, tmp_path: Path, variant: Variant, action: ProxyAction
) -> None:
    proxy = deliver(gsoap, tmp_path, variant, *answers_of(variant), count=FEW, plan=every(4, action))
    assert proxy.counts[action] >= FEW // 4


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 7])
@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_is_lost_or_doubled_when_everything_goes_wrong(
    gsoap: Build, tmp_path: Path, variant: Variant, seed: int
) -> None:
    shares = {ProxyAction.LOSE_REQUEST: 0.15, ProxyAction.LOSE_RESPONSE: 0.15, ProxyAction.REPEAT: 0.15}
    plan = seeded(seed, shares)
    proxy = deliver(gsoap, tmp_path, variant, *answers_of(variant), count=FEW, plan=plan)
    assert all(proxy.counts[action] for action in shares), f"seed {seed} is too kind"


@pytest.mark.parametrize("variant", VARIANTS)
def test_replies_come_back_in_the_sequence_that_was_offered(
    gsoap: Build, tmp_path: Path, variant: Variant
) -> None:
    program = gsoap.peer(variant.version, flow_control=variant.flow)
    site = Site(tmp_path / "site")
    with GsoapServer(program) as server:
        site.file = settings(site, peer(server.port, variant, replies_into="replies"))
        with running(site):
            with site.connect() as manager:
                manager.create_queue("replies")
            bodies = [ask(text) for text in texts(COUNT)]
            send(site, server.port, bodies, ASK, response_queue="replies")
            assert received(site, "replies", COUNT) == texts(COUNT)
            let_go(site)
            with site.connect() as manager:
                replies = list(manager.queue("replies").browse())
        assert {message.label for message in replies} == {ANSWER}
        assert all(message.correlation for message in replies)
        assert [text_in(message.text) for message in replies] == texts(COUNT)
        assert [each.text for each in server.accepted] == texts(COUNT)


@pytest.mark.long
def test_a_sender_that_is_killed_goes_on_where_it_was(gsoap: Build, tmp_path: Path) -> None:
    variant = Variant("1.1", 2, True, True)
    site = Site(tmp_path / "site")
    with GsoapServer(gsoap.peer("1.1", flow_control=True)) as server:
        site.file = settings(site, peer(server.port, variant))
        with running(site):
            send(site, server.port, [note(text) for text in texts(COUNT)], NOTE)
            for seen in (5, 15):
                server.wait_until(lambda it, seen=seen: len(it.accepted) >= seen)  # type: ignore[misc]
                site.kill()
                site.start()
            let_go(site)
        assert [each.text for each in server.accepted] == texts(COUNT)


def test_a_server_that_forgot_everything_gets_the_rest_in_a_new_sequence(
    gsoap: Build, tmp_path: Path
) -> None:
    variant = Variant("1.1", 1, False, False)
    site = Site(tmp_path / "site")
    with GsoapServer(gsoap.peer("1.1"), "--acknowledge") as first, HttpProxy(first.port) as proxy:
        site.file = settings(site, peer(proxy.port, variant))
        with running(site):
            send(site, proxy.port, [note(text) for text in texts(5)], NOTE)
            let_go(site)
            with GsoapServer(gsoap.peer("1.1"), "--acknowledge") as second:
                proxy.target_port = second.port
                send(site, proxy.port, [note(text) for text in texts(5)], NOTE)
                let_go(site)
                second.wait_until(lambda it: len(it.accepted) >= 5)
                assert [each.text for each in second.accepted] == texts(5)
        assert [each.text for each in first.accepted] == texts(5)
