"""The computer's own name."""

from __future__ import annotations

import socket

import pytest

from reliquary.net.host import own_name


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
