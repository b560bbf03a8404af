"""The checkers detect a manager that continues as before when its store was restored is found out."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from reliquary.protocols.httpr import machine as httpr_machine
from reliquary.protocols.httpr.client import push as httpr_push
from reliquary.protocols.httpr.server import pull as httpr_pull
from reliquary.protocols.srmp.sender import posting
from reliquary.protocols.wsrm.destination import ending as wsrm_ending
from reliquary.protocols.wsrm.source import restoring as wsrm_restoring
from reliquary.queueing.model.events import StartManager
from reliquary.queueing.model.queue import QueueManagerRecord
from reliquary.queueing.model.travel.transfer import EraBegan
from reliquary.queueing.rules import era, leave
from reliquary.queueing.travel import arrivals
from reliquary.sim import process, restores
from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.run import simulate
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.run import simulate as simulate_world
from reliquary.sim.wsrm.plugin import WsrmPlugin
from reliquary.streams import restoring
from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamClosed
from tests.sim.seeds import find_failure

SEEDS = range(restores.EVERY, 40 * restores.EVERY, restores.EVERY)
"""The seeds whose runs restore a backup."""


def first_failure(plugin: type[Plugin] | None = None) -> str:
    """Return what the checkers say about the first seed in which they find something."""
    if plugin is None:
        return find_failure(simulate, SEEDS)
    return find_failure(partial(simulate_world, plugins=[plugin]), SEEDS, plugin.name)


def nothing(*_: Any, **__: Any) -> None:
    """Return None for any arguments."""


# -- the manager


def test_numbers_that_go_on_from_the_backup_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(era, "_beginning", lambda sequence, now: sequence)
    failure = first_failure()
    assert "twice" in failure or failure.startswith(("identifiers", "feed")), failure


def test_numbers_of_another_restore_of_one_backup_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(era, "_beginning", lambda sequence, now: ((sequence >> 40) + 1) << 40)
    failure = first_failure()
    assert "twice" in failure or failure.startswith(("identifiers", "feed")), failure


def test_identifiers_of_the_lineage_before_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QueueManagerRecord, "lineage", property(lambda record: record.identifier))
    failure = first_failure()
    assert failure.startswith("era"), failure


def test_a_start_that_does_not_know_of_the_restore_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    start = lambda name, *, quota, restoration: StartManager(name, quota=quota)  # noqa: E731
    monkeypatch.setattr(process, "StartManager", start)
    failure = first_failure()
    assert failure.startswith("era"), failure


def test_a_message_that_cannot_have_come_and_is_put_aside_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "may_have_come", lambda state, message: state.identity().era is not None)
    failure = first_failure(HttprPlugin)
    assert failure.startswith("dead letter"), failure


def test_a_message_that_is_taken_and_not_put_aside_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "_put_aside", nothing)
    failure = first_failure(HttprPlugin)
    assert failure.startswith("loss"), failure


def test_a_message_of_unknown_outcome_that_is_no_dead_letter_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leave, "ALWAYS_KEPT", frozenset())
    failure = first_failure(WsrmPlugin)
    assert failure.startswith("loss"), failure


# -- carriers


def test_a_message_that_a_restored_receiver_takes_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "may_have_come", lambda *_: False)
    failure = first_failure(SrmpPlugin)
    assert failure.startswith("duplication"), failure


def test_a_stream_that_goes_on_after_a_restore_of_its_sender_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def apply_others(state: Any, fact: Any) -> None:
        if not isinstance(fact, StreamClosed):
            apply(state, fact)

    monkeypatch.setattr(restoring, "apply", apply_others)
    failure = first_failure(SrmpPlugin)
    assert failure.startswith("era"), failure


def test_messages_that_a_restored_sender_numbers_once_more_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "in_this_era", lambda *arguments: arguments[-1])
    failure = first_failure(SrmpPlugin)
    assert failure.startswith("era"), failure


def test_batch_ids_that_a_restored_agent_uses_again_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: dict[Any, Any] = httpr_machine._SIGNAL_RULES
    monkeypatch.setitem(outcomes, EraBegan, nothing)
    failure = first_failure(HttprPlugin)
    assert failure.startswith(("ids", "duplication")), failure


def test_batches_that_a_restored_agent_sends_again_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for agent in (httpr_push, httpr_pull):
        monkeypatch.setattr(agent, "may_be_there", lambda *_: False)
    failure = first_failure(HttprPlugin)
    assert failure.startswith("duplication"), failure


def test_sequences_that_a_restored_source_goes_on_with_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsrm_restoring, "on_era", nothing)
    failure = first_failure(WsrmPlugin)
    assert failure.startswith(("loss", "duplication", "era", "left behind", "number")), failure


def test_sequences_that_a_restored_destination_goes_on_with_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wsrm_ending, "on_era", nothing)
    first_failure(WsrmPlugin)
