"""Tests what an accepted connection does with each PDU."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.protocols.rpc.phases import OPEN_PHASES, TASKS, Phase, Task, task_of
from reliquary.wire.rpc.header import PduType


def test_the_table_answers_every_case() -> None:
    assert set(TASKS) == set(product(OPEN_PHASES, PduType))
    assert {*OPEN_PHASES, Phase.CLOSED} == set(Phase)


def test_only_a_bind_opens_a_connection() -> None:
    assert [kind for kind in PduType if TASKS[Phase.NEW, kind] is not Task.REFUSE] == [PduType.BIND]


@pytest.mark.parametrize("phase", OPEN_PHASES)
@pytest.mark.parametrize("kind", [1, 4, 10, 20, 255])
def test_a_type_that_does_not_exist_is_a_protocol_error(phase: Phase, kind: int) -> None:
    assert task_of(phase, kind) is Task.REFUSE
