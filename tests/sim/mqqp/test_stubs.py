"""Tests that values are unchanged by the codec, and that a change is a finding."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reliquary.protocols.mqqp.codec.qm2qm import Request, Response
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import Violation
from reliquary.sim.mqqp import stubs
from reliquary.sim.mqqp.stubs import Stubs, interface_name
from tests.sim.mqqp.two_sites import ENDED, OPEN, VERSION, VERSION_CALL, ends

REQUESTS: list[Request] = [OPEN, VERSION_CALL, *ends(1)]
PAIRS: list[tuple[Request, Response]] = [(VERSION_CALL, VERSION), (ends(1)[0], ENDED)]


def test_each_request_belongs_to_an_interface() -> None:
    assert [interface_name(each) for each in REQUESTS] == ["qmcomm", "qm2qm", "qm2qm"]


def test_values_come_out_as_they_went_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stubs, "SHARE", 1.0)
    for seed in range(8):
        carrier = Stubs(SeededChance(seed))
        assert [carrier.carry_request(each) for each in REQUESTS] == REQUESTS
        assert [carrier.carry_response(*pair) for pair in PAIRS] == [pair[1] for pair in PAIRS]


def test_some_values_do_not_go_through_the_codec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stubs, "SHARE", 0.0)
    carrier = Stubs(SeededChance(1))
    assert carrier.carry_request(OPEN) is OPEN
    assert carrier.carry_response(VERSION_CALL, VERSION) is VERSION


def test_a_codec_that_changes_a_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stubs, "SHARE", 1.0)
    monkeypatch.setattr(stubs, "decode_response", lambda *_: replace(VERSION, major=5))
    with pytest.raises(Violation, match="codec: "):
        Stubs(SeededChance(1)).carry_response(VERSION_CALL, VERSION)
