"""Tests that access lists are created with a queue, changed, and kept over a restart."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    AccessChange,
    ChangeAccess,
    ChangeQueue,
    CreateQueue,
    PeekMessage,
    ReceiveMessages,
    RenewAccess,
    SendMessages,
)
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.security.anonymous import AnonymousAct
from reliquary.queueing.model.security.principals import ANONYMOUS, ANONYMOUS_USER, EVERYONE
from reliquary.queueing.model.security.rights import (
    MANAGER_LIST,
    ManagerRight,
    QueueRight,
    default_descriptor,
)
from reliquary.queueing.security.permissions import ENTRY_LIMIT, changed, descriptor_of
from reliquary.wire.security import (
    INHERIT_ONLY,
    Ace,
    AceKind,
    Acl,
    OtherAce,
    SecurityDescriptor,
    Sid,
    decode_descriptor,
    encode_descriptor,
    parse_sid,
)
from tests.queueing.manager_harness import OPEN_LIST, Bench, message
from tests.queueing.security.users import ALICE, BOB
from tests.queueing.state_checks import check, durable

ALL = int(QueueRight.GENERIC_ALL)
READ, WRITE = int(QueueRight.RECEIVE_MESSAGE), int(QueueRight.WRITE_MESSAGE)


def of(bench: Bench, path: str = "orders") -> SecurityDescriptor:
    return decode_descriptor(bench.queue(path).record.settings.security)


def allow(sid: Sid, mask: int, flags: int = 0) -> Ace:
    return Ace(AceKind.ALLOWED, mask, sid, flags)


def deny(sid: Sid, mask: int) -> Ace:
    return Ace(AceKind.DENIED, mask, sid)


def edit(acl: Acl | None, change: AccessChange, sid: Sid, rights: int) -> Acl | None:
    before = encode_descriptor(SecurityDescriptor(owner=BOB.user, dacl=acl))
    request = ChangeAccess(0, "orders", change, sid, rights)
    after = decode_descriptor(changed(before, request, QueueRight))
    assert after.owner == BOB.user
    return after.dacl


# -- with a new queue


@pytest.mark.spec("DM-138", "DM-147", "DM-148", "DM-149", "DM-153")
def test_a_new_queue_keeps_its_owner_and_the_rights_of_the_owner() -> None:
    bench = Bench()
    bench.ask(CreateQueue(0, "hers", by=ALICE))
    bench.ask(CreateQueue(0, "nobodys", by=ANONYMOUS))
    bench.restart()
    assert of(bench, "hers") == default_descriptor(None, ALICE.user)
    assert of(bench, "nobodys") == default_descriptor(None, ANONYMOUS_USER)
    assert bench.queue("nobodys").record.settings.security == OPEN_LIST
    assert bench.ask(SendMessages(0, "hers", (message(b""),), by=ALICE)).status is HResult.OK
    assert bench.ask(SendMessages(0, "hers", (message(b""),), by=BOB)).status is HResult.ACCESS_DENIED
    assert bench.ask(SendMessages(0, "nobodys", (message(b""),), by=BOB)).status is HResult.OK


@pytest.mark.spec("DM-146", "DM-150")
def test_the_computer_itself_may_look_at_new_queues_where_it_has_a_sid() -> None:
    machine = parse_sid("S-1-5-21-1-2-3-500")
    bench = Bench(directory=Integration(machine_sid=str(machine)))
    bench.ask(CreateQueue(0, "hers", by=ALICE))
    assert of(bench, "hers") == default_descriptor(None, ALICE.user, machine=machine)
    nameless = Bench(directory=Integration())
    nameless.ask(CreateQueue(0, "hers", by=ALICE))
    assert of(nameless, "hers") == default_descriptor(None, ALICE.user)


@pytest.mark.spec("DM-147")
def test_a_list_that_came_with_the_queue_is_its_list() -> None:
    bench = Bench()
    mine = SecurityDescriptor(dacl=(allow(BOB.user, WRITE),))
    settings = QueueSettings(security=encode_descriptor(mine))
    assert bench.ask(CreateQueue(0, "new", settings, by=ALICE)).status is HResult.OK
    assert of(bench, "new") == SecurityDescriptor(owner=ALICE.user, dacl=mine.dacl)


@pytest.mark.parametrize(
    "security", [b"\x01", encode_descriptor(SecurityDescriptor(dacl=(allow(EVERYONE, 64),)))]
)
def test_an_impossible_list_is_refused(security: bytes) -> None:
    bench = Bench()
    for request in (
        CreateQueue(0, "new", QueueSettings(security=security)),
        CreateQueue(0, "new", QueueSettings(security=security), by=ALICE),
        ChangeQueue(0, "orders", {"security": security}),
    ):
        before = durable(bench.state)
        assert bench.ask(request).status is HResult.INVALID_PARAMETER
        assert durable(bench.state) == before


def test_journals_subqueues_and_system_queues_have_no_list_of_their_own() -> None:
    bench = Bench("orders")
    bench.create("orders;retry")
    records = [queue.record for queue in bench.state.queues.values()]
    without = {record.pathname for record in records if not record.settings.security}
    assert without == {record.pathname for record in records} - {r"BENCH\private$\orders"}
    refused = bench.create("orders;more", security=OPEN_LIST)
    assert refused.why == "a subqueue has no access list: the one of its queue counts"
    for path, words in (
        ("orders;journal", "of its queue"),
        ("orders;retry", "of its queue"),
        ("system$;journal", "the manager's"),
    ):
        for request in (
            ChangeAccess(0, path, AccessChange.GRANT, EVERYONE, ALL),
            ChangeQueue(0, path, {"security": OPEN_LIST}),
        ):
            answer = bench.ask(request)
            assert answer.status is HResult.INVALID_PARAMETER
            assert words in answer.why


# -- edits


EDITS: list[tuple[Acl | None, AccessChange, Sid, int, Acl]] = [
    ((), AccessChange.GRANT, ALICE.user, WRITE, (allow(ALICE.user, WRITE),)),
    (
        (allow(EVERYONE, READ),), AccessChange.GRANT, ALICE.user, WRITE,
        (allow(EVERYONE, READ), allow(ALICE.user, WRITE)),
    ),
    (
        (allow(ALICE.user, READ), allow(BOB.user, READ)), AccessChange.GRANT, ALICE.user, WRITE,
        (allow(ALICE.user, READ | WRITE), allow(BOB.user, READ)),
    ),
    (
        (deny(ALICE.user, READ | WRITE),), AccessChange.GRANT, ALICE.user, WRITE,
        (deny(ALICE.user, READ), allow(ALICE.user, WRITE)),
    ),
    (
        (allow(EVERYONE, ALL),), AccessChange.DENY, ALICE.user, WRITE,
        (deny(ALICE.user, WRITE), allow(EVERYONE, ALL)),
    ),
    (
        (deny(BOB.user, READ), deny(ALICE.user, READ), allow(ALICE.user, WRITE)),
        AccessChange.DENY, ALICE.user, WRITE,
        (deny(BOB.user, READ), deny(ALICE.user, READ | WRITE)),
    ),
    (
        (deny(ALICE.user, READ), allow(ALICE.user, WRITE | 32), allow(BOB.user, WRITE)),
        AccessChange.REVOKE, ALICE.user, READ | WRITE,
        (allow(ALICE.user, 32), allow(BOB.user, WRITE)),
    ),
    (None, AccessChange.REVOKE, EVERYONE, WRITE, (allow(EVERYONE, ALL & ~WRITE),)),
    (None, AccessChange.DENY, ALICE.user, WRITE, (deny(ALICE.user, WRITE), allow(EVERYONE, ALL))),
    (
        (OtherAce(5, 0, b""), allow(ALICE.user, WRITE, INHERIT_ONLY)), AccessChange.REVOKE, ALICE.user, WRITE,
        (OtherAce(5, 0, b""), allow(ALICE.user, WRITE, INHERIT_ONLY)),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("acl", "change", "sid", "rights", "after"), EDITS)
def test_an_entry_is_added_merged_or_taken_away(
    acl: Acl | None, change: AccessChange, sid: Sid, rights: int, after: Acl
) -> None:
    assert edit(acl, change, sid, rights) == after


def test_an_owner_is_replaced_and_the_list_stays() -> None:
    bench = Bench()
    bench.ask(ChangeAccess(0, "orders", AccessChange.OWNER, ALICE.user))
    bench.restart()
    assert of(bench) == SecurityDescriptor(owner=ALICE.user, dacl=(allow(EVERYONE, ALL),))


def test_a_queue_without_a_list_lets_every_user_do_everything() -> None:
    assert descriptor_of(b"") == SecurityDescriptor(owner=ANONYMOUS_USER)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (ChangeAccess(0, "orders", AccessChange.GRANT, EVERYONE, 0), "0x0 has no meaning"),
        (ChangeAccess(0, "orders", AccessChange.DENY, EVERYONE, 0x40), "0x40 is no right"),
        (ChangeAccess(0, "", AccessChange.GRANT, EVERYONE, 0x8), "0x8 is no right"),
    ],
)
def test_a_change_that_says_nothing_is_refused(request_: Any, words: str) -> None:
    bench = Bench()
    before = durable(bench.state)
    answer = bench.ask(request_)
    assert answer.status is HResult.INVALID_PARAMETER
    assert words in answer.why
    assert durable(bench.state) == before


def test_a_list_has_an_end() -> None:
    full = tuple(allow(Sid(5, (21, n)), WRITE) for n in range(ENTRY_LIMIT))
    bench = Bench()
    bench.create("full", security=encode_descriptor(SecurityDescriptor(dacl=full)))
    answer = bench.ask(ChangeAccess(0, "full", AccessChange.GRANT, ALICE.user, WRITE))
    assert answer.status is HResult.INVALID_PARAMETER
    assert f"at most {ENTRY_LIMIT} entries" in answer.why


# -- kept, and felt at once


def test_a_change_is_felt_at_once_and_survives() -> None:
    bench = Bench()
    send = SendMessages(0, "orders", (message(b"x"),), by=ALICE)
    assert bench.ask(send).status is HResult.OK
    bench.advance(100)
    assert bench.ask(ChangeAccess(0, "orders", AccessChange.DENY, ALICE.user, WRITE)).status is HResult.OK
    record = bench.queue().record
    assert record.modify_time == record.create_time + 100
    assert bench.ask(send).status is HResult.ACCESS_DENIED
    before = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == before
    bench.start()
    assert bench.ask(send).status is HResult.ACCESS_DENIED
    check(bench.state)


@pytest.mark.spec("DM-013")
def test_the_managers_list_is_changed_and_survives() -> None:
    bench = Bench()
    create = CreateQueue(0, "new", by=ALICE)
    bench.ask(ChangeAccess(0, "", AccessChange.REVOKE, EVERYONE, ManagerRight.CREATE_QUEUE))
    bench.restart()
    assert bench.ask(create).status is HResult.ACCESS_DENIED
    bench.ask(ChangeAccess(0, "", AccessChange.GRANT, ALICE.user, ManagerRight.CREATE_QUEUE))
    assert bench.ask(create).status is HResult.OK


def test_a_queue_that_is_not_there_has_no_list() -> None:
    answer = Bench().ask(ChangeAccess(0, "nowhere", AccessChange.OWNER, ALICE.user))
    assert answer.status is HResult.QUEUE_NOT_FOUND


@pytest.mark.parametrize("path", ["orders", "orders;retry", "orders;journal"])
def test_a_user_without_the_right_to_receive_waits_no_longer(path: str) -> None:
    bench = Bench()
    bench.create("orders;retry")
    reader = bench.begin_asking(ReceiveMessages(0, path, timeout=FOREVER_WAIT, by=ALICE))
    looker = bench.begin_asking(PeekMessage(0, path, timeout=FOREVER_WAIT, by=ALICE))
    other = bench.begin_asking(ReceiveMessages(0, path, timeout=FOREVER_WAIT, by=BOB))
    taking = int(QueueRight.DELETE_MESSAGE | QueueRight.DELETE_JOURNAL_MESSAGE)
    bench.ask(ChangeAccess(0, "orders", AccessChange.DENY, ALICE.user, taking))
    assert bench.answer_to(reader).status is HResult.ACCESS_DENIED
    assert bench.answer_to(looker) is None
    assert bench.answer_to(other) is None
    only_bob = SecurityDescriptor(dacl=(allow(BOB.user, ALL),))
    bench.ask(ChangeQueue(0, "orders", {"security": encode_descriptor(only_bob)}))
    assert bench.answer_to(looker).status is HResult.ACCESS_DENIED
    assert bench.answer_to(other) is None
    check(bench.state)


def test_a_user_without_the_right_to_dead_letters_waits_no_longer() -> None:
    bench = Bench()
    reader = bench.begin_asking(ReceiveMessages(0, "system$;deadletter", timeout=FOREVER_WAIT, by=ALICE))
    bench.ask(ChangeAccess(0, "", AccessChange.DENY, ALICE.user, ManagerRight.DELETE_DEADLETTER_MESSAGE))
    assert bench.answer_to(reader).status is HResult.ACCESS_DENIED


def test_reads_of_users_that_are_gone_wait_no_longer_and_rights_are_checked_anew() -> None:
    bench = Bench()
    gone = bench.begin_asking(ReceiveMessages(0, "orders", timeout=FOREVER_WAIT, by=ALICE))
    stays = bench.begin_asking(ReceiveMessages(0, "orders", timeout=FOREVER_WAIT, by=BOB))
    assert bench.ask(CreateQueue(0, "first", by=ANONYMOUS)).status is HResult.OK
    renewed = RenewAccess(0, MANAGER_LIST, AnonymousAct(0), frozenset({ALICE}))
    assert bench.ask(renewed).status is HResult.OK
    assert bench.answer_to(gone).status is HResult.ACCESS_DENIED
    assert bench.answer_to(stays) is None
    assert bench.ask(CreateQueue(0, "second", by=ANONYMOUS)).status is HResult.ACCESS_DENIED
    check(bench.state)
