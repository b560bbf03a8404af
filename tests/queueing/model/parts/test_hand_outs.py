"""The hand-outs of a process begin empty; `changes.hand_outs` writes them."""

from __future__ import annotations

from reliquary.queueing.model.parts.hand_outs import HandOuts
from tests.queueing.manager_harness import Bench


def test_a_new_process_knows_no_hand_out_and_counts_from_one() -> None:
    assert HandOuts() == HandOuts(last=0, open={})
    assert Bench().state.hand_outs == HandOuts()
