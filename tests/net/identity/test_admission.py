"""Who may come in, whatever kind of proof a client has."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

import pytest

from reliquary.net.identity.admission import Admission, ForeignPage, admission_of
from reliquary.net.identity.shown import Shown
from reliquary.net.identity.users import NotKnown, User, Users
from reliquary.queueing.security.principals import ANONYMOUS, Principal, user_sid

HERE = UUID(int=1)
USERS = Users(HERE, (User(name="alice", token_sha256=sha256(b"open sesame").hexdigest()),))
ALICE = USERS.who(b"Bearer open sesame")
BOB = Principal(user_sid(HERE, "bob"), (), "bob")


class Asked:
    """A request of one line of text a header."""

    def __init__(self, method: str, **headers: str) -> None:
        self.method = method
        self._headers = headers

    def header(self, name: bytes) -> bytes | None:
        value = self._headers.get(name.decode())
        return None if value is None else value.encode()


class Session:
    """Another kind of proof: a cookie that stands for a session."""

    def who(self, request: Shown) -> Principal | None:
        cookie = request.header(b"cookie")
        if cookie == b"session=expired":
            raise NotKnown("the session has ended")
        return BOB if cookie == b"session=1" else None


def test_a_bearer_token_stands_for_its_user() -> None:
    admit = admission_of(USERS)
    assert admit(Asked("POST", authorization="Bearer open sesame")) is ALICE
    assert admit(Asked("POST")) is ANONYMOUS
    with pytest.raises(NotKnown, match="nobody has this token"):
        admit(Asked("POST", authorization="Bearer guess"))


def test_without_users_everybody_is_anonymous() -> None:
    assert admission_of(Users(HERE))(Asked("POST", authorization="Bearer guess")) is ANONYMOUS


@pytest.mark.parametrize("method", ["POST", "DELETE", "HEAD"])
def test_a_page_of_another_site_may_not_ask_for_changes(method: str) -> None:
    foreign = {"origin": "http://evil.example", "host": "here:8480", "authorization": "Bearer open sesame"}
    with pytest.raises(ForeignPage, match="a page of another site may not ask for this"):
        admission_of(USERS)(Asked(method, **foreign))
    assert admission_of(USERS, reads=frozenset({method}))(Asked(method, **foreign)) is ALICE
    assert admission_of(USERS)(Asked("GET", **foreign)) is ALICE
    own = {"origin": "http://HERE:8480", "host": "here:8480"}
    assert admission_of(USERS)(Asked(method, **own)) is ANONYMOUS


def test_another_kind_of_proof_is_one_more_credential() -> None:
    admit = Admission([Session()])
    assert admit(Asked("POST", cookie="session=1")) is BOB
    assert admit(Asked("POST")) is ANONYMOUS
    with pytest.raises(NotKnown, match="the session has ended"):
        admit(Asked("POST", cookie="session=expired"))
