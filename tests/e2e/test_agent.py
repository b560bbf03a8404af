"""Tests an application's agent and a real server, and kill -9 of either: each message once and in its order.

application --> folder --- PUSH --> server          both are killed while messages are on their way,
            <-- folder <-- PULL ---                 and started again on their folders
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import reliquary
from tests.e2e import agent_worker
from tests.e2e.agent_worker import END, GROUP
from tests.e2e.sites import Site

COUNT = 500


class Application:
    """One process of the application: it works step by step, and can be killed inside a step."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._in, self._out = process, process.stdin, process.stdout

    def go(self, steps: int) -> str:
        """Let the process do this number of steps, and return its report of the last one."""
        said = ""
        for _ in range(steps):
            said = self._out.readline().strip()
            assert said, "it ended too early"
            self._in.write("\n")
            self._in.flush()
        return said

    def kill(self) -> None:
        """Kill the process in any of its steps, without a warning."""
        self._process.kill()

    def finish(self) -> None:
        """Let the process do all remaining steps."""
        self._in.close()
        self._out.read()
        assert self._process.wait() == 0


@contextmanager
def application(what: str, folder: Path, site: Site, *numbers: int) -> Iterator[Application]:
    server = f"http://127.0.0.1:{site.data_port}"
    command = [sys.executable, agent_worker.__file__, what, str(folder), server, *map(str, numbers)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Application(process)
        finally:
            process.kill()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path / "server")
    try:
        made.start()
        with made.connect() as there:
            there.create_queue("orders")
            there.create_queue("replies")
        yield made
    finally:
        made.end()


def restart(site: Site) -> None:
    site.kill()
    site.start()


def received(site: Site) -> list[str]:
    """Return all that is in `orders`, in its order."""
    with site.connect() as there:
        return [message.text for message in iter(there.queue("orders").receive, None)]


@pytest.mark.spec("HR-050", "HR-051", "HR-125")
@pytest.mark.httpr("T08", "T09")
def test_what_is_sent_arrives_once_and_in_order_whichever_process_is_killed(
    site: Site, tmp_path: Path
) -> None:
    folder = tmp_path / "agent"
    with application("send", folder, site, 0, COUNT) as app:
        app.go(20)
        restart(site)
        unknown = int(app.go(20)) + GROUP  # what it does now is done, or not
        app.kill()
    with application("send", folder, site, unknown + GROUP, COUNT) as app:
        app.go(20)
        restart(site)
        app.finish()
    group = [str(each) for each in range(unknown, unknown + GROUP)]
    arrived = received(site)
    expected = [str(each) for each in range(COUNT) if str(each) not in group or str(unknown) in arrived]
    assert arrived == expected


@pytest.mark.spec("HR-050", "HR-056", "HR-125")
@pytest.mark.httpr("T18", "T20")
def test_what_is_fetched_is_worked_on_once_and_in_order_whichever_process_is_killed(
    site: Site, tmp_path: Path
) -> None:
    folder, words = tmp_path / "agent", [*map(str, range(COUNT)), END]
    with site.connect() as there:
        there.queue("replies").send_many(words[:-200])
    with application("echo", folder, site) as app:
        app.go(20)
        restart(site)
        app.go(20)
        app.kill()
    with application("echo", folder, site) as app:
        app.go(10)
        restart(site)
        with site.connect() as there:
            there.queue("replies").send_many(words[-200:])
        app.finish()
    assert received(site) == words


@pytest.mark.httpr("T33")
def test_an_agent_that_is_alone_goes_on_when_its_server_comes(site: Site, tmp_path: Path) -> None:
    site.kill()
    server = f"http://127.0.0.1:{site.data_port}"
    with reliquary.agent(tmp_path / "agent", server, name="laptop/app", retry=(0.05,)) as agent:
        agent.send("orders", "two lamps")
        with pytest.raises(reliquary.ServerUnreachable, match="1 message still waits for"):
            agent.flush(0.1)
        site.start()
        agent.flush(60)
    assert received(site) == ["two lamps"]
