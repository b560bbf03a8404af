"""Wrong proofs of NTLM are counted by address and by user, and logged; right ones are taken."""

from __future__ import annotations

import pytest

from reliquary.net.identity.failures import AT_ONCE, LONGEST_WAIT, PACE, Failures, key_of_user
from reliquary.net.rpc.guesses import Guesses
from reliquary.protocols.rpc.security import SecurityRefused

SECOND = 10**6
HASH = "8846f7eaee8fb117ad06bdd830b7586c"
WRONG = ""


class Client:
    """A client at an address; `waits` has the seconds for which its answers were delayed."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.waits: list[float] = []

    def slow_down(self, wait: float) -> None:
        self.waits.append(wait)


def guesses() -> tuple[Guesses, Failures, list[tuple[str, str]]]:
    """Return guesses at a time that stands still, what they count in, and what they log."""
    failures, logged = Failures(lambda: 10**9), list[tuple[str, str]]()
    return Guesses(failures, lambda peer, why: logged.append((peer, why))), failures, logged


def guess_until_refused(judged: Guesses, client: Client) -> None:
    with pytest.raises(SecurityRefused, match="too many wrong"):  # noqa: PT012 - the last of the guesses
        while True:
            judged.judge(client, "alice", WRONG)


def test_the_first_wrong_proofs_are_answered_at_once_and_each_is_logged_without_a_name() -> None:
    judged, _, logged = guesses()
    client = Client("10.0.0.1")
    for _ in range(AT_ONCE + 2):
        judged.judge(client, "alice", WRONG)
    assert client.waits == [0] * AT_ONCE + [PACE / SECOND, 2 * PACE / SECOND]
    assert logged[-1] == ("10.0.0.1", "the name and the password that NTLM proves belong to no user")
    assert len(logged) == AT_ONCE + 2


def test_proofs_are_refused_unseen_once_answers_would_wait_for_too_long() -> None:
    judged, _, logged = guesses()
    client = Client("10.0.0.1")
    guess_until_refused(judged, client)
    assert max(client.waits) == LONGEST_WAIT / SECOND
    before = len(logged)
    with pytest.raises(SecurityRefused, match="too many wrong"):
        judged.judge(client, "carol", HASH)  # right, but it is new at this address
    assert len(logged) == before


def test_guesses_at_one_user_from_many_addresses_are_slow_too() -> None:
    judged, failures, _ = guesses()
    clients = [Client(f"10.0.0.{number}") for number in range(AT_ONCE + 1)]
    for client in clients:
        judged.judge(client, "Alice", WRONG)
    assert [client.waits for client in clients] == [[0]] * AT_ONCE + [[PACE / SECOND]]
    assert failures.failed(key_of_user("alice")) > 0  # passwords over HTTP wait as well


def test_a_proof_that_was_right_at_an_address_is_taken_there_while_others_guess() -> None:
    judged, _, _ = guesses()
    here, there = Client("10.0.0.1"), Client("10.0.0.2")
    judged.judge(here, "alice", HASH)
    guess_until_refused(judged, there)
    judged.judge(here, "ALICE", HASH)
    assert here.waits == []
