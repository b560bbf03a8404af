"""Tests waiting for a server: what is waited for, what ends the wait at once, and what is missing at its
end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reliquary import BadRequest, ReliquaryError, ServerUnreachable
from reliquary.base.time import Duration
from reliquary.client.readiness import Wanted, wait_until
from reliquary.net.clock import RealClock
from reliquary.net.http import Listener, Mount, Request, Responder
from tests.ports import free_ports

NO_TIME = Duration(0)
LONG = 60.0
"""More than the test may take: these waits end because something came."""


def plane(answer: Callable[[int], tuple[int, str]]) -> Listener:
    """Return a plane whose answer to each request is a function of how many requests came before it."""
    asked = iter(range(10_000))

    def handler(request: Request, responder: Responder) -> None:
        status, state = answer(next(asked))
        responder.respond(status, b'{"status": "%s"}' % state.encode())

    return Listener([Mount(prefix="", handler=handler)], clock=RealClock())


def always(state: str) -> Listener:
    return plane(lambda _: (200, state))


def outcome(patience: float, data: Listener, control: Listener) -> ReliquaryError | None:
    async def whole() -> ReliquaryError | None:
        addresses = [await each.listen("127.0.0.1", 0) for each in (data, control)]
        server, other = (f"http://{host}:{port}" for host, port in addresses)
        try:
            await wait_until(Wanted(server, other), patience)
        except ReliquaryError as why:
            return why
        finally:
            await data.drain(NO_TIME)
            await control.drain(NO_TIME)
        return None

    return asyncio.run(whole())


def test_a_server_whose_planes_are_both_ready_is_there() -> None:
    assert outcome(0, always("ready"), always("ready")) is None


def test_a_server_that_gets_ready_meanwhile_is_waited_for() -> None:
    starting = plane(lambda before: (200, "ready" if before >= 3 else "initializing"))
    assert outcome(LONG, starting, always("ready")) is None


def test_a_server_that_refuses_with_503_is_waited_for() -> None:
    starting = plane(lambda before: (200, "ready") if before else (503, ""))
    assert outcome(LONG, starting, always("ready")) is None


@pytest.mark.parametrize("first", [True, False], ids=["data plane", "control plane"])
def test_both_planes_must_be_ready(first: bool) -> None:
    planes = [always("initializing" if index != first else "ready") for index in (0, 1)]
    why = outcome(0, *planes)
    assert isinstance(why, ServerUnreachable)
    assert "is not ready: it is initializing" in why.sentence


def test_a_server_that_comes_later_is_waited_for() -> None:
    async def whole() -> None:
        (port,) = free_ports(1)
        address = f"http://127.0.0.1:{port}"
        waiting = asyncio.create_task(wait_until(Wanted(address, address), LONG))
        with pytest.raises(ServerUnreachable):
            await wait_until(Wanted(address, address), 0)
        late = always("ready")
        await late.listen("127.0.0.1", port)
        await waiting
        await late.drain(NO_TIME)

    asyncio.run(whole())


def test_a_server_that_takes_the_connection_and_says_nothing_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reliquary.client.readiness.ONE_TRY", 0.05)
    silent = Listener([Mount(prefix="", handler=lambda request, responder: None)], clock=RealClock())
    why = outcome(0, silent, always("ready"))
    assert isinstance(why, ServerUnreachable)
    assert "does not answer" in why.sentence


def test_a_refusal_ends_the_wait_at_once() -> None:
    why = outcome(LONG, plane(lambda _: (401, "")), always("ready"))
    assert why is not None
    assert why.code == "HTTP_401"


def test_an_answer_of_another_kind_of_server_ends_the_wait_at_once() -> None:
    why = outcome(LONG, plane(lambda _: (404, "")), always("ready"))
    assert why is not None
    assert why.code == "HTTP_404"


def test_an_address_of_mqqp_is_refused() -> None:
    with pytest.raises(BadRequest, match="not of MQQP"):
        asyncio.run(wait_until(Wanted("mqqp://far/orders"), LONG))
