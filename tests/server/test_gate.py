"""Tests the gate of a whole server: every path of both planes looks at Host and Origin, and guesses are
slow.
"""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import product
from pathlib import Path
from time import monotonic_ns

import pytest

from reliquary.console.app import table
from reliquary.console.web.routes import ROUTES as PAGES
from reliquary.net.http import HttpClient
from reliquary.net.identity.admission import BearerToken
from reliquary.net.identity.failures import AT_ONCE, LONGEST_WAIT, PACE, Failures
from reliquary.net.identity.users import User
from reliquary.server.api import ApiEndpoint
from reliquary.server.build import Server
from reliquary.server.limit_options import LimitOptions
from reliquary.server.wsrm_options import WsrmOptions
from tests.console.harness import Harness, play
from tests.net.http.harness import until
from tests.net.identity.cheap_hash import cheap_hash
from tests.server.endpoints import endpoint_of

EVIL = b"evil.example"
PLANES = ("data", "control")
ALICE = User(name="alice", token_sha256=sha256(b"secret").hexdigest(), groups=("administrators",))


def data_paths(server: Server) -> Iterator[tuple[str, str]]:
    """Yield every method and path of the data plane."""
    yield "PUT", "/api/v1/stages/q/1/0/a?queue=orders"
    for shape, methods in endpoint_of(server, ApiEndpoint).plane._routes.items():
        for method in methods:
            yield method, "/api/v1/" + shape.replace("*", "orders")


def control_paths() -> Iterator[tuple[str, str]]:
    """Yield every method and path of the control plane."""
    for row in table():
        yield row.method, re.sub(r"\{.*?\}", "orders", row.path)
    for route in PAGES:
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield method, re.sub(r"\{.*?\}", "orders", route.path)


def paths(harness: Harness, plane: str) -> tuple[HttpClient, list[tuple[str, str]]]:
    if plane == "data":
        return harness.data, list(data_paths(harness.server))
    return harness.control, list(control_paths())


async def reported(client: HttpClient, method: str, path: str, **headers: bytes) -> tuple[int, str]:
    """Return the status and the code that answer a request with these headers, also from an error page."""
    given = [(name.encode(), value) for name, value in headers.items()]
    answer = await client.request(method, path, b"", given)
    with suppress(ValueError):  # metrics and pages are no JSON
        return answer.status, json.loads(answer.body).get("code", "")
    found = re.search(rb"<p>Code (\w+)</p>", answer.body)
    return answer.status, found[1].decode() if found else ""


def test_no_method_of_any_path_that_changes_something_is_for_pages_of_other_sites(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for plane, wanted in (
            ("data", {"POST", "PUT", "PATCH", "DELETE"}),
            ("control", {"POST", "PATCH", "DELETE"}),
        ):
            client, every = paths(harness, plane)
            changing = [(method, path) for method, path in every if method != "GET"]
            assert {method for method, _ in changing} == wanted
            for method, path in changing:
                for origin in (b"http://" + EVIL, b"null"):
                    refused = await reported(client, method, path, origin=origin)
                    assert refused == (403, "ACCESS_DENIED"), (method, path)
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 0

    play(tmp_path, scene)


def test_no_path_is_for_another_host(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        rebound = {"host": EVIL + b":8480", "origin": b"http://" + EVIL + b":8480"}
        for plane in PLANES:
            client, every = paths(harness, plane)
            for method, path in every:
                assert await reported(client, method, path, **rebound) == (421, "WRONG_HOST"), (method, path)
                assert (await reported(client, method, path, host=EVIL))[0] == 421
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 0

    play(tmp_path, scene)


def test_the_names_and_addresses_of_the_server_are_accepted_as_hosts(tmp_path: Path) -> None:
    good = (b"localhost", b"localhost:1", b"127.0.0.1", b"[::1]:8480", b"192.168.7.7", b"here:8480", b"HERE")

    async def scene(harness: Harness) -> None:
        for client in (harness.data, harness.control):
            for host in (*good, b"mq.example:443", b"MQ.example", b"wsrm.example"):
                assert (await reported(client, "GET", "/api/v1/health", host=host))[0] == 200, host

    wsrm = WsrmOptions(names=("wsrm.example:81",))
    play(tmp_path, scene, names=("mq.example",), tables=(wsrm,))


async def raw(url: str, head: str) -> tuple[int, bytes]:
    """Return the status and the body of a request that is written by hand."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(head.replace("\n", "\r\n").encode() + b"Connection: close\r\n\r\n")
        answer = await reader.read()
    finally:
        writer.close()
    return int(answer.split()[1]), answer.partition(b"\r\n\r\n")[2]


def test_a_request_has_a_host_and_only_one(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for url, version in product((harness.url, harness.control_url), ("1.0", "1.1")):
            line = f"GET /api/v1/health HTTP/{version}"
            for hosts in ("", "Host: 127.0.0.1\nhost: 127.0.0.1\n", "Host:\n"):
                status, body = await raw(url, f"{line}\n{hosts}")
                assert status in (400, 421), (url, version, hosts, body)
                assert b"ready" not in body
            assert (await raw(url, f"{line}\nHost: 127.0.0.1\n"))[0] == 200

    play(tmp_path, scene)


def failures_of(server: Server) -> Failures:
    """Return the server's record of wrong tokens."""
    credentials = endpoint_of(server, ApiEndpoint).plane._admission._credentials
    [bearer] = [each for each in credentials if isinstance(each, BearerToken)]
    return bearer._failures


@pytest.mark.parametrize("plane", PLANES)
def test_wrong_tokens_wait_while_right_ones_and_other_requests_do_not(tmp_path: Path, plane: str) -> None:
    async def scene(harness: Harness) -> None:
        client = getattr(harness, plane)
        url = harness.url if plane == "data" else harness.control_url

        async def asked(token: bytes) -> int:
            return (await reported(client, "GET", "/api/v1/health", authorization=b"Bearer " + token))[0]

        failures = failures_of(harness.server)
        now = failures._monotonic()
        failures._monotonic = lambda: now  # a busy machine does not make the waits shorter
        assert await asked(b"secret") == 200
        for _ in range(AT_ONCE):
            assert await asked(b"guess") == 401
        head = "GET /api/v1/health HTTP/1.1\nHost: 127.0.0.1\nAuthorization: Bearer guess\n"
        guesses = [asyncio.ensure_future(raw(url, head)) for _ in range(LONGEST_WAIT // PACE)]
        await until(lambda: failures._answered_at["127.0.0.1"] == now + len(guesses) * PACE)
        answers = [await asked(b"guess"), await asked(b"secret")]
        assert (await reported(client, "GET", "/api/v1/health"))[0] == 200
        assert answers == [429, 200]
        done, waiting = await asyncio.wait(guesses, return_when=asyncio.FIRST_COMPLETED)
        assert {guess.result()[0] for guess in done} == {401}
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    play(tmp_path, scene, users=(ALICE,))


def test_wrong_tokens_at_the_paths_of_protocols_wait_too(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        known = failures_of(harness.server)._answered_at
        for path in ("/httpr/mq", "/wsrm/orders"):
            head = f"POST {path} HTTP/1.1\nHost: 127.0.0.1\nAuthorization: Bearer x\nContent-Length: 0\n"
            known.clear()
            [status] = {(await raw(harness.url, head))[0] for _ in range(AT_ONCE)}
            slow = asyncio.ensure_future(raw(harness.url, head))
            await until(lambda: known["127.0.0.1"] > monotonic_ns() // 1000)
            assert (await harness.get("/api/v1/health")).status == 200
            assert not slow.done()
            assert (await slow)[0] == status

    play(tmp_path, scene, users=(ALICE,))


def test_the_paths_of_protocols_have_their_own_rule_of_hosts(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for path in ("/msmq/private$/orders", "/httpr/mq", "/wsrm/orders"):
            answer = await harness.data.request("POST", path, b"", [(b"host", EVIL)])
            assert answer.status != 421, path

    play(tmp_path, scene)


def test_who_is_not_let_in_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scene(harness: Harness) -> None:
        assert (await reported(harness.data, "GET", "/api/v1/health", authorization=b"Bearer x"))[0] == 401

    play(tmp_path, scene, users=(ALICE,))
    why = "the token belongs to no user of this server: check it, or get a new one"
    assert f"client 127.0.0.1: was refused 1 times: {why}" in caplog.messages


CAROL = User(name="carol", password_hash=cheap_hash("swordfish"), groups=("administrators",))
RIGHT, WRONG = b"Basic " + b64encode(b"carol:swordfish"), b"Basic " + b64encode(b"carol:guess")


@pytest.mark.parametrize("plane", PLANES)
def test_a_password_lets_in_on_both_planes_and_a_wrong_one_does_not(tmp_path: Path, plane: str) -> None:
    async def scene(harness: Harness) -> None:
        client = getattr(harness, plane)
        for proof, expected in ((RIGHT, (200, "")), (WRONG, (401, "UNAUTHENTICATED")), (RIGHT, (200, ""))):
            assert await reported(client, "GET", "/api/v1/health", authorization=proof) == expected
        answer = await client.request("GET", "/api/v1/health", b"", [(b"authorization", WRONG)])
        challenges = [value for name, value in answer.headers if name == b"www-authenticate"]
        assert [each.split()[0] for each in challenges] == [b"Bearer", b"Basic"]

    play(tmp_path, scene, users=(CAROL,))


def test_a_body_that_is_streamed_waits_for_the_check_of_its_password(tmp_path: Path) -> None:
    path = "/api/v1/stages/q/1/0/a?queue=orders"

    async def scene(harness: Harness) -> None:
        for proof, status in ((WRONG, 401), (RIGHT, 400), (RIGHT, 400)):
            answer = await harness.data.request(
                "PUT", path, b"no arrow" * 100_000, [(b"authorization", proof)]
            )
            assert answer.status == status, answer.body
        assert (await reported(harness.data, "GET", "/api/v1/health", authorization=RIGHT))[0] == 200

    play(tmp_path, scene, users=(CAROL,))


@pytest.mark.parametrize("plane", PLANES)
def test_requests_beyond_the_rate_are_informed_when_to_come_again(tmp_path: Path, plane: str) -> None:
    async def scene(harness: Harness) -> None:
        client = getattr(harness, plane)
        harness.server.reloader.rates._monotonic = lambda: 0
        assert (await reported(client, "GET", "/api/v1/health"))[0] == 200
        answer = await client.request("GET", "/api/v1/health", b"")
        assert answer.status == 429
        assert (await reported(client, "GET", "/api/v1/health", authorization=b"Bearer secret"))[0] == 200
        assert json.loads(answer.body)["code"] == "TOO_MANY_REQUESTS"
        assert (b"retry-after", b"1") in tuple(answer.headers)

    play(tmp_path, scene, users=(ALICE,), limits=LimitOptions(rate=1))
