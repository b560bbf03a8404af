"""Both transports keep the one interface, down to the names of the arguments."""

from __future__ import annotations

import inspect

import pytest

from reliquary.client.local import LocalTransport
from reliquary.client.remote import RemoteTransport
from reliquary.client.transport import Transport

METHODS = [name for name, each in vars(Transport).items() if inspect.isfunction(each) and name[0] != "_"]


@pytest.mark.parametrize("kind", [LocalTransport, RemoteTransport])
@pytest.mark.parametrize("name", METHODS)
def test_a_transport_does_all_of_it(kind: type, name: str) -> None:
    assert inspect.signature(getattr(kind, name)) == inspect.signature(getattr(Transport, name))
