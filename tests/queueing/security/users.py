"""Users, queues that grant them chosen rights, and checks of the rights that a request needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import BeginTransaction
from reliquary.queueing.model.security.principals import ADMINISTRATORS, Principal
from reliquary.queueing.model.security.rights import ManagerRight, QueueRight
from reliquary.wire.security import Ace, AceKind, SecurityDescriptor, encode_descriptor, parse_sid
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, durable

ALICE = Principal(parse_sid("S-1-5-21-1-2-3-1001"), name="alice")
BOB = Principal(parse_sid("S-1-5-21-1-2-3-1002"), name="bob")
ROOT = Principal(parse_sid("S-1-5-21-1-2-3-1000"), (ADMINISTRATORS,), "root")
ALL, ALL_OF_MANAGER = int(QueueRight.GENERIC_ALL), int(ManagerRight.GENERIC_ALL)
Make = Callable[[Bench], Any]
"""Makes the request that is checked."""


def listed(mask: int) -> bytes:
    """Return a descriptor that grants these rights to alice, and none to other users."""
    dacl = (Ace(AceKind.ALLOWED, mask, ALICE.user),) if mask else ()
    return encode_descriptor(SecurityDescriptor(owner=BOB.user, dacl=dacl))


def bench_with(queue: int = ALL, manager: int = ALL_OF_MANAGER, other: int = ALL) -> Bench:
    """Return a manager with queues on which alice has these rights."""
    bench = Bench("spare")
    bench.create("orders", security=listed(queue))
    bench.create("other", security=listed(other))
    bench.send("orders", b"one")
    record = msgspec.structs.replace(bench.state.identity(), security=listed(manager))
    bench.state.manager.record = record
    return bench


def begun(bench: Bench, by: Principal) -> UUID:
    """Return the identifier of a transaction that this user began."""
    transaction: UUID = bench.ask(BeginTransaction(0, by=by)).transaction
    return transaction


def check_allowed(make: Make, right: QueueRight) -> None:
    """Check that a user with this right alone on the queue may make the request."""
    bench = bench_with(int(right))
    answer = bench.ask(msgspec.structs.replace(make(bench), by=ALICE))
    assert answer.status is not HResult.ACCESS_DENIED, answer.why


def check_refused(make: Make, right: QueueRight, queue: str = "private$\\orders") -> None:
    """Check that a user with all other rights on the queue is refused, and that nothing changes."""
    for single in (each for each in QueueRight if each in right):
        bench = bench_with(ALL & ~single.value)
        before, turns = durable(bench.state), len(bench.turns)
        answer = bench.ask(msgspec.structs.replace(make(bench), by=ALICE))
        assert answer.status is HResult.ACCESS_DENIED
        assert answer.why == f"alice (S-1-5-21-1-2-3-1001) lacks the right {single.name} on {queue}"
        assert durable(bench.state) == before
        assert not any(turn.facts for turn in bench.turns[turns:])
        assert not bench.state.open.handles
        check(bench.state)


def check_manager_right(make: Make, right: ManagerRight) -> None:
    """Check that a request needs these rights on the manager, and no others."""
    bench = bench_with(manager=int(right))
    heard = bench.ask(msgspec.structs.replace(make(bench), by=ALICE))
    assert heard.status is not HResult.ACCESS_DENIED, heard.why
    for single in (each for each in ManagerRight if each in right):
        bench = bench_with(manager=ALL_OF_MANAGER & ~single.value)
        before = durable(bench.state)
        refused = bench.ask(msgspec.structs.replace(make(bench), by=ALICE))
        assert refused.status is HResult.ACCESS_DENIED
        assert f"lacks the right {single.name} on " in refused.why
        assert durable(bench.state) == before
