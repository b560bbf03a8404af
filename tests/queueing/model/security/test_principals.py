"""Tests principals: the SIDs by which an access list can name a user, and the SIDs of domain users."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.queueing.model.security.principals import (
    ADMINISTRATORS,
    ANONYMOUS,
    AUTHENTICATED_USERS,
    EVERYONE,
    FIRST_RID,
    MANAGER,
    Principal,
    is_domain_user,
    is_guest,
    user_sid,
)
from reliquary.wire.security import Sid, parse_sid

ALICE = parse_sid("S-1-5-21-1-2-3-1001")
HERE, THERE = UUID(int=1), UUID(int=2)


def test_the_well_known_ones_are_written_as_everywhere() -> None:
    known = (EVERYONE, ANONYMOUS.user, AUTHENTICATED_USERS, MANAGER.user, ADMINISTRATORS)
    assert list(map(str, known)) == ["S-1-1-0", "S-1-5-7", "S-1-5-11", "S-1-5-18", "S-1-5-32-544"]


def test_a_user_has_its_own_identifier_its_groups_and_the_group_of_all_users() -> None:
    assert Principal(ALICE, (ADMINISTRATORS,)).sids == {ALICE, ADMINISTRATORS, EVERYONE, AUTHENTICATED_USERS}


def test_the_anonymous_user_is_in_the_group_everyone_and_not_authenticated() -> None:
    assert ANONYMOUS.sids == {ANONYMOUS.user, EVERYONE}


def test_two_sessions_of_one_user_are_two() -> None:
    one, other = Principal(ALICE), Principal(ALICE)
    assert one != other
    assert len({one, other}) == 2


def test_a_principal_is_written_with_name_and_number() -> None:
    assert str(Principal(ALICE, name="alice")) == "alice (S-1-5-21-1-2-3-1001)"
    assert str(Principal(ALICE)) == "S-1-5-21-1-2-3-1001"
    assert repr(Principal(ALICE)) == "Principal(S-1-5-21-1-2-3-1001)"


@pytest.mark.parametrize(
    ("text", "known", "guest"),
    [
        ("S-1-5-21-1-2-3-1001", True, False),
        ("S-1-5-21-1-2-3-501", True, True),
        ("S-1-5-7", False, False),
        ("S-1-5-18", False, False),
        ("S-1-1-0", False, False),
        ("S-1-5-32-501", False, False),
        ("S-1-5-21", False, False),
    ],
)
def test_a_domain_user_is_one_that_a_domain_numbered(text: str, known: bool, guest: bool) -> None:
    sid = parse_sid(text)
    assert (is_domain_user(sid), is_guest(sid)) == (known, guest)


def test_a_name_has_one_number_at_one_manager() -> None:
    assert user_sid(HERE, "alice") == user_sid(HERE, "Alice")
    assert user_sid(HERE, "alice") != user_sid(HERE, "bob")
    assert user_sid(HERE, "alice") != user_sid(THERE, "alice")
    assert is_domain_user(user_sid(HERE, "alice"))


def test_users_of_one_manager_share_its_domain() -> None:
    assert user_sid(HERE, "alice").parts[:-1] == user_sid(HERE, "bob").parts[:-1]


def test_no_name_becomes_an_account_that_every_domain_has() -> None:
    assert all(user_sid(HERE, f"user{n}").parts[-1] >= FIRST_RID for n in range(100))
    assert Sid(5, (21, 1)) != user_sid(HERE, "")
