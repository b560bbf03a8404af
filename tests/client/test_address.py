"""Addresses and folders are distinguished."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary import BadRequest
from reliquary.client.address import DEFAULT, MqqpAddress, control_of, is_address, is_mqqp, mqqp_address


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


def test_queues_that_are_read_over_mqqp_have_a_scheme_of_their_own() -> None:
    assert is_mqqp("mqqp://far/orders")
    assert is_mqqp("MQQP://far")
    assert not is_mqqp(DEFAULT)
    assert not is_mqqp("mqqp")
    assert not is_mqqp(Path("mqqp://far"))


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("mqqp://far", MqqpAddress("far")),
        ("mqqp://far/", MqqpAddress("far")),
        (
            "mqqp://Far.example.com:2114/private$/orders",
            MqqpAddress("far.example.com", 2114, "private$/orders"),
        ),
        ("mqqp://[::1]:1/orders;journal", MqqpAddress("::1", 1, "orders;journal")),
        ("mqqp://me:se%3Acret@far/a%20b", MqqpAddress("far", 0, "a b", "me", "se:cret")),
        ("mqqp://DOMAIN%5Cme:x@far", MqqpAddress("far", 0, "", r"DOMAIN\me", "x")),
    ],
)
def test_an_address_of_mqqp_has_a_host_a_port_a_queue_and_a_user(text: str, address: MqqpAddress) -> None:
    assert mqqp_address(text) == address


def test_a_user_who_is_given_counts_before_the_one_in_the_address() -> None:
    assert mqqp_address("mqqp://a:b@far", "c", "d") == MqqpAddress("far", 0, "", "c", "d")
    assert mqqp_address("mqqp://a:b@far", "", "") == MqqpAddress("far")


@pytest.mark.parametrize(
    "wrong",
    [
        "mqqp://",
        "mqqp:///orders",
        "mqqp://far:x",
        "mqqp://far:99999/q",
        "mqqp://far/q?a=b",
        "mqqp://far/q#a",
        "mqqp://far/%ff",
    ],
)
def test_an_address_of_mqqp_that_cannot_be_read_is_refused(wrong: str) -> None:
    with pytest.raises(BadRequest, match="address of MQQP"):
        mqqp_address(wrong)


@pytest.mark.parametrize("half", ["mqqp://me@far", "mqqp://:secret@far"])
def test_a_user_and_a_password_come_together(half: str) -> None:
    with pytest.raises(BadRequest, match="one of them is missing"):
        mqqp_address(half)


def test_no_password_is_shown() -> None:
    assert "secret" not in repr(mqqp_address("mqqp://me:secret@far"))
    with pytest.raises(BadRequest) as refused:
        mqqp_address("mqqp://me:secret@far:port")
    assert "secret" not in str(refused.value)
