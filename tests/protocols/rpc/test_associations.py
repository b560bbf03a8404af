"""Groups of connections that share context handles."""

from __future__ import annotations

from reliquary.protocols.rpc.associations import Associations


def test_a_group_exists_as_long_as_one_of_its_connections() -> None:
    groups = Associations()
    number = groups.open("here")
    assert groups.join(number, "here")
    assert not groups.leave(number)
    assert len(groups) == 1
    assert groups.leave(number)
    assert len(groups) == 0
    assert not groups.join(number, "here")


def test_a_group_that_was_not_made_cannot_be_joined() -> None:
    assert not Associations().join(1, "here")


def test_a_client_of_another_host_cannot_join() -> None:
    groups = Associations()
    assert not groups.join(groups.open("here"), "there")


def test_numbers_differ_and_are_never_zero() -> None:
    groups = Associations(0xFFFF_FFFE)
    numbers = [groups.open("here") for _ in range(4)]
    assert numbers == [0xFFFF_FFFE, 0xFFFF_FFFF, 1, 2]


def test_a_number_in_use_is_passed_over() -> None:
    groups = Associations(0xFFFF_FFFF)
    kept = groups.open("here")
    again = groups.open("here")
    groups.leave(again)
    groups._next = kept
    assert groups.open("here") == 1
