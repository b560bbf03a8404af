"""Tests what the source does after its store was restored from a backup."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.restoration import Restoration
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import CloseSequence, Dialect, TerminateSequence, Version
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.restoring import known_part
from reliquary.protocols.wsrm.source.state import Sequence
from reliquary.protocols.wsrm.source.tables import Outbound
from reliquary.queueing.rules.era import NOT_KNOWN
from tests.protocols.wsrm.source.source_bench import FIRST, SourceBench, closed, terminated
from tests.queueing.state_checks import walk

DEAD = "system$;deadletter"
SECOND = "urn:second"


def backed_up(*words: str, version: Version = Version.RM11) -> SourceBench:
    """Return a source that has sent a first message, which was acknowledged, and these, which were not."""
    peers = (PeerSettings(address="*", dialect=Dialect(version=version)),)
    bench = SourceBench(settings=WsrmSettings(peers=peers))
    bench.put("first")
    bench.open()
    bench.acknowledge((1, 1))
    bench.put(*words)
    bench.forget()
    return bench


def restore(bench: SourceBench) -> None:
    """Begin another process on the rows, as on those of a backup."""
    bench.restoration = Restoration(UUID(int=9))
    bench.restart()
    bench.restoration = None


def again(bench: SourceBench) -> None:
    """Begin another process, and look only at what it sends."""
    bench.forget()
    bench.restart()


def dead(bench: SourceBench) -> list[str]:
    assert all(each.reason is NOT_KNOWN for each in walk(bench.queue(DEAD)))
    return [body.decode()[3:-4] for body in bench.bodies(DEAD)]


def test_what_has_a_number_goes_again_under_it_and_new_messages_wait_for_the_next_sequence() -> None:
    bench = backed_up("a", "b")
    restore(bench)
    bench.put("new")
    assert (bench.numbers, bench.words) == ([2], ["a"])
    bench.acknowledge((1, 2))
    assert (bench.numbers, bench.words) == ([3], ["b"])
    bench.acknowledge((1, 3))
    [post] = bench.take()
    assert bench.read(post).body == CloseSequence(FIRST, 0)
    bench.answer(post, closed(post, bench, (1, 3)))
    [post] = [each for each in bench.take() if isinstance(bench.read(each).body, TerminateSequence)]
    bench.answer(post, terminated(post, bench))
    assert dead(bench) == []


def test_the_numbers_of_a_peer_count_that_has_more_than_we_remember() -> None:
    bench = backed_up("a", "b")
    restore(bench)
    bench.acknowledge((1, 7))
    assert bench.waiting() == 0
    assert dead(bench) == []


def test_a_peer_that_lost_the_sequence_leaves_messages_with_unknown_outcome() -> None:
    bench = backed_up("a", "b")
    restore(bench)
    bench.put("new")
    first, *_ = bench.take()
    bench.fault(first, FaultCode.UNKNOWN_SEQUENCE)
    assert dead(bench) == ["a", "b"]
    bench.advance(60)
    bench.open(SECOND)
    assert (bench.numbers, bench.words) == ([1], ["new"])


def test_what_the_last_acknowledgement_lacks_is_not_sent_in_another_sequence() -> None:
    bench = backed_up("a", "b")
    restore(bench)
    for post in bench.take():
        bench.answer(post, bench.acknowledgement((1, 2), final=True))
        break
    assert dead(bench) == ["b"]


def test_a_message_without_a_number_may_have_been_sent_after_the_backup() -> None:
    bench = SourceBench()
    bench.put("a")
    restore(bench)
    assert dead(bench) == ["a"]
    bench.forget()
    bench.put("new")
    bench.open()
    assert bench.words == ["new"]


def test_a_sequence_that_was_being_created_is_forgotten() -> None:
    bench = SourceBench()
    bench.put("a")
    [before] = bench.sent()
    restore(bench)
    bench.forget()
    bench.put("new")
    [after] = bench.sent()
    assert after.message_id != before.message_id


def test_the_mark_outlives_another_restart() -> None:
    bench = backed_up("a")
    restore(bench)
    again(bench)
    assert bench.sequence.row.restored
    bench.put("new")
    assert bench.words == ["a"]


def test_ws_rm_1_0_sends_no_last_message_whose_number_may_be_taken() -> None:
    bench = backed_up("a", version=Version.RM10)
    restore(bench)
    bench.acknowledge((1, 5))
    assert [each.sequence for each in bench.sent() if each.sequence is not None] == []


@pytest.mark.parametrize(
    ("restored", "expected"),
    [(False, ((1, 2), (4, 9), (11, 12))), (True, ((1, 2), (4, 5)))],
)
def test_only_a_restored_sequence_cuts_what_the_peer_says(
    restored: bool, expected: tuple[tuple[int, int], ...]
) -> None:
    sequence = Sequence(Outbound(1, Dialect(), last=5, restored=restored))
    assert known_part(sequence, ((1, 2), (4, 9), (11, 12))) == expected
