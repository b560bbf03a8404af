"""Checks names and passwords of users from HTTP Basic (RFC 7617) or a form of the console.

    who(request) --> known proof? ------------------------------------------------------> the user
                        '-- no --> Checking: a thread works at argon2id, the request waits
                                          |-- right --> the proof is known from now on --> the user
                                          '-- wrong --> NotKnown, later and later for one address or one user

A check takes a tenth of a second of a processor and 64 MB, so two run at a time and few wait; a
repeated proof is only looked up in a dictionary.  Proofs are kept as keyed digests, and forgotten when
the users change.
"""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import blake2b
from typing import Final, NamedTuple

from reliquary.base.chance import Chance
from reliquary.net.identity.failures import Failures, key_of_user
from reliquary.net.identity.password_hashes import UNKNOWN_USER_HASH, is_password
from reliquary.net.identity.shown import Denied, Fields, Shown
from reliquary.net.identity.users import CHALLENGE, NotKnown, Users
from reliquary.queueing.model.security.principals import Principal

AT_ONCE: Final = 2
"""The most checks that run at a time."""
MOST_WAITING: Final = 32
"""The most checks that run or wait; requests with other proofs are refused until one has ended."""
KEPT: Final = 10_000
"""The number of proofs that are kept."""
BASIC: Final = b"basic"
CHALLENGES: Final = (*CHALLENGE, (b"www-authenticate", b'Basic realm="reliquary", charset="UTF-8"'))
"""The header fields that request a token or a password."""


class WrongPassword(NotKnown):
    """No user has this name and this password."""

    headers: Fields = CHALLENGES


class TooManyChecks(Denied):
    """More passwords wait to be checked than a server allows."""

    status = 503
    code = "BUSY"
    headers = ((b"retry-after", b"1"),)


class Checking(Denied):
    """A password is being checked: try again when `checked` is done, or refuse with its exception."""

    status = 503
    code = "BUSY"
    headers = ((b"retry-after", b"1"),)

    def __init__(self, checked: asyncio.Future[Principal]) -> None:
        super().__init__("the password is being checked; try again")
        self.checked = checked


class NameAndPassword(NamedTuple):
    """The name and the password that a client sent."""

    name: str
    password: str


class Passwords:
    """The passwords of known users, in the Authorization header."""

    def __init__(
        self,
        users: Users,
        failures: Failures,
        chance: Chance,
        warn: Callable[[str, str], None] = lambda *_: None,
        verify: Callable[[str, str], bool] = is_password,
    ) -> None:
        """`warn` is called with the address of a client whose password is wrong, and a sentence."""
        self._users = users
        self._failures = failures
        self._warn = warn
        self._verify = verify
        self._key = chance.bits(256).to_bytes(32, "big")
        self._known: dict[bytes, Principal] = {}
        self._checks: dict[bytes, asyncio.Future[Principal]] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE, "passwords")

    def who(self, request: Shown) -> Principal | None:
        """Return the user of the name and the password in a request; None without Basic, or without users."""
        authorization = request.header(b"authorization")
        if authorization is None or not self._users.any:
            return None
        scheme, _, encoded = authorization.strip().partition(b" ")
        if scheme.lower() != BASIC:
            return None
        proof = blake2b(encoded.strip(), key=self._key).digest()
        found = self._known.get(proof)
        if found is not None:
            return found
        raise Checking(self._check(read_basic(encoded), proof, request.peer))

    async def sign_in(self, name: str, password: str, peer: str) -> Principal:
        """Return the user of a typed name and password; Denied if there is none."""
        shown = NameAndPassword(name, password)
        proof = blake2b(f"{name}:{password}".encode(errors="replace"), key=self._key).digest()
        return await asyncio.shield(self._check(shown, proof, peer))

    def forget(self) -> None:
        """Forget all proofs, because the users have changed."""
        self._known.clear()

    def close(self) -> None:
        """End the threads; a check that runs ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _check(self, shown: NameAndPassword, proof: bytes, peer: str) -> asyncio.Future[Principal]:
        """Begin a check, or join one of this proof; Denied if no check may begin."""
        running = self._checks.get(proof)
        if running is not None:
            return running
        keys = (peer, key_of_user(shown.name))
        for key in keys:
            self._failures.check(key, proof)
        if len(self._checks) >= MOST_WAITING:
            raise TooManyChecks("too many passwords are being checked; try again")
        task = asyncio.ensure_future(self._checked(shown, proof, keys))
        self._checks[proof] = task
        task.add_done_callback(partial(self._ended, proof))
        return task

    async def _checked(self, shown: NameAndPassword, proof: bytes, keys: tuple[str, str]) -> Principal:
        stored = self._users.password_hash_of(shown.name)
        loop = asyncio.get_running_loop()
        right = await loop.run_in_executor(
            self._threads, self._verify, stored or UNKNOWN_USER_HASH, shown.password
        )
        if not (right and stored) or self._users.password_hash_of(shown.name) != stored:
            why = WrongPassword("the name and the password belong to no user: check both")
            why.wait = max(self._failures.failed(key) for key in keys)
            self._warn(keys[0], str(why))
            raise why
        for key in keys:
            self._failures.succeeded(key, proof)
        found = self._users.named(shown.name)
        if len(self._known) >= KEPT:
            del self._known[next(iter(self._known))]
        self._known[proof] = found
        return found

    def _ended(self, proof: bytes, task: asyncio.Future[Principal]) -> None:
        del self._checks[proof]
        if not task.cancelled():
            task.exception()  # the waiting requests read it too, unless they have ended


def read_basic(encoded: bytes) -> NameAndPassword:
    """Return the name and the password of the header; WrongPassword where it holds none.

    >>> read_basic(b"YWxpY2U6b3Blbjpub3c=")
    NameAndPassword(name='alice', password='open:now')
    """
    try:
        name, colon, password = b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        colon = name = password = ""
    if not colon:
        raise WrongPassword(
            "the header Authorization cannot be read: it must be 'Basic' and the base64 form of name:password"
        )
    return NameAndPassword(name, password)
