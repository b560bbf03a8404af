"""Tests WS-RM in a server: its mount, its names, its seed, and what is left of it when it is switched off."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from reliquary.net.identity.users import User
from reliquary.protocols.wsrm.machine import Wsrm
from reliquary.protocols.wsrm.settings import EndpointSettings, WsrmSettings
from reliquary.server.config import Settings
from reliquary.server.names import Listening
from reliquary.server.wsrm import SEED_BITS, WsrmEndpoint, addressed, prepare
from reliquary.server.wsrm_options import WsrmOptions
from tests.console.harness import Harness, play
from tests.net.http.harness import until
from tests.server.endpoints import endpoint_of, switched_off

ORDERS = "/wsrm/orders"
ADA = User(name="ada", token_sha256=sha256(b"secret").hexdigest())


def test_a_server_takes_posts_and_describes_its_endpoints(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        answer = await harness.data.request("GET", f"{ORDERS}?wsdl")
        assert (answer.status, answer.header(b"content-type")) == (200, b"text/xml; charset=utf-8")
        assert f'"{harness.url}{ORDERS}"'.encode() in answer.body, "the address that the client used"
        answer = await harness.data.request("POST", ORDERS, b"this is no envelope")
        receiving = endpoint_of(harness.server, WsrmEndpoint).receiving
        assert receiving.answers == {200: 1, answer.status: 1}
        assert receiving.waiting == 0

    play(tmp_path, scene)


def test_wsrm_is_under_the_rules_of_the_api(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        wrong = ((b"authorization", b"Bearer guessed"),)
        answer = await harness.data.request("POST", ORDERS, b"", headers=wrong)
        assert (answer.status, answer.header(b"www-authenticate")) == (401, b'Bearer realm="reliquary"')

    play(tmp_path, scene, users=(ADA,))


def test_the_machine_has_the_settings_and_learns_what_we_are_called(tmp_path: Path) -> None:
    chosen = WsrmSettings(endpoints=(EndpointSettings(name="in", queue="orders"),), window=9)
    options = WsrmOptions(protocol=chosen, origin="https://mq.example", names=("other.example",))

    async def scene(harness: Harness) -> None:
        state = harness.server.opened.machine(Wsrm).state
        await until(lambda: state.address.origin)
        assert state.address.origin == "https://mq.example"
        assert {"mq.example", "other.example", "localhost"} <= state.address.authorities
        assert (state.settings.endpoints, state.settings.window) == (chosen.endpoints, 9)
        endpoint = endpoint_of(harness.server, WsrmEndpoint)
        assert list(endpoint.names_of(r"private$\a b")) == ["wsrms://mq.example/wsrm/private$/a%20b"]
        answer = await harness.data.request("GET", f"{ORDERS}?wsdl", headers=((b"host", b"mq.example"),))
        assert b'"https://mq.example/wsrm/orders"' in answer.body

    play(tmp_path, scene, tables=(options,))


def test_without_an_origin_names_are_those_of_the_listener(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, WsrmEndpoint)
        port = harness.url.rpartition(":")[2]
        assert list(endpoint.names_of("orders")) == [f"wsrm://localhost:{port}/wsrm/orders"]

    play(tmp_path, scene)


def test_each_start_draws_another_seed(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path)
    seeds = {prepare(settings).machine_settings.seed for _ in range(3)}
    assert len(seeds) == 3
    assert {len(seed) for seed in seeds} == {SEED_BITS // 8}


def test_new_queues_are_not_opened_to_every_user_for_wsrm(tmp_path: Path) -> None:
    assert not prepare(Settings(folder=tmp_path)).anonymous_senders


def test_a_server_that_stops_takes_nothing_new(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, WsrmEndpoint)
        endpoint.stop_accepting()
        answer = await harness.data.request("POST", ORDERS, b"")
        assert (answer.status, answer.body) == (503, b"the server is stopping\n")
        endpoint.hang_up()
        assert endpoint.courier.connections == 0

    play(tmp_path, scene)


def test_a_server_whose_wsrm_is_off_has_nothing_there(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.data.request("POST", ORDERS, b"")).status == 404
        endpoint = switched_off(harness.server, "wsrm")
        assert list(endpoint.mounts()) == []
        assert list(endpoint.names_of("orders")) == []

    play(tmp_path, scene, tables=(WsrmOptions(enabled=False),))


@pytest.mark.parametrize(
    ("data", "origin"),
    [
        (Listening("http", "127.0.0.1", 8480), "http://localhost:8480"),
        (Listening("http", "0.0.0.0", 80), "http://HERE"),
        (Listening("https", "0.0.0.0", 8480), "https://HERE:8480"),
    ],
)
def test_our_origin_follows_from_where_we_listen(data: Listening, origin: str) -> None:
    assert addressed(Settings(computer_name="HERE"), [data]).origin == origin


def test_an_origin_that_was_chosen_counts_and_other_names_mean_us_too() -> None:
    options = WsrmOptions(origin="http://mq.example:81", names=("other", "far:9"))
    found = addressed(
        Settings(computer_name="HERE", tables=(options,)), [Listening("http", "127.0.0.1", 8480)]
    )
    assert found.origin == "http://mq.example:81"
    assert {"mq.example:81", "other", "other:8480", "far:9", "here"} <= found.authorities
    assert "mq.example" not in found.authorities


def test_a_second_port_means_us_and_the_first_one_names_us() -> None:
    both = [Listening("http", "127.0.0.1", 8480), Listening("https", "127.0.0.1", 8443)]
    found = addressed(Settings(computer_name="HERE"), both)
    assert found.origin == "http://localhost:8480"
    assert {"localhost:8480", "localhost:8443"} <= found.authorities
