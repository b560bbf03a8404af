"""Tests passwords: a thread checks them, proofs are remembered, guesses are slow."""

from __future__ import annotations

import asyncio
import threading
from base64 import b64encode
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

import pytest

from reliquary.net.identity import passwords as module
from reliquary.net.identity.failures import AT_ONCE, LONGEST_WAIT, PACE, Failures, TooManyFailures
from reliquary.net.identity.password_hashes import UNKNOWN_USER_HASH, is_password
from reliquary.net.identity.passwords import Checking, Passwords, TooManyChecks, WrongPassword
from reliquary.net.identity.users import User, Users
from reliquary.queueing.model.security.principals import Principal
from reliquary.sim.chance import SeededChance
from tests.net.http.harness import until
from tests.net.identity.cheap_hash import cheap_hash
from tests.net.identity.test_admission import Asked

ALICE = User(name="Alice", password_hash=cheap_hash("open sesame"))
TOKEN = User(name="bob", token_sha256="ab" * 32)


class Harness:
    """Passwords of a server at a clock that stands still, and what was verified in which thread."""

    def __init__(self, *users: User) -> None:
        self.users = Users(UUID(int=1), users or (ALICE, TOKEN))
        self.verified: list[str] = []
        self.warned: list[tuple[str, str]] = []
        self.failures = Failures(lambda: 0)
        self.entered = 0
        self.gate = threading.Event()
        self.gate.set()
        self.passwords = Passwords(
            self.users, self.failures, SeededChance(1), lambda *said: self.warned.append(said), self._verify
        )

    def _verify(self, text: str, password: str) -> bool:
        assert threading.current_thread() is not threading.main_thread()
        self.entered += 1
        self.gate.wait()
        self.verified.append(text)
        return text != UNKNOWN_USER_HASH and is_password(text, password)

    def show(self, name: str, password: str, peer: str = "10.0.0.1") -> Principal | None:
        shown = Asked("POST", authorization="Basic " + b64encode(f"{name}:{password}".encode()).decode())
        shown.peer = peer
        return self.passwords.who(shown)

    async def checked(self, name: str, password: str, peer: str = "10.0.0.1") -> Principal:
        with pytest.raises(Checking) as why:
            self.show(name, password, peer)
        return await why.value.checked


def run(scene: Coroutine[Any, Any, None]) -> None:
    asyncio.run(scene)


def test_a_password_is_checked_once_and_then_known() -> None:
    async def scene() -> None:
        harness = Harness()
        alice = harness.users.named("alice")
        assert await harness.checked("alice", "open sesame") is alice
        assert harness.show("alice", "open sesame") is alice
        assert harness.show("alice", "open sesame", "10.0.0.2") is alice
        assert len(harness.verified) == 1
        assert await harness.passwords.sign_in("ALICE", "open sesame", "") is alice
        harness.passwords.close()

    run(scene())


@pytest.mark.parametrize(("name", "password"), [("alice", "guess"), ("bob", "x"), ("nobody", "open sesame")])
def test_a_wrong_name_or_password_is_refused_alike_and_never_known(name: str, password: str) -> None:
    async def scene() -> None:
        harness = Harness()
        for _ in range(2):
            with pytest.raises(
                WrongPassword, match="the name and the password belong to no user: check both"
            ):
                await harness.checked(name, password)
        assert len(harness.verified) == 2
        assert harness.warned == [("10.0.0.1", "the name and the password belong to no user: check both")] * 2

    run(scene())


def test_requests_with_one_proof_wait_for_one_check() -> None:
    async def scene() -> None:
        harness = Harness()
        harness.gate.clear()
        both = [asyncio.ensure_future(harness.checked("alice", "open sesame")) for _ in range(2)]
        await until(lambda: harness.entered == 1)
        harness.gate.set()
        assert await asyncio.gather(*both) == [harness.users.named("alice")] * 2
        assert len(harness.verified) == 1

    run(scene())


@pytest.mark.parametrize("header", ["Bearer x", "basic", "Digest x"])
def test_other_proofs_are_left_to_others(header: str) -> None:
    who = Harness().passwords.who(Asked("POST", authorization=header)) if header != "basic" else None
    assert who is None
    assert Harness().passwords.who(Asked("POST")) is None


def test_without_users_every_client_is_anonymous() -> None:
    harness = Harness()
    harness.users.renew(())
    assert harness.show("alice", "open sesame") is None


@pytest.mark.parametrize("encoded", ["", "?", "YQ==", "/w=="])
def test_what_is_no_name_and_password_is_refused_unchecked(encoded: str) -> None:
    harness = Harness()
    with pytest.raises(WrongPassword, match="base64 form of name:password"):
        harness.passwords.who(Asked("POST", authorization=f"Basic {encoded}"))
    assert not harness.verified


def test_other_users_forget_proofs_and_a_check_that_runs_counts_no_more() -> None:
    async def scene() -> None:
        harness = Harness()
        await harness.checked("alice", "open sesame")
        harness.gate.clear()
        late = asyncio.ensure_future(harness.passwords.sign_in("alice", "open sesame", ""))
        await until(lambda: harness.entered == 2)
        harness.users.renew((TOKEN,))
        harness.passwords.forget()
        harness.gate.set()
        with pytest.raises(WrongPassword):
            await late
        with pytest.raises(WrongPassword):
            await harness.checked("alice", "open sesame")

    run(scene())


def test_guesses_are_slowed_by_address_and_by_user_while_a_right_proof_is_not() -> None:
    async def scene() -> None:
        harness = Harness()
        await harness.checked("alice", "open sesame")
        for count in range(AT_ONCE + LONGEST_WAIT // PACE):
            with pytest.raises(WrongPassword) as why:
                await harness.checked("alice", f"guess {count}", f"10.0.1.{count}")
            assert bool(why.value.wait) is (count >= AT_ONCE)
        with pytest.raises(TooManyFailures):
            harness.show("alice", "one more", "10.0.2.1")
        assert harness.show("alice", "open sesame") is harness.users.named("alice")
        harness.passwords.forget()
        assert await harness.checked("alice", "open sesame") is harness.users.named("alice")

    run(scene())


def test_few_passwords_are_checked_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 2)

    async def scene() -> None:
        harness = Harness()
        harness.gate.clear()
        waiting = [asyncio.ensure_future(harness.checked("alice", f"guess {count}")) for count in range(2)]
        await until(lambda: harness.entered == 2)
        with pytest.raises(TooManyChecks, match="too many passwords are being checked"):
            harness.show("alice", "open sesame")
        harness.gate.set()
        assert all(
            isinstance(each, WrongPassword) for each in await asyncio.gather(*waiting, return_exceptions=True)
        )

    run(scene())


def test_few_proofs_are_known_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 1)

    async def scene() -> None:
        harness = Harness(ALICE, User(name="carol", password_hash=cheap_hash("swordfish")))
        await harness.checked("alice", "open sesame")
        await harness.checked("carol", "swordfish")
        assert harness.show("carol", "swordfish") is harness.users.named("carol")
        await harness.checked("alice", "open sesame")

    run(scene())
