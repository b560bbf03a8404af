"""Each purpose of a call has its rule."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqp.client.responses import ANSWERED, ENDS
from reliquary.protocols.mqqp.client.state import Purpose
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import CancelReceive, EndReceive, StatusReturned
from reliquary.queueing.model.events import EndRead, ReceiveMessages
from tests.protocols.mqqp.client.two_managers import FAR, TwoManagers, bodies_of


def test_every_purpose_has_a_rule() -> None:
    assert set(ANSWERED) == set(Purpose)
    assert set(Purpose) > ENDS


@pytest.mark.parametrize("play", [StatusReturned(0xC00E0007), StatusReturned(0xC00E0001), 0xC00E0007, 0x721])
@pytest.mark.mqqp("T24")
def test_what_the_server_says_to_a_cancel_changes_nothing(play: qm2qm.Response | int) -> None:
    two = TwoManagers()
    handle = two.open()
    two.script[CancelReceive] = play
    caller = two.begin_receiving(handle)
    two.leave(caller)
    (task,) = two.link.tasks.values()
    two.send(b"a")
    assert two.answer_to(caller).status is HResult.OPERATION_CANCELLED
    assert (two.link.tasks, two.bodies) == ({}, [b"a"])
    assert task.to == 0


def test_a_context_that_qmcomm_does_not_close_changes_nothing() -> None:
    two = TwoManagers(b"a")
    two.script[qmcomm.CloseRemoteQueueContext] = 0x721
    assert bodies_of(two.receive()) == [b"a"]


@pytest.mark.parametrize("status", [0x1C00001A, 0x6F7, 0x1C010014])
def test_a_fault_of_the_runtime_at_the_end_of_a_read_closes_the_link(status: int) -> None:
    two = TwoManagers(b"a")
    receipt = two.receive(hold=60).receipt
    two.script[EndReceive] = status
    assert two.ask(EndRead(0, receipt, delete=True)).status is HResult.OUTCOME_UNKNOWN
    assert two.ended == [1]
    assert two.is_idle


def test_a_fault_of_the_runtime_at_the_end_of_a_known_message_closes_the_link() -> None:
    two = TwoManagers(b"a")
    two.script[EndReceive] = 0x1C00001A
    assert bodies_of(two.receive()) == [b"a"]
    assert two.ask(ReceiveMessages(0, FAR)).status is HResult.INVALID_HANDLE
    assert len(two.ended) == 2
    two.script.clear()
    assert two.receive().status is HResult.IO_TIMEOUT
    assert two.bodies == []
