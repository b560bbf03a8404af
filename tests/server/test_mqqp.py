"""Tests MQQP in a server: its ports, what it is while it is switched off, and how it stops."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from pathlib import Path

import pytest

from reliquary.net.identity.failures import AT_ONCE
from reliquary.net.identity.nt_hash import nt_hash
from reliquary.net.identity.passwords import WrongPassword
from reliquary.net.identity.users import User
from reliquary.net.rpc.ntlm import SPNEGO, ntlm_client
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.protocol import mqqp
from reliquary.protocols.mqqp.reader import READER
from reliquary.server.config import Settings
from reliquary.server.mqqp import NEXT_PORT, SEED_BITS, MqqpEndpoint, prepare
from reliquary.server.mqqp_options import MqqpOptions
from reliquary.views.pages import PageWanted
from reliquary.wire.rpc.protection import Protection
from tests.console.harness import Harness, play
from tests.net.http.harness import until
from tests.net.identity.cheap_hash import cheap_hash
from tests.net.rpc.harness import caller
from tests.server.endpoints import endpoint_of, switched_off

ANYWHERE = MqqpOptions(enabled=True, handshake_port=0, read_port=0)


def occupied() -> socket.socket:
    """Return a socket that listens at a port with room above it."""
    for port in range(20_103, 60_000, 97):
        taken = socket.socket()
        try:
            taken.bind(("127.0.0.1", port))
        except OSError:
            taken.close()
        else:
            taken.listen()
            return taken
    raise AssertionError("no port is free")


@pytest.mark.spec("QP-012", "QP-117")
def test_the_machine_learns_the_ports_at_which_it_is_called(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqpEndpoint)
        state = harness.server.opened.machine(Mqqp).state
        await until(lambda: state.ports.read)
        assert state.ports == endpoint.ports
        assert state.ports.handshake != state.ports.read
        here = f"mqqp://localhost:{state.ports.handshake}"
        assert list(endpoint.reading_names_of(r"private$\a b")) == [f"{here}/private$/a%20b"]
        for port in (state.ports.handshake, state.ports.read):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()

    play(tmp_path, scene, tables=(ANYWHERE,))


@pytest.mark.spec("QP-118")
@pytest.mark.mqqp("T02")
def test_a_port_that_is_in_use_gives_way_to_one_eleven_above_it(tmp_path: Path) -> None:
    with closing(occupied()) as taken:
        port = taken.getsockname()[1]
        options = MqqpOptions(enabled=True, handshake_port=0, read_port=port)

        async def scene(harness: Harness) -> None:
            read = endpoint_of(harness.server, MqqpEndpoint).ports.read
            assert read > port
            assert (read - port) % NEXT_PORT == 0

        play(tmp_path, scene, tables=(options,))


def test_an_endpoint_mapper_is_listened_to_where_it_is_wanted(tmp_path: Path) -> None:
    with closing(occupied()) as taken:
        mapper = taken.getsockname()[1]
    options = MqqpOptions(enabled=True, handshake_port=0, read_port=0, mapper_port=mapper)

    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqpEndpoint)
        assert f"127.0.0.1:{mapper} (MQQP)" in endpoint.own_addresses()
        _, writer = await asyncio.open_connection("127.0.0.1", mapper)
        writer.close()

    play(tmp_path, scene, tables=(options,))


def test_mqqp_is_off_by_default_and_then_reads_nothing_elsewhere(tmp_path: Path) -> None:
    setup = prepare(Settings(folder=tmp_path))
    assert setup.protocol.reader is None
    assert not setup.anonymous_senders
    assert prepare(Settings(folder=tmp_path, tables=(ANYWHERE,))).protocol.reader is READER

    async def scene(harness: Harness) -> None:
        assert list(switched_off(harness.server, "mqqp").counters())
        path = r"/api/v1/queues/DIRECT%3DOS%3Afar%5Cprivate%24%5Corders/receive"
        answer = await harness.data.request("POST", path, b"{}")
        assert answer.status == 404, answer.body

    play(tmp_path, scene)


def test_wrong_passwords_are_counted_with_those_of_http_and_are_logged(tmp_path: Path) -> None:
    alice = User(name="alice", nt_hash=nt_hash("right"), password_hash=cheap_hash("right"))

    async def scene(harness: Harness) -> None:
        port = endpoint_of(harness.server, MqqpEndpoint).ports.read
        for _ in range(AT_ONCE):
            async with caller(port) as client:
                await client.bind(
                    auth_type=SPNEGO,
                    security=ntlm_client("alice", "wrong", SPNEGO, "localhost"),
                    protection=Protection.CONNECT,
                )
        with pytest.raises(WrongPassword) as refused:
            await harness.server.reloader.passwords.sign_in("alice", "wrong", "127.0.0.1")
        assert refused.value.wait > 0
        acts = await harness.server.reloader.acts.read(PageWanted())
        assert ("show-proof", "the name and the password that NTLM proves belong to no user") in {
            (act.act, act.why) for act in acts.records
        }

    play(tmp_path, scene, tables=(ANYWHERE,), users=(alice,))


def test_each_start_draws_another_seed(tmp_path: Path) -> None:
    seeds = {prepare(Settings(folder=tmp_path)).machine_settings.seed for _ in range(3)}
    assert len(seeds) == 3
    assert {len(seed) for seed in seeds} == {SEED_BITS // 8}


def test_a_folder_has_its_tables_whether_it_is_on_or_off() -> None:
    assert mqqp().tables == mqqp(ANYWHERE.protocol).tables
