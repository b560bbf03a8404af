"""Tests `reliquary wait`: its exit codes say what is missing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reliquary import Manager
from reliquary.cli.main import cli
from reliquary.net.identity.users import User
from reliquary.server.exits import Exit
from tests.cli.conftest import Run
from tests.client.served import served
from tests.ports import free_ports


def test_a_server_that_is_ready_is_not_waited_for(run: Run) -> None:
    done = run("wait")
    assert (done.exit_code, done.output) == (Exit.OK, "")


def test_without_a_server_the_exit_code_is_5() -> None:
    data, control = free_ports(2)
    address = ("--server", f"http://127.0.0.1:{data}", "--control", f"http://127.0.0.1:{control}")
    done = CliRunner().invoke(cli, [*address, "wait", "--timeout", "0"])
    assert done.exit_code == Exit.UNREACHABLE
    assert done.stderr.startswith(f"reliquary: http://127.0.0.1:{data} does not answer: ")


def test_without_the_queue_the_exit_code_is_4(run: Run) -> None:
    done = run("wait", "--queue", "orders", "--timeout", "0")
    assert done.exit_code == Exit.NOT_FOUND
    assert "orders" in done.stderr


def test_without_its_messages_the_exit_code_is_6(run: Run, qm: Manager) -> None:
    orders = qm.create_queue("orders")
    orders.send(b"one")
    done = run("wait", "--queue", "orders", "--messages", "2", "--timeout", "0")
    assert (done.exit_code, done.stderr) == (Exit.EMPTY, "reliquary: 'orders' has 1 of 2 messages\n")
    orders.send(b"two")
    assert run("wait", "--queue", "orders", "--messages", "2", "--timeout", "0").exit_code == Exit.OK


def test_a_queue_and_its_messages_are_waited_for(run: Run, qm: Manager) -> None:
    ended: list[Result] = []
    waiting = threading.Thread(
        target=lambda: ended.append(run("wait", "--queue", "orders", "--messages", "1", "--timeout", "60"))
    )
    waiting.start()
    qm.create_queue("orders").send(b"one")
    waiting.join()
    assert [(done.exit_code, done.output) for done in ended] == [(Exit.OK, "")]


def test_messages_need_a_queue(run: Run) -> None:
    done = run("wait", "--messages", "1")
    assert done.exit_code == Exit.USAGE
    assert "--messages needs --queue" in done.stderr


@pytest.mark.parametrize("timeout", ["-1", "nan", "inf", "x"])
def test_a_wrong_time_is_refused(run: Run, timeout: str) -> None:
    assert run("wait", "--timeout", timeout).exit_code == Exit.USAGE


def test_an_unknown_token_ends_the_wait_at_once(tmp_path: Path) -> None:
    alice = User(name="alice", token_sha256="0" * 64)
    with served(tmp_path, users=(alice,)) as running:
        environment = {"RELIQUARY_SERVER": running.data, "RELIQUARY_CONTROL": running.control}
        done = CliRunner(env=environment).invoke(cli, ["--token", "nobodys", "wait", "--timeout", "3600"])
        assert done.exit_code == Exit.REFUSED
        assert CliRunner(env=environment).invoke(cli, ["wait"]).exit_code == Exit.OK
