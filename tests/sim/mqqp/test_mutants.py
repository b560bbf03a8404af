"""The checkers detect MQQP that is broken on purpose, within a few dozen seeds."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from reliquary.base.hresult import HResult
from reliquary.base.time import MILLISECOND, SECOND
from reliquary.base.turn import CancelTimer, Effect
from reliquary.engine.core import Batch
from reliquary.protocols.mqqp.client import calling, doubts, losing, settling
from reliquary.protocols.mqqp.client import state as client_state
from reliquary.protocols.mqqp.client.tasks import finish
from reliquary.protocols.mqqp.codec.qm2qm import Acknowledge
from reliquary.protocols.mqqp.effects import Respond
from reliquary.protocols.mqqp.server import ending, reading, rundown
from reliquary.protocols.mqqp.server.responding import respond
from reliquary.queueing.model.events import Answer, EndRead, LookUpMessage, PeekMessage, ReceiveMessages, Seek
from reliquary.sim.mqqp.faults import MqqpFaults
from reliquary.sim.mqqp.plugin import MqqpPlugin
from reliquary.sim.process import Process
from reliquary.sim.world.run import simulate
from tests.sim.seeds import find_failure

SEEDS = range(1, 41)


def first_failure(process: type[Process] = Process) -> str:
    """Return what the checkers say about the first seed in which they find something."""
    return find_failure(partial(simulate, plugins=[MqqpPlugin], process=process), SEEDS, "mqqp")


# -- the server


class RespondsEarly(Process):
    """Answers calls before the disk has the facts of the answers."""

    def _settle(self, batch: Batch) -> None:
        early: list[Effect] = [effect for effect in batch.after_sync if isinstance(effect, Respond)]
        batch.after_sync = [effect for effect in batch.after_sync if not isinstance(effect, Respond)]
        self._perform(early)
        super()._settle(batch)


@pytest.mark.mqqp("T42")
def test_a_removal_that_is_confirmed_before_it_is_on_disk_is_found() -> None:
    assert first_failure(RespondsEarly).startswith("visible too early: Respond")


@pytest.mark.mqqp("T35")
def test_a_rundown_that_gives_no_message_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "run_down", lambda *_: None)
    assert "locked messages that never leave" in first_failure()


@pytest.mark.mqqp("T34")
def test_a_rundown_that_closes_no_queue_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rundown, "end_session", lambda *_: None)
    assert "left behind" in first_failure()


def test_reads_that_wait_for_a_client_that_is_gone_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def cuts(_: object) -> MqqpFaults:
        return MqqpFaults(cut_every=40 * MILLISECOND, end_unnoticed=0.8, latest_notice=4 * SECOND)

    monkeypatch.setattr(MqqpFaults, "drawn", cuts)
    monkeypatch.setattr(rundown, "end_wait", lambda *_: None)
    assert "over a connection that is gone" in first_failure()


@pytest.mark.mqqp("T25")
def test_a_message_that_is_removed_though_its_reader_gave_it_back_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ending, "EndRead", lambda *given, **more: EndRead(*given, **more | {"delete": True}))
    failure = first_failure()
    assert failure.startswith("loss: ")
    assert "no request asked for that" in failure


def test_a_message_that_two_clients_get_at_once_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = reading._request

    def peeks(read: Any) -> Any:
        request = real(read)
        if isinstance(request, ReceiveMessages):
            return PeekMessage(request.to, request.queue, request.timeout, request.cursor, by=request.by)
        return request

    monkeypatch.setattr(reading, "_request", peeks)
    assert "and a client has it" in first_failure()


def test_a_server_that_does_not_hand_out_the_first_message_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = reading._request

    def last(read: Any) -> Any:
        request = real(read)
        if isinstance(request, ReceiveMessages) and not request.cursor:
            found = LookUpMessage(request.to, request.queue, 0, Seek.LAST, peek=False, hold=request.hold)
            return replace(found, by=request.by)
        return request

    monkeypatch.setattr(reading, "_request", last)
    failure = first_failure()
    assert failure.startswith("order: ")
    assert "is handed out" in failure


def test_a_call_that_is_answered_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = respond

    def twice(*given: Any) -> None:
        real(*given)
        real(*given)

    monkeypatch.setattr(ending, "respond", twice)
    assert "is answered twice" in first_failure()


# -- the client


@pytest.mark.mqqp("T39")
def test_a_client_that_forgets_what_it_delivered_delivers_it_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubts, "is_known", lambda *_: False)
    assert first_failure().startswith("duplication: an application of")


def test_a_memory_that_does_not_survive_the_process_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_state, "every", lambda *_: ())
    assert first_failure().startswith("recovery: doubts of mqqp")


@pytest.mark.mqqp("T38")
def test_a_message_that_is_remembered_and_not_delivered_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def keeps_only(state: Any, link: Any, task: Any, now: Any) -> None:
        doubts.keep(state, link, settling.message_of(task.came[0]).message, now)
        finish(state, link, task, Answer(HResult.ERROR))

    monkeypatch.setattr(settling, "lost", keeps_only)
    assert first_failure().startswith("doubt: ")


def test_a_client_that_acknowledges_what_is_not_wanted_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = calling.end_receive

    def acknowledges(state: Any, link: Any, purpose: Any, read: Any, _: Acknowledge, **more: Any) -> None:
        real(state, link, purpose, read, Acknowledge.ACK, **more)

    monkeypatch.setattr(calling, "end_receive", acknowledges)
    assert first_failure().startswith("loss: the client of ")


def test_a_client_that_ends_a_read_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = calling.end_receive

    def twice(*given: Any, **more: Any) -> None:
        real(*given, **more)
        real(*given, **more)

    monkeypatch.setattr(settling, "end_receive", twice)
    assert first_failure().startswith("end: ")


def test_a_client_that_delivers_messages_in_another_order_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = finish

    def reversed_(state: Any, link: Any, task: Any, answer: Any) -> None:
        messages = getattr(answer, "messages", ())
        real(state, link, task, replace(answer, messages=messages[::-1]) if messages else answer)

    monkeypatch.setattr(settling, "finish", reversed_)
    failure = first_failure()
    assert failure.startswith("order: ")
    assert " got " in failure


def test_a_client_that_leaves_its_connections_open_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losing, "EndLink", lambda _: CancelTimer(("mqqp.nothing", 0)))
    assert first_failure().startswith("left behind: ")
