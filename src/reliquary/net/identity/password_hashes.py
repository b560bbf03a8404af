"""Hashes and verifies passwords with argon2id, RFC 9106, in the usual form.

    $argon2id$v=19$m=65536,t=3,p=4$SALT$HASH      64 MB of memory, three passes: about a tenth of a second

The settings contain only the hash.  Its parameters are part of it, so a server can verify hashes that another
program made; those that would cost too much are refused.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import UsageError

LEAST_PASSWORD: Final = 8
LONGEST_PASSWORD: Final = 1024
MOST_MEMORY: Final = 1024 * 1024
"""The most kilobytes that the parameters of a hash may request."""
MOST_PASSES: Final = 100
MOST_LANES: Final = 64
UNKNOWN_USER_HASH: Final = (
    "$argon2id$v=19$m=65536,t=3,p=4$cmVsaXF1YXJ5LXNhbHQ$vPQJ+5wXznEBHldNami5XFYxYfuFl9P2FaxZD4uTGXo"
)
"""A hash without a known password, so that an unknown name is refused as slowly as a wrong password."""


def hash_password(password: str) -> str:
    """Return the hash of a password; UsageError for one that is too short or too long."""
    from argon2 import PasswordHasher

    if not LEAST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise UsageError(
            f"a password has {LEAST_PASSWORD} to {LONGEST_PASSWORD} characters, this has {len(password)}"
        )
    return PasswordHasher().hash(password)


def check_hash(user: str, text: str) -> None:
    """Refuse a text that is no hash of argon2id, and parameters that no server should accept."""
    from argon2 import Type, extract_parameters
    from argon2.exceptions import InvalidHashError

    try:
        found = extract_parameters(text)
    except (InvalidHashError, ValueError) as why:
        raise UsageError(
            f"password_hash of {user} is no hash of argon2id; `reliquary user password {user}` makes one"
        ) from why
    if found.type is not Type.ID:
        raise UsageError(
            f"password_hash of {user} is a hash of argon2{found.type.name.lower()}, not argon2id"
        )
    if found.memory_cost > MOST_MEMORY or found.time_cost > MOST_PASSES or found.parallelism > MOST_LANES:
        raise UsageError(
            f"password_hash of {user} needs m={found.memory_cost}, t={found.time_cost},"
            f" p={found.parallelism}; at most m={MOST_MEMORY}, t={MOST_PASSES}, p={MOST_LANES} are taken"
        )


def is_password(text: str, password: str) -> bool:
    """Return whether a hash belongs to this password. It takes long and much memory: call it in a thread."""
    from argon2 import PasswordHasher
    from argon2.exceptions import Argon2Error, InvalidHashError

    if len(password) > LONGEST_PASSWORD:
        return False
    try:
        return PasswordHasher().verify(text, password)
    except (Argon2Error, InvalidHashError, UnicodeEncodeError):
        return False
