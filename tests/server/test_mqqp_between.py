r"""Tests two whole servers in one process: applications of one read queues of the other over real sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from reliquary.net.identity.nt_hash import nt_hash
from reliquary.net.identity.users import User
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.settings import MqqpSettings, ServerSettings
from reliquary.server.mqqp import MqqpEndpoint
from reliquary.server.mqqp_options import MqqpOptions
from reliquary.wire.rpc.protection import Protection
from tests.net.http.harness import until
from tests.server.endpoints import endpoint_of
from tests.server.test_srmp_between import Site, play, site, texts

OPTIONS = MqqpOptions(enabled=True, handshake_port=0, read_port=0)
FAR = quote(r"DIRECT=OS:far\private$\orders", safe="")
ADA = User(name="ada", nt_hash=nt_hash("secret"), groups=("administrators",))


def reading(there: Site, **login: Any) -> MqqpOptions:
    """Return the settings of a server that reads at another one."""
    port = endpoint_of(there.server, MqqpEndpoint).ports.handshake
    far = ServerSettings(name="far", host="127.0.0.1", port=port, **login)
    return MqqpOptions(enabled=True, handshake_port=0, read_port=0, protocol=MqqpSettings(servers=(far,)))


async def receive(here: Site, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = await here.call(f"queues/{FAR}/receive", fields)
    return found


@pytest.mark.spec("QP-002", "QP-145", "QP-151", "QP-152")
def test_an_application_reads_a_queue_elsewhere_as_one_of_its_own(tmp_path: Path) -> None:
    async def scene() -> None:
        async with (
            site(tmp_path / "b", tables=(OPTIONS,)) as b,
            site(tmp_path / "a", tables=(reading(b),)) as a,
        ):
            await b.create("private$/orders")
            await b.send("private$/orders", "one", "two", "three", label="fruit", priority=5)
            first = await receive(a)
            assert texts(first["messages"]) == ["one"]
            assert (first["messages"][0]["label"], first["messages"][0]["priority"]) == ("fruit", 5)
            held = await receive(a, hold=60, count=2)
            assert texts(held["messages"]) == ["two", "three"]
            await a.call(f"receipts/{held['receipt']}", {"delete": False})
            assert texts((await receive(a, count=9))["messages"]) == ["two", "three"]
            assert (await receive(a))["messages"] == []

    play(scene)


def test_what_an_application_held_is_there_again_when_its_server_is_gone(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "b", tables=(OPTIONS,)) as b:
            await b.create("private$/orders")
            await b.send("private$/orders", "one")
            async with site(tmp_path / "a", tables=(reading(b),)) as a:
                assert texts((await receive(a, hold=60))["messages"]) == ["one"]
                assert (await b.call("queues/private$%2Forders/receive", {}))["messages"] == []
            assert texts(await b.receive("private$%2Forders", 1)) == ["one"]
            state = b.server.opened.machine(Mqqp).state.server
            await until(lambda: not state.associations)
            assert not state.queues

    play(scene)


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    async def scene() -> None:
        async with site(tmp_path / "b", tables=(OPTIONS,)) as b:
            options = reading(b)
        async with site(tmp_path / "a", tables=(options,)) as a:
            answer = await a.client.request("POST", f"/api/v1/queues/{FAR}/receive", b"{}")
            assert answer.status >= 400
            assert b"far" in answer.body

    play(scene)


@pytest.mark.parametrize("protection", [Protection.CONNECT, Protection.INTEGRITY, Protection.PRIVACY])
def test_who_reads_is_known_by_ntlm_and_checked_against_the_access_list(
    tmp_path: Path, protection: Protection
) -> None:
    guarded = MqqpOptions(
        enabled=True, handshake_port=0, read_port=0, protocol=MqqpSettings(protection=protection)
    )

    async def scene() -> None:
        async with site(tmp_path / "b", tables=(guarded,), users=(ADA,)) as b:
            await b.create("private$/orders")
            await b.create("private$/open")
            login = {"user": "ada", "password": "secret", "protection": protection}
            async with (
                site(tmp_path / "a", tables=(reading(b, **login),)) as a,
                site(tmp_path / "c", tables=(reading(b),)) as c,
                site(tmp_path / "d", tables=(reading(b, **login | {"password": "guessed"}),)) as d,
            ):
                path = f"/api/v1/queues/{FAR}/receive"
                allowed = await a.client.request("POST", path, b"{}")
                refused = await c.client.request("POST", path, b"{}")
                unknown = await d.client.request("POST", path, b"{}")
                state = b.server.opened.machine(Mqqp).state.server
                seen = {each.by.name for each in state.associations.values()}
                assert "ada" in seen
                assert refused.status == 403, refused.body
                assert unknown.status >= 400, unknown.body
                assert allowed.status == 200, allowed.body

    play(scene)
