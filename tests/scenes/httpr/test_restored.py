"""Tests stores that are restored from a backup, on either side of a channel: all losses are reported.

What cannot be known is in a dead-letter queue with the reason.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reliquary.protocols.httpr.settings import PROPOSED, Peer
from reliquary.queueing.rules.era import NOT_KNOWN
from tests.queueing.state_checks import walk
from tests.scenes.httpr.harness import Side, settings
from tests.scenes.httpr.network import Network

ALPHA, BETA = "alpha.example", "beta.example"
AT_BETA = f"httpr://{BETA}/httpr/mq"
TO_ALPHA = f"DIRECT=HTTPR://{ALPHA}/httpr/mq#incoming"
TO_BETA = f"DIRECT=HTTPR://{BETA}/httpr/mq#incoming"
DEAD = "system$;deadletter"
MARKED = pytest.mark.parametrize("marked", [True, False], ids=["marked", "an unmarked copy"])
SESSIONS = pytest.mark.parametrize("sessions", [True, False], ids=["session", "sessionless"])


def two_sides(*, pull: bool = False, sessions: bool = True) -> tuple[Side, Side, Network]:
    """Return two sides: alpha drives a channel to beta, with at most two messages in a batch."""
    peer = Peer(responder=AT_BETA, pull=pull, sessions=sessions, into="incoming" if pull else "")
    small = replace(PROPOSED, maximum_batch_size=2, maximum_pipeline_depth=1)
    alpha = Side(ALPHA, chosen=settings(peer, proposed=small))
    beta = Side(BETA)
    return alpha, beta, Network(alpha, beta)


def send(network: Network, side: Side, to: str, *bodies: bytes) -> None:
    """Send messages one by one, a second apart, so that their times differ."""
    for body in bodies:
        side.send(to, body)
        network.advance(1)


def named(word: str, count: int) -> list[bytes]:
    return [b"%s %d" % (word.encode(), number) for number in range(count)]


def in_doubt(side: Side) -> list[int]:
    return [batch for row in side.httpr.state.channels.values() for batch in row.in_doubt]


def always(lines: list[str]) -> bool:
    """Return true: every request is dropped."""
    del lines
    return True


def never(lines: list[str]) -> bool:
    """Return false: no request is dropped."""
    del lines
    return False


def dead(side: Side) -> list[bytes]:
    """Return the bodies of dead letters; all of them have the reason."""
    kept = walk(side.queue(DEAD))
    assert {position.reason for position in kept} <= {NOT_KNOWN}
    return [side.state.messages.get(position).body for position in kept]


def warnings(side: Side) -> set[str]:
    return {warning.what for warning in side.warnings}


# -- the source


@MARKED
@SESSIONS
def test_the_side_that_is_pulled_from_gives_no_id_twice(marked: bool, sessions: bool) -> None:
    alpha, beta, network = two_sides(pull=True, sessions=sessions)
    send(network, beta, TO_ALPHA, *named("before", 4))
    saved = beta.backup()
    send(network, beta, TO_ALPHA, *named("lost", 8))
    network.restore(beta, saved, marked=marked)
    new = named("new", 8)
    send(network, beta, TO_ALPHA, *new)
    network.advance(60)
    assert alpha.bodies("incoming") == named("before", 4) + named("lost", 8) + new
    assert dead(beta) == []
    assert "an older copy of the store is in use" in warnings(beta)


@MARKED
@SESSIONS
def test_the_side_that_pushes_gives_no_id_twice(marked: bool, sessions: bool) -> None:
    alpha, beta, network = two_sides(sessions=sessions)
    send(network, alpha, TO_BETA, *named("before", 4))
    saved = alpha.backup()
    send(network, alpha, TO_BETA, *named("lost", 8))
    network.restore(alpha, saved, marked=marked)
    new = named("new", 8)
    send(network, alpha, TO_BETA, *new)
    network.advance(60)
    assert beta.bodies("incoming") == named("before", 4) + named("lost", 8) + new
    assert dead(alpha) == []
    assert "an older copy of the store is in use" in warnings(alpha)


@SESSIONS
def test_what_waited_at_the_backup_and_may_have_gone_since_is_a_dead_letter(sessions: bool) -> None:
    alpha, beta, network = two_sides(sessions=sessions)
    send(network, alpha, TO_BETA, b"first")
    network.loses_request = always
    send(network, alpha, TO_BETA, *named("old", 3))
    saved = alpha.backup()
    network.loses_request = never
    network.advance(60)
    assert beta.bodies("incoming") == [b"first", *named("old", 3)]
    network.restore(alpha, saved)
    send(network, alpha, TO_BETA, b"new")
    network.advance(60)
    assert beta.bodies("incoming") == [b"first", *named("old", 3), b"new"]
    assert dead(alpha) == named("old", 3)
    assert "it is not known whether messages arrived before the restore" in warnings(alpha)


@SESSIONS
def test_what_waited_goes_when_the_peer_shows_that_nothing_went_since(sessions: bool) -> None:
    alpha, beta, network = two_sides(sessions=sessions)
    send(network, alpha, TO_BETA, b"first")
    network.loses_request = always
    send(network, alpha, TO_BETA, *named("old", 3))
    saved = alpha.backup()
    network.restore(alpha, saved)
    network.loses_request = never
    send(network, alpha, TO_BETA, b"new")
    network.advance(60)
    assert beta.bodies("incoming") == [b"first", *named("old", 3), b"new"]
    assert dead(alpha) == []


@MARKED
@SESSIONS
def test_a_batch_in_doubt_at_the_backup_goes_once(marked: bool, sessions: bool) -> None:
    """The peer has received it, and later ones as well."""
    alpha, beta, network = two_sides(sessions=sessions)
    send(network, alpha, TO_BETA, b"first")
    network.loses_answer = always
    send(network, alpha, TO_BETA, b"in doubt")
    saved = alpha.backup()
    assert in_doubt(alpha) == [2]
    network.loses_answer = never
    network.advance(10)
    send(network, alpha, TO_BETA, *named("lost", 3))
    network.restore(alpha, saved, marked=marked)
    send(network, alpha, TO_BETA, b"new")
    network.advance(60)
    assert beta.bodies("incoming") == [b"first", b"in doubt", *named("lost", 3), b"new"]
    assert dead(alpha) == [b"in doubt"]
    assert "it is not known whether batches arrived before the restore" in warnings(alpha)


@MARKED
@SESSIONS
def test_a_batch_in_doubt_at_the_backup_is_settled_if_the_peer_names_it(marked: bool, sessions: bool) -> None:
    alpha, beta, network = two_sides(sessions=sessions)
    send(network, alpha, TO_BETA, b"first")
    network.loses_answer = always
    send(network, alpha, TO_BETA, b"in doubt")
    saved = alpha.backup()
    network.loses_answer = never
    network.advance(10)
    network.restore(alpha, saved, marked=marked)
    send(network, alpha, TO_BETA, b"new")
    network.advance(60)
    assert beta.bodies("incoming") == [b"first", b"in doubt", b"new"]
    assert dead(alpha) == []


@MARKED
def test_a_fetched_batch_in_doubt_at_the_backup_goes_once(marked: bool) -> None:
    alpha, beta, network = two_sides(pull=True)
    network.advance(1)
    network.loses_answer = always
    send(network, beta, TO_ALPHA, b"in doubt")
    saved = beta.backup()
    assert in_doubt(beta) == [1]
    network.loses_answer = never
    network.advance(10)
    send(network, beta, TO_ALPHA, *named("lost", 3))
    network.restore(beta, saved, marked=marked)
    send(network, beta, TO_ALPHA, b"new")
    network.advance(60)
    assert alpha.bodies("incoming") == [b"in doubt", *named("lost", 3), b"new"]
    assert dead(beta) == [b"in doubt"]


# -- the sink


@SESSIONS
def test_a_sink_that_was_restored_does_not_get_a_batch_in_doubt_twice(sessions: bool) -> None:
    alpha, beta, network = two_sides(sessions=sessions)
    send(network, alpha, TO_BETA, b"first")
    saved = beta.backup()
    send(network, alpha, TO_BETA, b"lost")
    network.loses_answer = always
    send(network, alpha, TO_BETA, b"in doubt")
    network.loses_answer = never
    network.restore(beta, saved)
    network.advance(2)
    send(network, alpha, TO_BETA, *named("new", 3))
    network.advance(60)
    assert beta.bodies("incoming") == [b"first", *named("new", 3)]
    assert dead(beta) == [b"in doubt"]
    assert dead(alpha) == []


@SESSIONS
def test_a_fetching_sink_that_was_restored_does_not_get_a_batch_in_doubt_twice(sessions: bool) -> None:
    alpha, beta, network = two_sides(pull=True, sessions=sessions)
    send(network, beta, TO_ALPHA, b"first")
    saved = alpha.backup()
    send(network, beta, TO_ALPHA, b"lost")
    network.loses_request = always  # what alpha takes is not acknowledged any more
    send(network, beta, TO_ALPHA, b"in doubt")
    network.loses_request = never
    network.restore(alpha, saved)
    network.advance(2)
    send(network, beta, TO_ALPHA, *named("new", 3))
    network.advance(60)
    assert alpha.bodies("incoming") == [b"first", *named("new", 3)]
    assert set(dead(alpha)) <= {b"lost", b"in doubt"}
    assert dead(beta) == []
