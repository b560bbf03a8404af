"""Tests roles: what each may do on every queue, and that an access list can take it back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reliquary.queueing.model.security.principals import ANONYMOUS_USER, EVERYONE
from reliquary.queueing.model.security.rights import (
    MANAGER_LIST,
    ManagerRight,
    QueueRight,
    default_descriptor,
    granted,
)
from reliquary.queueing.model.security.roles import NO_ROLE, RIGHTS, Role, rights_of_role
from reliquary.queueing.rules.permission import NEEDED, Act, QueueKind
from reliquary.wire.security import Ace, AceKind, SecurityDescriptor, encode_descriptor
from tests.queueing.security.users import ALICE, BOB

OF_BOB = encode_descriptor(default_descriptor(None, BOB.user))
"""The list of a queue that bob made: everyone may look at its settings."""
LOOK = {Act.SHOW, Act.SHOW_ACCESS}


def may(role: Role | None, place: QueueKind) -> set[Act]:
    """Return all that alice may do in this role with a queue of bob, or with a queue of the manager."""
    rights = rights_of_role(role)
    alice = replace(ALICE, on_queues=rights.on_queues, on_manager=rights.on_manager)
    found = set()
    for act, needed in NEEDED[place].items():
        on_queue = isinstance(needed, QueueRight)
        security, mask = (OF_BOB, alice.on_queues) if on_queue else (MANAGER_LIST, alice.on_manager)
        if not needed.value & ~granted(security, alice, mask):
            found.add(act)
    return found


@pytest.mark.parametrize(
    ("role", "more"),
    [
        (None, set()),
        (Role.READER, {Act.PEEK}),
        (Role.SENDER, {Act.SEND}),
        (Role.RECEIVER, {Act.PEEK, Act.RECEIVE, Act.PURGE}),
        (Role.OPERATOR, set(Act) - {Act.CHANGE_ACCESS, Act.OWN}),
        (Role.ADMINISTRATOR, set(Act)),
    ],
)
def test_a_role_counts_for_every_queue(role: Role | None, more: set[Act]) -> None:
    assert may(role, QueueKind.QUEUE) == LOOK | more


@pytest.mark.parametrize(
    ("role", "more"),
    [
        (None, set()),
        (Role.READER, {Act.PEEK}),
        (Role.SENDER, set()),
        (Role.RECEIVER, set()),
        (Role.OPERATOR, set(Act) - {Act.CHANGE_ACCESS, Act.OWN}),
        (Role.ADMINISTRATOR, set(Act)),
    ],
)
def test_a_role_counts_for_dead_letters(role: Role | None, more: set[Act]) -> None:
    assert may(role, QueueKind.DEAD_LETTERS) == LOOK | more


def test_every_role_has_rights_and_no_unknown_bit() -> None:
    assert set(RIGHTS) == set(Role)
    assert rights_of_role(None) is NO_ROLE
    for rights in RIGHTS.values():
        assert not rights.on_queues & ~int(QueueRight.GENERIC_ALL)
        assert not rights.on_manager & ~int(ManagerRight.GENERIC_ALL)


@pytest.mark.parametrize("sid", [ALICE.user, EVERYONE])
def test_an_entry_that_denies_wins_over_a_role(sid: object) -> None:
    write, peek = int(QueueRight.WRITE_MESSAGE), int(QueueRight.PEEK_MESSAGE)
    entry = Ace(AceKind.DENIED, write, sid)  # type: ignore[arg-type]
    security = encode_descriptor(SecurityDescriptor(owner=ANONYMOUS_USER, dacl=(entry,)))
    assert granted(security, ALICE, write | peek) == peek
