"""Tests the tables of links and tasks."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.protocols.mqqp.client.phases import (
    LINKS,
    TASKS,
    LinkMove,
    LinkPhase,
    TaskMove,
    TaskPhase,
    moved_link,
    moved_task,
)


def test_the_tables_answer_every_case() -> None:
    assert set(LINKS) == set(product(LinkPhase, LinkMove))
    assert set(TASKS) == set(product(TaskPhase, TaskMove))


def test_every_phase_leads_to_the_end_and_the_end_nowhere() -> None:
    for link in LinkPhase:
        assert (LINKS[link, LinkMove.END] is LinkPhase.ENDED) is (link is not LinkPhase.ENDED)
    for task in TaskPhase:
        assert (TASKS[task, TaskMove.FINISHED] is TaskPhase.DONE) is (task is not TaskPhase.DONE)
    assert {LINKS[LinkPhase.ENDED, move] for move in LinkMove} == {None}
    assert {TASKS[TaskPhase.DONE, move] for move in TaskMove} == {None}


def test_a_link_never_goes_back() -> None:
    order = list(LinkPhase)
    for (phase, _), after in LINKS.items():
        assert after is None or order.index(after) > order.index(phase)


def test_a_task_that_was_abandoned_only_ends() -> None:
    following = {TASKS[TaskPhase.ABANDONED, move] for move in TaskMove}
    assert following == {TaskPhase.ABANDONED, TaskPhase.DONE, None}


def test_a_move_that_must_not_happen_is_our_error() -> None:
    assert moved_link(LinkPhase.OPEN, LinkMove.CLOSE) is LinkPhase.CLOSING
    with pytest.raises(AssertionError, match="a link that is open must not opened"):
        moved_link(LinkPhase.OPEN, LinkMove.OPENED)
    assert moved_task(TaskPhase.DROPPING, TaskMove.DROPPED) is TaskPhase.STARTED
    with pytest.raises(AssertionError, match="a task that is done must not gone"):
        moved_task(TaskPhase.DONE, TaskMove.GONE)
