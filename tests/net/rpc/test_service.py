"""Tests of the services behind the interfaces of a listener."""

from __future__ import annotations

from reliquary.net.rpc.service import RpcService
from tests.net.rpc.harness import ManualService


def test_the_service_of_the_stage_has_all_that_a_listener_asks_for() -> None:
    service: RpcService = ManualService()
    asked = [name for name in vars(RpcService) if not name.startswith("_")]
    assert [name for name in asked if not callable(getattr(service, name, None))] == []
    assert len(asked) == 5
