"""Tests hashes of passwords: which are taken, and what they verify."""

from __future__ import annotations

import re

import pytest
from argon2 import PasswordHasher, Type, extract_parameters

from reliquary.base.faults import UsageError
from reliquary.net.identity.password_hashes import UNKNOWN_USER_HASH, check_hash, hash_password, is_password
from tests.net.identity.cheap_hash import cheap_hash


def test_a_hash_is_of_one_password_and_hides_it() -> None:
    made = hash_password("correct horse")
    check_hash("alice", made)
    assert "correct" not in made
    assert is_password(made, "correct horse")
    assert not is_password(made, "correct horsE")


def test_unknown_users_take_as_long_as_a_hash_that_the_command_makes() -> None:
    made, unknown = extract_parameters(hash_password("x" * 8)), extract_parameters(UNKNOWN_USER_HASH)
    assert (unknown.type, unknown.memory_cost, unknown.time_cost) == (
        Type.ID,
        made.memory_cost,
        made.time_cost,
    )
    assert unknown.parallelism == made.parallelism


@pytest.mark.parametrize("password", ["", "seven77", "x" * 1025], ids=len)
def test_passwords_that_are_too_short_or_too_long_are_refused(password: str) -> None:
    with pytest.raises(UsageError, match=f"8 to 1024 characters, this has {len(password)}"):
        hash_password(password)


@pytest.mark.parametrize("password", ["y" * 100_000, "\ud800"], ids=["too long", "no text"])
def test_what_no_password_can_be_is_wrong(password: str) -> None:
    assert not is_password(cheap_hash("x"), password)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("secret", "is no hash of argon2id; `reliquary user password alice` makes one"),
        ("$argon2id$v=19$m=8,t=1$x$y", "is no hash of argon2id"),
        (PasswordHasher(1, 8, 1, type=Type.I).hash("x"), "is a hash of argon2i, not argon2id"),
        (cheap_hash("x").replace("m=8", "m=99999999"), "needs m=99999999, t=1, p=1; at most m=1048576"),
        (cheap_hash("x").replace("t=1", "t=101"), "needs m=8, t=101"),
    ],
    ids=["no hash", "a hash cut short", "another kind", "too much memory", "too many rounds"],
)
def test_other_texts_are_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        check_hash("alice", text)
