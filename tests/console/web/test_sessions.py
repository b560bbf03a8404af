"""Tests sessions of the console: how long one lasts, and which forms are its own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reliquary.console.web import sessions as module
from reliquary.console.web.sessions import COOKIE, IDLE, LONGEST, Sessions, cookie_of
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.sim.chance import SeededChance

ALICE = Principal(ANONYMOUS.user, (), "alice")


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class Asked:
    """A request with a cookie."""

    method, peer = "POST", ""

    def __init__(self, cookie: str = "", *more: tuple[bytes, bytes]) -> None:
        self.fields: Sequence[tuple[bytes, bytes]] = ((b"cookie", cookie.encode()), *more) if cookie else more

    def header(self, name: bytes) -> bytes | None:
        return dict(self.fields).get(name)


def asked(key: str, *more: tuple[bytes, bytes]) -> Asked:
    return Asked(f"other=1; {COOKIE}={key}", *more)


def opened() -> tuple[Sessions, Clock]:
    clock = Clock()
    return Sessions(SeededChance(1), clock), clock


def test_a_session_knows_its_user_by_the_cookie() -> None:
    sessions, _ = opened()
    key = sessions.begin(ALICE)
    assert sessions.who(asked(key)) is ALICE
    assert sessions.who(asked(key[:-1])) is None
    assert sessions.who(Asked()) is None


def test_two_consoles_of_one_host_have_cookies_of_their_own() -> None:
    clock = Clock()
    one, other = (Sessions(SeededChance(seed), clock, name) for seed, name in ((1, "aa"), (2, "bb")))
    assert (one.cookie, other.cookie) == (f"{COOKIE}_aa", f"{COOKIE}_bb")
    both = Asked(f"{one.cookie}={one.begin(ALICE)}; {other.cookie}={other.begin(ALICE)}")
    assert (one.who(both), other.who(both)) == (ALICE, ALICE)
    one.end(both)
    assert (one.who(both), other.who(both)) == (None, ALICE)


def test_a_seal_is_for_one_notice_of_one_process() -> None:
    one, other = Sessions(SeededChance(1), Clock()), Sessions(SeededChance(2), Clock())
    seals = {one.seal_of("made"), one.seal_of("made."), other.seal_of("made")}
    assert len(seals) == 3
    assert one.seal_of("made") in seals


def test_a_session_that_is_not_used_ends() -> None:
    sessions, clock = opened()
    key = sessions.begin(ALICE)
    clock.now = IDLE
    assert sessions.who(asked(key)) is ALICE
    clock.now += IDLE + 1
    assert sessions.who(asked(key)) is None
    clock.now -= IDLE
    assert sessions.who(asked(key)) is None


@pytest.mark.parametrize("sign", [(b"hx-request", b"true"), (b"accept", b"text/event-stream")])
def test_what_a_page_asks_by_itself_does_not_use_the_session(sign: tuple[bytes, bytes]) -> None:
    sessions, clock = opened()
    key = sessions.begin(ALICE)
    csrf = sessions.csrf_of(asked(key))
    clock.now = IDLE
    assert sessions.who(asked(key, sign)) is ALICE
    assert sessions.csrf_of(asked(key, sign)) == csrf
    clock.now += 1
    assert sessions.who(asked(key, sign)) is None
    clock.now -= IDLE
    assert sessions.who(asked(key)) is None


def test_a_session_ends_however_often_it_is_used() -> None:
    sessions, clock = opened()
    key = sessions.begin(ALICE)
    while clock.now + IDLE <= LONGEST:
        clock.now += IDLE
        assert sessions.who(asked(key)) is ALICE
    clock.now = LONGEST + 1
    assert sessions.who(asked(key)) is None


def test_after_the_sign_out_the_cookie_means_nothing() -> None:
    sessions, _ = opened()
    key = sessions.begin(ALICE)
    sessions.end(asked(key))
    assert sessions.who(asked(key)) is None


def test_only_forms_of_its_own_pages_are_taken() -> None:
    sessions, _ = opened()
    first, second = asked(sessions.begin(ALICE)), asked(sessions.begin(ALICE))
    assert sessions.is_own_form(first, sessions.csrf_of(first))
    assert not sessions.is_own_form(first, sessions.csrf_of(second))
    assert not sessions.is_own_form(first, sessions.csrf_of(Asked()))
    assert not sessions.is_own_form(first, "")
    assert sessions.is_own_form(Asked(), sessions.csrf_of(Asked()))


def test_the_session_that_was_not_used_longest_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    sessions, _ = opened()
    first, second = sessions.begin(ALICE), sessions.begin(ALICE)
    assert sessions.who(asked(first)) is ALICE
    sessions.begin(ALICE)
    assert sessions.who(asked(second)) is None
    assert sessions.who(asked(first)) is ALICE


@pytest.mark.parametrize("cookie", ["", "x", "=;=", f"{COOKIE}", "\xff=\xfe", "a=b; a"])
def test_malformed_cookies_are_ignored(cookie: str) -> None:
    assert cookie_of(Asked(cookie)) == ""
