"""Tests strangers at the control plane of a whole server: what clients of other computers see without a
proof.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Message

from reliquary.console.app import table
from reliquary.console.strangers import OPEN, PROXIED
from reliquary.console.web.assets import PREFIX
from reliquary.console.web.routes import ROUTES as PAGES
from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, USERS

FAR = "192.0.2.7"
"""An address of another computer."""
FOR_EVERYONE = {"/", "/console/sign-in", "/console/sign-out"}


def api_paths() -> Iterator[tuple[str, str]]:
    """Yield every method and path of the control plane but those of the console."""
    for row in table():
        yield row.method, re.sub(r"\{.*?\}", "orders", row.path)
    yield "GET", "/api/v1/openapi.json"
    yield "GET", "/nothing"


async def asked_from(
    harness: Harness, peer: str, method: str, path: str, *fields: tuple[bytes, bytes]
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Return status, header and body of the answer to a client at an address."""
    app = harness.server.control._app._app
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), *fields],
        "client": (peer, 0),
    }
    await app(scope, receive, send)
    body = b"".join(part.get("body", b"") for part in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), body


def test_a_server_with_users_shows_strangers_nothing_at_any_path(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for method, path in api_paths():
            status, header, body = await asked_from(harness, FAR, method, path)
            if path in OPEN:
                assert status == 200, (method, path)
                continue
            assert (status, json.loads(body)["code"]) == (401, "UNAUTHENTICATED"), (method, path)
            assert b"www-authenticate" in header
        for path in ("/api/v1/queues/orders", "/api/v1/queues/nowhere"):  # neither is said to exist
            assert (await asked_from(harness, FAR, "GET", path))[0] == 401
        assert (await harness.get("/api/v1/queues/orders")).status == 200

    play(tmp_path, scene, users=USERS)


def test_pages_lead_strangers_to_the_sign_in_and_static_files_are_for_everyone(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for route in PAGES:
            if route.path in FOR_EVERYONE or route.path.startswith(PREFIX):
                continue
            path = re.sub(r"\{.*?\}", "queues", route.path)
            for method in route.methods or ():
                status, header, body = await asked_from(harness, FAR, method, path)
                assert (status, body) == (303, b""), (method, path)
                assert header[b"location"] == b"/console/sign-in"
        status, _, page = await asked_from(harness, FAR, "GET", "/console/sign-in")
        assert status == 200
        for path in re.findall(f'{PREFIX}[^"]+', page.decode()):
            assert (await asked_from(harness, FAR, "GET", path))[0] == 200

    play(tmp_path, scene, users=USERS)


def test_a_client_of_this_computer_and_one_with_a_proof_pass(tmp_path: Path) -> None:
    proof = (b"authorization", b"Bearer " + ALICE.encode())

    async def scene(harness: Harness) -> None:
        for peer in ("127.0.0.1", "::1"):
            assert (await asked_from(harness, peer, "GET", "/metrics"))[0] == 200
        for path in ("/metrics", "/api/v1/queues"):
            assert (await asked_from(harness, FAR, "GET", path, proof))[0] == 200

    play(tmp_path, scene, users=USERS)


@pytest.mark.parametrize("field", PROXIED)
def test_what_a_proxy_on_this_computer_passes_on_is_a_strangers(tmp_path: Path, field: bytes) -> None:
    async def scene(harness: Harness) -> None:
        for value in (b"127.0.0.1", b"for=192.0.2.43"):
            status, _, _ = await asked_from(harness, "127.0.0.1", "GET", "/metrics", (field, value))
            assert status == 401

    play(tmp_path, scene, users=USERS)


def test_a_client_without_an_address_is_a_stranger(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await asked_from(harness, "", "GET", "/metrics"))[0] == 401

    play(tmp_path, scene, users=USERS)


def test_the_settings_let_everyone_look_and_change_nothing(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for method in ("GET", "HEAD"):
            for path in ("/metrics", "/api/v1/queues"):
                assert (await asked_from(harness, FAR, method, path))[0] == 200
        assert (await asked_from(harness, FAR, "GET", "/api/v1/acts"))[0] == 403
        status, _, body = await asked_from(harness, FAR, "POST", "/api/v1/store/verify")
        assert status == 401
        assert json.loads(body)["error"] == (
            "anonymous (S-1-5-7) may not change anything from another computer;"
            " send a token, or a name and a password"
        )

    play(tmp_path, scene, users=USERS, anonymous_may=("look",))


def test_the_sentence_says_what_opens_the_plane(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        _, _, body = await asked_from(harness, FAR, "GET", "/metrics")
        assert json.loads(body)["error"] == (
            "anonymous (S-1-5-7) may not look at the control plane from another computer: this manager has"
            " users, and anonymous_may does not name look; send a token, or a name and a password"
        )

    play(tmp_path, scene, users=USERS)


def test_without_users_every_client_is_served(tmp_path: Path) -> None:
    """A server without users listens to no network unless its settings say so: `check_reach`."""

    async def scene(harness: Harness) -> None:
        assert (await asked_from(harness, FAR, "GET", "/metrics"))[0] == 200
        assert (await asked_from(harness, FAR, "POST", "/api/v1/store/verify"))[0] == 200

    play(tmp_path, scene)
