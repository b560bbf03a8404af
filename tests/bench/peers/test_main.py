"""Tests who takes part, and the sentence that names each that does not."""

from __future__ import annotations

import argparse

import pytest

from bench.peers import __main__ as bench
from bench.peers.ours import Reliquary
from tools.system_packages import Need


class Absent(Reliquary):
    name = "absent"
    need = Need("absent", "this test", ("absent-server",), lambda: False)


class Old(Reliquary):
    name = "old"

    def refusal(self) -> str:
        return "version 1 cannot sync"


def test_a_peer_that_cannot_take_part_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = Reliquary()
    monkeypatch.setattr(bench, "MEASURED", {"ours": ours, "absent": Absent(), "old": Old()})
    assert bench._present(["ours", "absent", "old"], install=False) == {"ours": ours}
    assert capsys.readouterr().out.splitlines() == [
        "absent is skipped: it is not installed; --install adds absent-server.",
        "old is skipped: version 1 cannot sync.",
    ]


@pytest.mark.parametrize(("load", "words"), [(0.2, "a quiet machine"), (3.24, "(load 3.2 before)")])
def test_a_busy_machine_is_named_so(load: float, words: str) -> None:
    arguments = argparse.Namespace(rounds=3, seconds=5.0)
    said = bench._conditions(arguments, load)
    assert said.startswith("the middle of 3 interleaved rounds, 5 s a load, ")
    assert said.endswith(words)
