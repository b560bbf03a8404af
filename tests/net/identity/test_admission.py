"""Tests who may use a mount, with any kind of proof."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

import pytest

from reliquary.net.identity.admission import READS, Admission, admission_of
from reliquary.net.identity.failures import AT_ONCE, PACE, Failures, TooManyFailures
from reliquary.net.identity.hosts import Hosts, NoHost, WrongHost
from reliquary.net.identity.origin import ForeignPage
from reliquary.net.identity.shown import Shown
from reliquary.net.identity.users import NotKnown, User, Users
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal, user_sid

HERE = UUID(int=1)
USERS = Users(HERE, (User(name="alice", token_sha256=sha256(b"open sesame").hexdigest()),))
ALICE = USERS.who(b"Bearer open sesame")
BOB = Principal(user_sid(HERE, "bob"), (), "bob")


METHODS = ["POST", "PUT", "PATCH", "DELETE", "HEAD", "CONNECT", "TRACE", "OPTIONS", "PROPFIND", "get"]
"""All that are not known to change nothing."""


class Asked:
    """A request of one line of text a header."""

    peer = "10.0.0.1"

    def __init__(self, method: str, *more: tuple[bytes, bytes], **headers: str) -> None:
        self.method = method
        self.fields = [*((name.encode(), value.encode()) for name, value in headers.items()), *more]

    def header(self, name: bytes) -> bytes | None:
        return next((value for key, value in self.fields if key.lower() == name), None)


def admission(users: Users = USERS) -> Admission:
    """Return the admission of a server at a clock that stands still."""
    return admission_of(users, Failures(lambda: 0))


class Session:
    """Another kind of proof: a cookie that stands for a session."""

    def who(self, request: Shown) -> Principal | None:
        cookie = request.header(b"cookie")
        if cookie == b"session=expired":
            raise NotKnown("the session has ended")
        return BOB if cookie == b"session=1" else None


def test_a_bearer_token_stands_for_its_user() -> None:
    admit = admission()
    assert admit(Asked("POST", authorization="Bearer open sesame")) is ALICE
    assert admit(Asked("POST")) is ANONYMOUS
    with pytest.raises(NotKnown, match="the token belongs to no user"):
        admit(Asked("POST", authorization="Bearer guess"))


def test_without_users_every_client_is_anonymous() -> None:
    assert admission(Users(HERE))(Asked("POST", authorization="Bearer guess")) is ANONYMOUS


@pytest.mark.parametrize("method", METHODS)
def test_a_page_of_another_site_may_not_ask_for_changes(method: str) -> None:
    foreign = {"Origin": "http://evil.example", "Host": "here:8480", "authorization": "Bearer open sesame"}
    admit = admission()
    with pytest.raises(ForeignPage, match="a page of another site may not ask for this"):
        admit(Asked(method, **foreign))
    with pytest.raises(ForeignPage):
        admit.at(Hosts(["here"]))(Asked(method, **foreign))
    for origin in ("null", "", "http://here", "http://here:8481", "http://here:8480.evil.example"):
        with pytest.raises(ForeignPage):
            admit(Asked(method, **foreign | {"Origin": origin}))
    assert admit.at(Hosts(["here"]), frozenset({method}))(Asked(method, **foreign)) is ALICE
    own = {"ORIGIN": "http://HERE:8480", "HOST": "here:8480"}
    assert admit(Asked(method, **own)) is ANONYMOUS


def test_a_page_of_another_site_may_look() -> None:
    foreign = {"origin": "http://evil.example", "host": "here:8480", "authorization": "Bearer open sesame"}
    assert admission()(Asked("GET", **foreign)) is ALICE
    assert {"GET"} == READS


@pytest.mark.parametrize("method", ["GET", *METHODS])
def test_a_request_for_another_host_is_refused_whatever_it_asks(method: str) -> None:
    admit = admission().at(Hosts(["here"]))
    assert admit(Asked(method, Host="here:8480", authorization="Bearer open sesame")) is ALICE
    rebound = {"host": "evil.example:8480", "origin": "http://evil.example:8480"}
    with pytest.raises(WrongHost):
        admit(Asked(method, **rebound))
    for request in (Asked(method), Asked(method, (b"HOST", b"here"), host="here")):
        with pytest.raises(NoHost, match="a request has the header Host once"):
            admit(request)
    assert admission()(Asked(method, **rebound)) is ANONYMOUS  # a mount with a rule of its own


def test_wrong_tokens_are_answered_later_and_later_and_the_right_one_at_once() -> None:
    reported: list[tuple[str, str]] = []
    admit = admission_of(USERS, Failures(lambda: 0), lambda *what: reported.append(what))
    waits = []
    for number in range(AT_ONCE + 2):
        with pytest.raises(NotKnown) as refused:
            admit(Asked("POST", authorization=f"Bearer guess {number}"))
        waits.append(refused.value.wait)
    assert waits == [0] * AT_ONCE + [PACE / 1e6, 2 * PACE / 1e6]
    assert reported == [
        ("10.0.0.1", "the token belongs to no user of this server: check it, or get a new one")
    ] * (AT_ONCE + 2)
    assert admit(Asked("POST", authorization="Bearer open sesame")) is ALICE
    for _ in range(8):
        with pytest.raises(NotKnown):
            admit(Asked("POST", authorization="Basic x"))
    with pytest.raises(TooManyFailures):
        admit(Asked("POST", authorization="Basic x"))
    assert admit(Asked("POST", authorization="Bearer open sesame")) is ALICE
    assert admit(Asked("POST")) is ANONYMOUS


def test_another_kind_of_proof_is_one_more_credential() -> None:
    admit = Admission([Session()])
    assert admit(Asked("POST", cookie="session=1")) is BOB
    assert admit(Asked("POST")) is ANONYMOUS
    with pytest.raises(NotKnown, match="the session has ended"):
        admit(Asked("POST", cookie="session=expired"))
