"""Tests the sharing matrix of [MS-MQDMPR] 3.1.7.1.5, cell by cell, and what each access allows."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.descriptors import (
    ALLOWS,
    Descriptor,
    RemoteReadState,
    sharing_violated,
    violates,
)
from reliquary.queueing.model.events import Access, OpenQueue, Share
from tests.queueing.manager_harness import Bench

NONE, DENY = Share.DENY_NONE, Share.DENY_RECEIVE
RECEIVE = (Access.RECEIVE, Access.RECEIVE_ADMIN)  # AN-48
PEEK = (Access.PEEK, Access.PEEK_ADMIN)
OTHER = (Access.SEND, Access.MOVE)

# Rows: what is open.  Columns: what is asked for.  V: refused.
MATRIX = """
                 none/receive  none/peek  none/other  deny/receive  deny/peek  deny/other
deny/receive     V             .          .           V             V          V
deny/peek        V             .          .           V             .          .
none/receive     .             .          .           V             V          V
none/peek        .             .          .           .             .          .
none/other       .             .          .           .             .          .
deny/other       .             .          .           .             .          .
"""
KINDS = {"receive": RECEIVE, "peek": PEEK, "other": OTHER}
SHARES = {"none": NONE, "deny": DENY}


def modes(name: str) -> list[tuple[Share, Access]]:
    share, kind = name.split("/")
    return [(SHARES[share], access) for access in KINDS[kind]]


def cells() -> list[tuple[str, str, bool]]:
    head, *lines = MATRIX.strip().splitlines()
    found = []
    for line in lines:
        row, *marks = line.split()
        found += [(row, column, mark == "V") for column, mark in zip(head.split(), marks, strict=True)]
    return found


CELLS = cells()


def test_the_matrix_has_all_cells() -> None:
    every = [f"{share}/{kind}" for share, kind in product(SHARES, KINDS)]
    assert {(row, column) for row, column, _ in CELLS} == set(product(every, every))


@pytest.mark.spec("DM-175", "DM-176", "DM-177")
@pytest.mark.parametrize(
    ("opened", "asked", "refused"),
    [pytest.param(*cell, id=f"{cell[0]} open, {cell[1]} asked") for cell in CELLS],
)
def test_an_open_queue_excludes_what_the_matrix_says(opened: str, asked: str, refused: bool) -> None:
    """T16, every pair of access and share modes: opened, or a sharing violation."""
    for (share, access), (new_share, new_access) in product(modes(opened), modes(asked)):
        existing = Descriptor(1, 1, "orders", access, share)
        assert violates(existing, new_access, new_share) is refused


@pytest.mark.spec("DM-175", "DM-176", "DM-177", "DM-178")
@pytest.mark.parametrize(
    ("opened", "asked", "refused"),
    [pytest.param(*cell, id=f"{cell[0]} open, {cell[1]} asked") for cell in CELLS],
)
def test_the_manager_opens_by_the_matrix(opened: str, asked: str, refused: bool) -> None:
    for (share, access), (new_share, new_access) in product(modes(opened), modes(asked)):
        bench = Bench()
        assert bench.ask(OpenQueue(0, "orders", access, share)).status is HResult.OK
        answer = bench.ask(OpenQueue(0, "orders", new_access, new_share))
        assert answer.status is (HResult.SHARING_VIOLATION if refused else HResult.OK)
        assert len(bench.queue().readers.descriptors) == (1 if refused else 2)


def test_one_open_queue_among_many_is_enough_to_exclude() -> None:
    quiet = Descriptor(1, 1, "orders", Access.SEND)
    alone = Descriptor(2, 1, "orders", Access.RECEIVE, DENY)
    assert not sharing_violated([quiet, quiet], Access.RECEIVE, NONE)
    assert sharing_violated([quiet, alone, quiet], Access.RECEIVE, NONE)
    assert not sharing_violated([], Access.RECEIVE, DENY)


@pytest.mark.spec("DM-070")
def test_every_access_says_what_it_allows() -> None:
    assert set(ALLOWS) == set(Access)
    for access, allowed in ALLOWS.items():
        assert (Access.SEND in allowed) == (access is Access.SEND)
        assert (Access.MOVE in allowed) == (access is Access.MOVE)
        assert (Access.RECEIVE in allowed) == (access in {*RECEIVE, Access.MOVE})
        assert (Access.PEEK in allowed) == (access is not Access.SEND)


@pytest.mark.spec("DM-068", "DM-178")
def test_a_new_descriptor_remembers_its_modes_and_no_remote_read() -> None:
    """AN-16: a handle remembers its share mode, and that no remote read has begun."""
    descriptor = Descriptor(1, 7, "orders", Access.PEEK, DENY)
    assert (descriptor.access, descriptor.share) == (Access.PEEK, DENY)
    assert descriptor.remote_read_state is RemoteReadState.NONE
    assert {each.value for each in RemoteReadState} == {"none", "opened", "ready-for-read"}
