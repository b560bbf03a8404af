"""Tests the security contexts of an accepted connection."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reliquary.protocols.rpc.logins import LoginRefused, Logins
from reliquary.protocols.rpc.security import SecurityContext
from reliquary.wire.rpc.binds import Nak
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.verifier import Verifier
from tests.protocols.rpc.pretended_security import NTLM, SPNEGO, PretendedServer, pretended_server

HELLO = Verifier(SPNEGO, Protection.INTEGRITY, 1, b"hello")
PROOF = HELLO._replace(token=b"proof of anna")


def weak(_auth_type: int) -> SecurityContext:
    return PretendedServer(4, strongest=Protection.INTEGRITY)


def made(secure: Callable[[int], SecurityContext | None] = pretended_server, limit: int = 4) -> Logins:
    return Logins(secure, limit)


def complete(first: Verifier = HELLO) -> Logins:
    logins = made()
    logins.begin(first)
    logins.go_on(first._replace(token=b"proof of anna"))
    return logins


def refusal(act: Callable[[], object]) -> tuple[Nak, FaultStatus]:
    with pytest.raises(LoginRefused) as caught:
        act()
    return caught.value.nak, caught.value.status


def test_a_client_proves_who_it_is_in_four_legs() -> None:
    logins = made()
    assert logins.begin(HELLO) == HELLO._replace(token=b"challenge")
    assert logins.building is not None
    assert logins.go_on(PROOF) == HELLO._replace(token=b"welcome")
    guard = logins.of_request(HELLO)
    assert guard is not None
    assert (guard.context.user, guard.level) == ("anna", Protection.INTEGRITY)


def test_the_last_of_three_legs_has_no_answer() -> None:
    logins = made()
    logins.begin(HELLO._replace(kind=NTLM))
    logins.finish(PROOF._replace(kind=NTLM))
    assert logins.building is None
    assert logins.of_request(HELLO._replace(kind=NTLM)) is not None


@pytest.mark.parametrize(
    "last",
    [
        PROOF._replace(kind=NTLM, token=b"proof of nobody"),
        PROOF._replace(kind=NTLM, number=2),
        PROOF._replace(kind=NTLM, level=Protection.PRIVACY),
        PROOF._replace(kind=SPNEGO),
        PROOF._replace(kind=NTLM, token=b"hello"),
    ],
    ids=["a wrong proof", "another number", "another level", "another type", "not the last"],
)
def test_a_wrong_last_leg_shows_with_the_first_call(last: Verifier) -> None:
    logins = made()
    logins.begin(HELLO._replace(kind=NTLM))
    logins.finish(last)
    assert refusal(lambda: logins.of_request(HELLO._replace(kind=NTLM)))[1] is FaultStatus.ACCESS_DENIED
    assert refusal(lambda: logins.of_request(None))[1] is FaultStatus.ACCESS_DENIED


def test_a_last_leg_that_wants_an_answer_is_wrong() -> None:
    logins = made()
    logins.begin(HELLO)
    logins.finish(PROOF)  # SPNEGO has a fourth leg, which an auth3 cannot have
    assert refusal(lambda: logins.of_request(HELLO))[1] is FaultStatus.ACCESS_DENIED


@pytest.mark.parametrize(
    ("verifier", "nak"),
    [
        (HELLO._replace(level=0), Nak.NOT_SPECIFIED),
        (HELLO._replace(level=Protection.NONE), Nak.NOT_SPECIFIED),
        (HELLO._replace(level=7), Nak.NOT_SPECIFIED),
        (HELLO._replace(kind=16), Nak.AUTH_TYPE),
        (HELLO._replace(kind=16, level=Protection.CALL), Nak.AUTH_TYPE),
        (HELLO._replace(level=Protection.CALL), Nak.CHECKSUM),
        (HELLO._replace(token=b"good morning"), Nak.CHECKSUM),
    ],
    ids=["level 0", "no level", "level 7", "type", "type before level", "calls", "token"],
)
def test_why_a_bind_is_refused(verifier: Verifier, nak: Nak) -> None:
    logins = made()
    assert refusal(lambda: logins.begin(verifier))[0] is nak
    assert logins.of_request(None) is None


@pytest.mark.parametrize(
    ("verifier", "status"),
    [
        (PROOF._replace(kind=NTLM), FaultStatus.SECURITY_ERROR),
        (PROOF._replace(level=Protection.PRIVACY), FaultStatus.ACCESS_DENIED),
        (PROOF._replace(token=b"proof of nobody"), FaultStatus.SECURITY_ERROR),
        (HELLO._replace(number=2), FaultStatus.PROTOCOL),
    ],
    ids=["type", "level", "proof", "another context before the end of the first"],
)
def test_why_the_next_leg_is_refused(verifier: Verifier, status: FaultStatus) -> None:
    logins = made()
    logins.begin(HELLO)
    assert refusal(lambda: logins.go_on(verifier))[1] is status


def test_a_context_is_built_once() -> None:
    assert refusal(lambda: complete().go_on(HELLO))[1] is FaultStatus.ACCESS_DENIED


def test_a_level_that_was_not_negotiated_is_refused() -> None:
    logins = made(weak)
    logins.begin(HELLO._replace(level=Protection.PRIVACY))
    proof = PROOF._replace(level=Protection.PRIVACY)
    assert refusal(lambda: logins.go_on(proof))[1] is FaultStatus.SECURITY_ERROR


def test_a_level_that_was_not_negotiated_is_refused_after_three_legs() -> None:
    logins = made(lambda _: PretendedServer(3, strongest=Protection.INTEGRITY))
    first = HELLO._replace(kind=NTLM, level=Protection.PRIVACY)
    logins.begin(first)
    logins.finish(first._replace(token=b"proof of anna"))
    assert refusal(lambda: logins.of_request(first))[1] is FaultStatus.ACCESS_DENIED


def test_a_connection_may_have_several_contexts_up_to_its_limit() -> None:
    logins = made(limit=2)
    for number in (1, 2):
        logins.go_on(HELLO._replace(number=number))
        logins.go_on(PROOF._replace(number=number))
    assert refusal(lambda: logins.go_on(HELLO._replace(number=3)))[1] is FaultStatus.PROTOCOL
    assert logins.of_request(HELLO._replace(number=2)) is not logins.of_request(HELLO)
    assert logins.of_request(None) is None


@pytest.mark.parametrize(
    "verifier",
    [HELLO._replace(number=9), HELLO._replace(kind=NTLM), HELLO._replace(level=Protection.CONNECT), None],
    ids=["number", "type", "level", "no token"],
)
def test_a_call_names_the_context_that_was_built(verifier: Verifier | None) -> None:
    logins = complete()
    assert refusal(lambda: logins.of_request(verifier))[1] is FaultStatus.ACCESS_DENIED


def test_calls_without_a_token_belong_to_a_context_of_the_level_connect() -> None:
    logins = complete(HELLO._replace(level=Protection.CONNECT))
    guard = logins.of_request(None)
    assert guard is not None
    assert guard.context.user == "anna"


@pytest.mark.parametrize(("level", "found"), [(Protection.CONNECT, True), (Protection.PACKET, False)])
def test_after_an_anonymous_bind_the_only_context_counts_if_its_level_is_connect(
    level: Protection, found: bool
) -> None:
    logins = made()
    logins.go_on(HELLO._replace(level=level))
    logins.go_on(PROOF._replace(level=level))
    assert (logins.of_request(None) is not None) is found
