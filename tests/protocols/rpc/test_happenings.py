"""The values that connections return."""

from __future__ import annotations

from typing import get_args

from reliquary.protocols.rpc import happenings
from reliquary.protocols.rpc.happenings import ClientHappening, Closed, ServerHappening


def test_each_value_happens_to_a_client_or_to_a_server() -> None:
    values = {
        value
        for value in vars(happenings).values()
        if isinstance(value, type) and value.__module__ == happenings.__name__
    }
    assert {*get_args(ServerHappening), *get_args(ClientHappening)} == values
    assert {*get_args(ServerHappening)} & {*get_args(ClientHappening)} == {Closed}
