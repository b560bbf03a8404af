"""Tests two managers of which one is restored from a backup: what arrives afterwards, once and in order."""

from __future__ import annotations

from copy import deepcopy
from uuid import UUID

import pytest

from reliquary.base.restoration import Restoration
from reliquary.protocols.srmp.receiver.resuming import RESUMED
from reliquary.protocols.srmp.state import Count
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.store.memory import MemoryDisk
from reliquary.streams.closing import NOT_CONFIRMED
from tests.protocols.srmp.test_conversation import Network, Talker, is_receipt
from tests.queueing.state_checks import check, walk

DEAD_STREAM = "system$;deadxact"


def backup(talker: Talker) -> MemoryDisk:
    """Return all that is on disk now."""
    talker.flush()
    return deepcopy(talker.disk)


def restore(talker: Talker, disk: MemoryDisk, number: int = 1) -> None:
    """Start again on a backup; the manager is notified that it was restored for the `number`th time."""
    talker.out.clear()
    talker.timers.clear()
    talker.disk = disk
    talker.rows.take()
    talker.restoration = Restoration(UUID(int=number))
    talker.restart(crash=True)
    talker.restoration = None


def ten(prefix: str) -> list[bytes]:
    return [f"{prefix}{number}".encode() for number in range(10)]


def dead(talker: Talker) -> list[bytes]:
    """Dead letters whose delivery is not known."""
    positions = walk(talker.queue(DEAD_STREAM))
    assert {position.reason for position in positions} <= {NOT_KNOWN}
    return talker.bodies(DEAD_STREAM)


def numbers_given(talker: Talker) -> int:
    """Return how many messages of its one stream have a number."""
    (sent,) = talker.srmp.state.sent.values()
    return sent.stream.last


# -- the sender is restored


@pytest.mark.parametrize("settled", [True, False])
def test_what_a_restored_sender_sends_arrives_once_and_in_order(settled: bool) -> None:
    net = Network()
    net.alpha.commit(*ten("a"))
    net.carry(2 if settled else 0)
    saved = backup(net.alpha)
    net.alpha.commit(*ten("b"))
    net.carry(2)
    restore(net.alpha, saved)
    net.alpha.commit(*ten("c"))
    net.carry(60)
    assert net.beta.bodies("torders") == ten("a") + ten("b") + ten("c")
    assert (net.alpha.waiting, dead(net.alpha)) == (0, [])
    check(net.alpha.state)
    check(net.beta.state)


def test_messages_without_a_number_are_dead_letters_after_a_restore() -> None:
    net = Network(in_flight=5)
    net.alpha.commit(*[b"%d" % number for number in range(25)])
    saved = backup(net.alpha)
    numbered = [b"%d" % number for number in range(numbers_given(net.alpha))]
    assert 0 < len(numbered) < 25
    net.carry(2)
    everything = net.beta.bodies("torders")
    restore(net.alpha, saved)
    net.alpha.commit(*ten("b"))
    net.carry(60)
    assert net.beta.bodies("torders") == everything + ten("b")
    assert dead(net.alpha) == everything[len(numbered) :]
    assert NOT_CONFIRMED in [each.what for each in net.alpha.warnings]
    check(net.alpha.state)


def test_a_plain_message_goes_again_and_is_known() -> None:
    net = Network()
    net.alpha.send("DIRECT=http://beta.example/msmq/private$/orders", b"plain")
    saved = backup(net.alpha)
    net.carry(1)
    restore(net.alpha, saved)
    net.carry(30)
    assert (net.beta.bodies("orders"), net.alpha.waiting) == ([b"plain"], 0)


def test_numbers_of_a_stream_that_its_receiver_has_forgotten_for_a_later_one_are_dead_letters() -> None:
    net = Network()
    net.alpha.commit(*ten("a"))
    saved = backup(net.alpha)
    net.carry(2)
    net.alpha.commit(*ten("b"))  # a second stream
    net.carry(2)
    restore(net.alpha, saved)
    net.alpha.commit(*ten("c"))
    net.carry(200)
    assert net.beta.bodies("torders") == ten("a") + ten("b") + ten("c")
    assert (net.alpha.waiting, dead(net.alpha)) == (0, ten("a"))
    check(net.alpha.state)


def test_what_waits_for_its_final_receipt_holds_nothing_up() -> None:
    net = Network()
    net.alpha.commit(*ten("a"), negative_journaling=True)
    net.carry(2)
    saved = backup(net.alpha)
    assert net.alpha.waiting == 10
    restore(net.alpha, saved)
    net.carry(30)
    assert net.alpha.waiting == 10
    net.alpha.commit(*ten("b"))
    net.carry(30)
    assert net.beta.bodies("torders") == ten("a") + ten("b")
    assert (net.alpha.waiting, dead(net.alpha)) == (0, ten("a"))


def test_new_messages_wait_until_the_old_stream_is_confirmed_also_if_final_receipts_are_missing() -> None:
    net = Network()
    net.lose = is_receipt
    net.alpha.commit(*ten("a"), negative_journaling=True)
    net.carry(2)
    restore(net.alpha, backup(net.alpha))
    net.alpha.commit(*ten("b"))
    net.carry(2)
    assert net.beta.bodies("torders") == ten("a")
    net.lose = lambda _: False
    net.carry(60)
    assert net.beta.bodies("torders") == ten("a") + ten("b")
    assert (net.alpha.waiting, dead(net.alpha)) == (0, ten("a"))


def test_a_closed_stream_whose_start_expires_is_not_numbered_anew() -> None:
    net = Network()
    net.alpha.commit(b"1", time_to_reach_queue=50)
    net.alpha.commit(b"2", b"3")
    saved = backup(net.alpha)
    net.carry(2)
    restore(net.alpha, saved)
    net.lose = lambda _: True
    net.carry(60)
    net.lose = lambda _: False
    net.alpha.commit(b"4")
    net.carry(60)
    assert net.beta.bodies("torders") == [b"1", b"2", b"3", b"4"]
    assert dead(net.alpha) == [b"2", b"3"]


def test_the_marks_outlive_a_restart() -> None:
    net = Network()
    net.alpha.commit(*ten("a"))
    saved = backup(net.alpha)
    net.carry(0)
    net.alpha.commit(*ten("b"))
    net.carry(2)
    restore(net.alpha, saved)
    net.alpha.restart()
    net.alpha.commit(*ten("c"))
    net.carry(60)
    assert net.beta.bodies("torders") == ten("a") + ten("b") + ten("c")


# -- the receiver is restored


@pytest.mark.parametrize("known", ["stream", "sender", "nothing"])
@pytest.mark.spec("SR-069")
def test_the_rest_of_a_stream_reaches_a_restored_receiver(known: str) -> None:
    net = Network()
    saved = backup(net.beta)
    net.alpha.commit(b"final", negative_journaling=True)  # it keeps the stream open
    if known == "sender":
        net.carry(2)
        saved = backup(net.beta)
        net.alpha.restart()
    net.alpha.commit(*ten("a"))
    net.carry(2)
    if known == "stream":
        saved = backup(net.beta)
    net.alpha.commit(*ten("b"))
    net.carry(2)
    restore(net.beta, saved)
    net.carry(2)
    net.alpha.commit(*ten("c"))
    net.carry(120)
    before = {"stream": [b"final", *ten("a")], "sender": [b"final"], "nothing": []}[known]
    assert net.beta.bodies("torders") == before + ten("c")
    assert dead(net.beta) == []
    assert net.beta.srmp.state.counts[Count.GAPS_CLOSED] == 1
    assert [each.what for each in net.beta.warnings if each.what == RESUMED] == [RESUMED]
    assert net.alpha.waiting == 1
    net.alpha.commit(*ten("d"))
    net.carry(2)
    assert net.beta.bodies("torders") == before + ten("c") + ten("d")
    check(net.beta.state)


def test_what_was_sent_before_the_restore_and_not_confirmed_is_a_dead_letter_there() -> None:
    net = Network()
    net.alpha.commit(b"final", negative_journaling=True)
    net.carry(2)
    saved = backup(net.beta)
    net.alpha.commit(*ten("a"))
    net.carry(2)
    net.lose = is_receipt
    net.alpha.commit(*ten("b"))
    net.carry(2)
    restore(net.beta, saved)
    net.lose = lambda _: False
    net.carry(2)
    net.alpha.commit(*ten("c"))
    net.carry(120)
    assert net.beta.bodies("torders") == [b"final", *ten("c")]
    assert dead(net.beta) == ten("b")
    assert net.alpha.waiting == 1
