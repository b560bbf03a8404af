"""Both transports keep the one interface, down to the names of the arguments."""

from __future__ import annotations

import inspect

import pytest

from reliquary.client.local import LocalTransport
from reliquary.client.mqqp import MqqpTransport
from reliquary.client.remote import RemoteTransport
from reliquary.client.transport import Transport

METHODS = [name for name, each in vars(Transport).items() if inspect.isfunction(each) and name[0] != "_"]


@pytest.mark.parametrize("kind", [LocalTransport, RemoteTransport])
@pytest.mark.parametrize("name", METHODS)
def test_a_transport_has_every_method_of_the_interface(kind: type, name: str) -> None:
    assert inspect.signature(getattr(kind, name)) == inspect.signature(getattr(Transport, name))


READS = [name for name in METHODS if getattr(MqqpTransport, name) is not MqqpTransport._refuse]


@pytest.mark.parametrize("name", READS)
def test_what_mqqp_does_is_asked_with_the_usual_arguments(name: str) -> None:
    assert inspect.signature(getattr(MqqpTransport, name)) == inspect.signature(getattr(Transport, name))
