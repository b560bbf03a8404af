"""The computer's own name."""

from __future__ import annotations

import socket

import pytest

from reliquary.net.host import is_loopback, own_name


@pytest.mark.parametrize(
    ("host", "name"),
    [
        pytest.param("lamp", "LAMP", id="in capitals"),
        pytest.param("lamp.shop.example", "LAMP", id="the first label"),
        pytest.param("a-very-long-name-indeed", "A-VERY-LONG-NAM", id="fifteen characters"),
        pytest.param("under_score", "UNDER-SCORE", id="only what NetBIOS takes"),
        pytest.param("", "RELIQUARY", id="a computer without a name"),
    ],
)
def test_the_name_is_written_as_msmq_would(monkeypatch: pytest.MonkeyPatch, host: str, name: str) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    assert own_name() == name


def test_an_address_of_the_loopback_is_known() -> None:
    assert [is_loopback(host) for host in ("127.0.0.9", "::1", "localhost", "0.0.0.0", "h")] == [
        True, True, True, False, False,
    ]  # fmt: skip
