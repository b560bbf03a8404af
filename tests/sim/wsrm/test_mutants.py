"""The checkers detect WS-RM that is broken on purpose, within a few dozen seeds."""

from __future__ import annotations

from dataclasses import replace as replace_settings
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from reliquary.base.time import MILLISECOND, Duration
from reliquary.base.turn import Reply
from reliquary.engine.core import Batch
from reliquary.protocols.wsrm.destination import acknowledging, flow_control, recovery
from reliquary.protocols.wsrm.destination import messages as destination_messages
from reliquary.protocols.wsrm.destination.state import Sequence
from reliquary.protocols.wsrm.effects import Post
from reliquary.protocols.wsrm.events import PostAnswer
from reliquary.protocols.wsrm.source import sending
from reliquary.sim.process import Process
from reliquary.sim.world.run import simulate
from reliquary.sim.wsrm import drawing
from reliquary.sim.wsrm.plugin import WsrmPlugin
from tests.sim.seeds import find_failure

SEEDS = range(1, 41)


def first_failure(process: type[Process] = Process, seeds: range = SEEDS) -> str:
    """Return what the checkers say about the first seed in which they find something."""
    return find_failure(partial(simulate, plugins=[WsrmPlugin], process=process), seeds, "wsrm")


# -- the order of the world


class Hasty(Process):
    """Lets something leave before the disk has it."""

    early: type = object

    def is_early(self, effect: object) -> bool:
        shown = effect.answer if isinstance(effect, Reply) else effect
        return isinstance(shown, self.early)

    def _settle(self, batch: Batch) -> None:
        early = [effect for effect in batch.after_sync if self.is_early(effect)]
        batch.after_sync = [effect for effect in batch.after_sync if not self.is_early(effect)]
        self._perform(early)
        super()._settle(batch)


class AnswersEarly(Hasty):
    """Answers before it has written down what it acknowledges."""

    early = PostAnswer


class PostsEarly(Hasty):
    """Sends messages before their numbers are on disk."""

    early = Post


@pytest.mark.parametrize("process", [AnswersEarly, PostsEarly])
def test_nothing_leaves_before_it_is_on_disk(process: type[Process]) -> None:
    assert first_failure(process).startswith("visible too early")


# -- the destination


def test_an_acknowledgement_that_takes_something_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = acknowledging.acknowledgement

    def forgets(state: Any, number: int) -> Any:
        said = real(state, number)
        return replace(said, ranges=said.ranges[1:]) if len(said.ranges) > 1 else said

    monkeypatch.setattr(acknowledging, "acknowledgement", forgets)
    assert "takes it back" in first_failure()


def test_an_acknowledgement_of_what_never_came_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = acknowledging.acknowledgement

    def boasts(state: Any, number: int) -> Any:
        said = real(state, number)
        return replace(said, ranges=((1, said.ranges[-1][1] + 1),)) if said.ranges else said

    monkeypatch.setattr(acknowledging, "acknowledgement", boasts)
    assert "never received it" in first_failure()


def test_a_promise_of_room_that_is_not_there_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_control, "room_for", lambda _, sequence: sequence.settings.window)
    assert first_failure().startswith("room: ")


def test_a_message_beyond_the_window_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(destination_messages, "takes", lambda *_: True)
    assert first_failure().startswith("window: ")


def test_a_sequence_that_changed_in_a_restart_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = recovery.recover

    def forgets(state: Any) -> None:
        real(state)
        for sequence in state.destination.sequences.values():
            sequence.buffered.clear()

    monkeypatch.setattr(recovery, "recover", forgets)
    assert "recovery: buffered of wsrm" in first_failure()


def test_messages_that_are_delivered_before_those_before_them_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Sequence, "keeps_order", False)
    assert first_failure().startswith("order: ")


def test_a_destination_that_forgets_its_sequences_takes_messages_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A source whose sequence was forgotten sends again what it has no acknowledgement for."""
    real = drawing._settings

    def forgetful(*given: Any, **more: Any) -> Any:
        span = Duration(150 * MILLISECOND)
        return replace_settings(real(*given, **more), inactivity=span, remembered=Duration(MILLISECOND))

    monkeypatch.setattr(drawing, "_settings", forgetful)
    assert first_failure().startswith("duplication: ")


# -- the source


def test_a_source_that_sends_more_than_it_may_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "limit_of", lambda *_: 1000)
    assert first_failure().startswith("window: ")
