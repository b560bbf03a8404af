"""The values that connections return."""

from __future__ import annotations

from typing import get_args

from reliquary.protocols.rpc import events
from reliquary.protocols.rpc.events import ClientEvent, Closed, ServerEvent


def test_each_value_happens_to_a_client_or_to_a_server() -> None:
    values = {
        value
        for value in vars(events).values()
        if isinstance(value, type) and value.__module__ == events.__name__
    }
    assert {*get_args(ServerEvent), *get_args(ClientEvent)} == values
    assert {*get_args(ServerEvent)} & {*get_args(ClientEvent)} == {Closed}
