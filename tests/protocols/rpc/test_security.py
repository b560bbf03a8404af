"""Tests what a connection asks of a security provider; the provider of the tests has it all."""

from __future__ import annotations

import pytest

from reliquary.protocols.rpc.security import SecurityContext, SecurityRefused
from tests.protocols.rpc.pretended_security import PretendedClient, PretendedServer


def test_two_ends_that_met_accept_each_other_and_no_other_peer() -> None:
    client: SecurityContext = PretendedClient()
    server: SecurityContext = PretendedServer()
    server.step(client.step(server.step(client.step(b""))))
    assert client.complete
    assert (server.complete, server.user) == (True, "anna")
    server.verify(b"message", client.sign(b"message"))
    data, signature = client.seal(b"head", b"data", b"tail")
    assert server.unseal(b"head", data, b"tail", signature) == b"data"
    with pytest.raises(SecurityRefused):
        server.verify(b"message", b"no signature")
