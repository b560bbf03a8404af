"""Addresses and folders told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary import BadRequest
from reliquary.client.address import DEFAULT, control_of, is_address


def test_an_address_has_a_scheme_and_a_folder_has_none() -> None:
    assert is_address(DEFAULT)
    assert not is_address("data")
    assert not is_address(Path("http://x"))


@pytest.mark.parametrize(
    ("data", "control"),
    [
        ("http://127.0.0.1:8480", "http://127.0.0.1:8481"),
        ("https://[::1]:1/queues", "https://[::1]:2/queues"),
    ],
)
def test_the_control_plane_is_the_next_port(data: str, control: str) -> None:
    assert control_of(data) == control


def test_an_address_without_a_scheme_makes_no_folder() -> None:
    with pytest.raises(BadRequest, match="did you mean http://127"):
        is_address("127.0.0.1:8480")


@pytest.mark.parametrize("wrong", ["http://host", "http://:8480", "http://host:port", "http://host:99999"])
def test_without_a_host_and_a_port_there_is_no_next_one(wrong: str) -> None:
    with pytest.raises(BadRequest):
        control_of(wrong)
