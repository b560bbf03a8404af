"""Tests users: who a token stands for, and what settings are refused."""

from __future__ import annotations

from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.identity.users import NotKnown, User, Users, check_users
from reliquary.queueing.model.security.principals import ADMINISTRATORS, ANONYMOUS, EVERYONE, user_sid
from reliquary.queueing.model.security.roles import Role, rights_of_role
from reliquary.wire.security import parse_sid

HERE = UUID(int=1)
SID = "S-1-5-21-1-2-3-1001"


def known(name: str, token: str, **fields: Any) -> User:
    return User(name=name, token_sha256=sha256(token.encode()).hexdigest(), **fields)


ALICE = known("alice", "open sesame", groups=("clerks", "administrators"))
BOB = known("bob", "swordfish", sid=SID)
CAROL = User(name="Carol", nt_hash="8846f7eaee8fb117ad06bdd830b7586c")
USERS = Users(HERE, (ALICE, BOB, CAROL))


def test_a_token_stands_for_its_user() -> None:
    alice = USERS.who(b"Bearer open sesame")
    assert alice.name == "alice"
    assert alice.user == user_sid(HERE, "alice")
    assert alice.groups == (user_sid(HERE, "clerks"), ADMINISTRATORS)
    assert USERS.who(b"bearer  swordfish ").user == parse_sid(SID)


def test_each_user_is_one_principal_for_all_requests() -> None:
    assert USERS.who(b"Bearer swordfish") is USERS.who(b"Bearer swordfish")


def test_a_client_without_a_token_is_anonymous() -> None:
    assert USERS.who(None) is ANONYMOUS


def test_a_user_is_found_by_the_name_that_was_proved() -> None:
    assert USERS.named("ALICE") is USERS.who(b"Bearer open sesame")
    assert USERS.named("carol").user == user_sid(HERE, "carol")
    assert USERS.named("") is ANONYMOUS
    for name in ("clerks", "everyone", "dave"):
        with pytest.raises(NotKnown, match=f"there is no user '{name}'"):
            USERS.named(name)


def test_an_nt_hash_is_found_by_its_user() -> None:
    assert USERS.nt_hash_of("carol") == CAROL.nt_hash
    assert [USERS.nt_hash_of(name) for name in ("alice", "dave", "")] == ["", "", ""]


def test_a_user_without_a_token_makes_the_others_no_anonymous_ones() -> None:
    users = Users(HERE, (CAROL,))
    assert users.any
    with pytest.raises(NotKnown):
        users.who(b"Bearer swordfish")


def test_without_users_all_are_anonymous() -> None:
    no_users = Users(HERE)
    assert not no_users.any
    assert no_users.who(b"Bearer swordfish") is ANONYMOUS


@pytest.mark.parametrize(
    "header", [b"Bearer wrong", b"Bearer ", b"Bearer", b"", b"Basic swordfish", b"swordfish"]
)
def test_a_wrong_token_identifies_no_user(header: bytes) -> None:
    with pytest.raises(NotKnown):
        USERS.who(header)


def test_a_name_is_of_a_user_a_group_or_well_known() -> None:
    assert USERS.sid_of("Alice") == user_sid(HERE, "alice")
    assert USERS.sid_of("clerks") == user_sid(HERE, "clerks")
    assert USERS.sid_of("everyone") == EVERYONE
    assert USERS.sid_of("s-1-5-32-544") == ADMINISTRATORS
    assert [USERS.name_of(USERS.sid_of(name)) for name in ("alice", "clerks", "administrators")] == [
        "alice",
        "clerks",
        "administrators",
    ]
    assert USERS.name_of(parse_sid("S-1-5-9")) == ""


def test_a_name_without_an_owner_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no user or group 'dave'; there is everyone"):
        USERS.sid_of("dave")
    with pytest.raises(UsageError, match="a SID looks like"):
        USERS.sid_of("S-1-x")


@pytest.mark.parametrize(
    ("users", "why"),
    [
        ((known("", "x"),), "1 to 64 letters or digits"),
        ((known("a b", "x"),), "1 to 64 letters or digits"),
        ((known("S-1-5-7", "x"),), "1 to 64 letters or digits"),
        ((known("a", "x", groups=("b;c",)),), "1 to 64 letters or digits"),
        ((known("Everyone", "x"),), "predefined group"),
        ((User(name="a", token_sha256="abc"),), "token_sha256 of a must be 64 hexadecimal digits"),
        ((User(name="a"),), "the user a needs a token_sha256, a password_hash or an nt_hash"),
        ((User(name="a", nt_hash="AB" * 16),), "nt_hash of a must be 32 hexadecimal digits"),
        ((known("a", "x"), known("A", "y")), "two users have the name 'a'"),
        ((known("a", "x"), known("b", "x")), "two users have the token"),
        ((known("a", "x", sid="S-2"),), "a SID looks like"),
    ],
)
def test_wrong_users_are_refused_by_name(users: tuple[User, ...], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check_users(users)


def test_valid_users_are_taken() -> None:
    check_users((ALICE, BOB, CAROL, User(name="dave", nt_hash=CAROL.nt_hash)))


def test_other_users_replace_those_that_changed_and_keep_the_others() -> None:
    users = Users(HERE, (ALICE, BOB, CAROL))
    alice, bob, carol = (users.named(name) for name in ("alice", "bob", "carol"))
    other = known("bob", "another", sid=SID)
    assert users.renew((ALICE, other)) == {bob, carol}
    assert users.named("alice") is alice
    assert users.knows(alice)
    assert users.knows(ANONYMOUS)
    assert not users.knows(bob)
    assert not users.knows(carol)
    assert users.who(b"Bearer another").user == bob.user
    for gone in (b"Bearer swordfish", b"Bearer none"):
        with pytest.raises(NotKnown):
            users.who(gone)
    assert alice in users.renew(())
    assert not users.any


def test_a_group_that_gets_another_sid_makes_its_members_new() -> None:
    users = Users(HERE, (ALICE,))
    alice = users.named("alice")
    clerks = known("clerks", "x", sid=SID)
    assert users.renew((clerks, ALICE)) == {alice}
    assert users.named("alice").groups[0] == parse_sid(SID)


@pytest.mark.parametrize("role", list(Role))
def test_a_role_gives_its_rights_and_an_administrator_the_group(role: Role) -> None:
    found = Users(HERE, (known("dora", "x", role=role),)).named("dora")
    assert (found.on_queues, found.on_manager) == rights_of_role(role)
    assert (ADMINISTRATORS in found.groups) is (role is Role.ADMINISTRATOR)
