"""Tests that queues are created, changed and purged: [MS-MQDMPR] 3.1.7.1.3 and 3.1.7.1.7."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import in_whole_seconds
from reliquary.queueing.model.events import (
    Access,
    BrowseMessages,
    ChangeQueue,
    CommitTransaction,
    CreateQueue,
    DeleteQueue,
    OpenQueue,
    PurgeQueue,
)
from reliquary.queueing.model.facts import PositionDeleted
from reliquary.queueing.model.message import FOREVER, NO_GUID, MessageClass
from reliquary.queueing.model.names.pathnames import SYSTEM_QUEUES
from reliquary.queueing.model.queue import QueuePrivacy, QueueSettings, QueueType, Scope
from tests.queueing.answers import bodies, everything
from tests.queueing.manager_harness import NOON, OPEN_LIST, Bench
from tests.queueing.state_checks import check


def reasons(bench: Bench) -> list[MessageClass]:
    return [signal.reason for signal in bench.signals if isinstance(signal, PositionDeleted)]


# -- create


@pytest.mark.spec("DM-005", "DM-022", "DM-135", "DM-137", "DM-139", "DM-140", "DM-141", "DM-145", "DM-283")
def test_a_new_queue_has_the_defaults() -> None:
    """T06, a private queue is created: number, defaults and journal are set."""
    bench = Bench("first")
    answer = bench.ask(CreateQueue(0, r"BENCH\private$\a"))
    assert answer.status is HResult.OK
    queue = bench.queue("a")
    record = queue.record
    assert answer.queue == record
    assert record.settings == QueueSettings(security=OPEN_LIST) == QueueSettings(
        label="", type=NO_GUID, journaling=False, quota=FOREVER, journal_quota=FOREVER, authentication=False,
        privacy=QueuePrivacy.OPTIONAL, transactional=False, multicast_address=None, security=OPEN_LIST,
        base_priority=0,
    )  # fmt: skip
    assert record.kind is QueueType.PRIVATE
    assert record.pathname == r"BENCH\private$\a"
    assert record.qualified_pathname == r"bench.example\private$\a"
    assert record.create_time == record.modify_time == in_whole_seconds(NOON)
    assert (record.full_path, record.directory_path, record.scope) == ("", "", Scope.ENTERPRISE)
    assert (queue.active, queue.total_bytes, queue.subqueues, queue.readers.waiting) == (False, 0, set(), {})
    assert record.number != bench.queue("first").number
    assert record.identifier != bench.queue("first").record.identifier
    journal = bench.state.queues[record.journal or 0].record
    assert (journal.is_journal, journal.parent, journal.journal) == (True, record.number, None)


@pytest.mark.spec("DM-002", "DM-021", "DM-023", "DM-138")
def test_a_queue_keeps_what_its_creator_chose() -> None:
    bench = Bench("first")
    chosen = {
        "label": "Orders", "type": UUID(int=5), "journaling": True, "quota": 10, "journal_quota": 20,
        "authentication": True, "privacy": QueuePrivacy.BODY, "transactional": True,
        "multicast_address": "234.1.1.1:8001", "security": OPEN_LIST, "base_priority": -3,
    }  # fmt: skip
    for path in ("a", r".\b"):
        bench.create(path, **chosen)
    bench.restart()
    for path in ("a", r".\b"):
        assert bench.queue(path).record.settings == QueueSettings(**chosen)  # type: ignore[arg-type]


@pytest.mark.spec("DM-027", "DM-140")
@pytest.mark.parametrize(
    ("path", "kind"),
    [("a", QueueType.PRIVATE), (r"private$\a", QueueType.PRIVATE), (r".\a", QueueType.PUBLIC)],
)
def test_the_kind_of_a_queue_is_in_its_name(path: str, kind: QueueType) -> None:
    bench = Bench()
    assert bench.create(path).queue.kind is kind
    bench.restart()
    assert bench.queue(path).record.kind is kind


def test_a_private_and_a_public_queue_of_one_name_are_two() -> None:
    bench = Bench("a", r".\a")
    bench.send("a", b"private")
    bench.send(r".\a", b"public")
    assert (bench.bodies("a"), bench.bodies(r".\a")) == ([b"private"], [b"public"])


@pytest.mark.spec("DM-137")
def test_a_subqueue_has_no_journal_and_belongs_to_its_queue() -> None:
    """T08, a subqueue is created: it has no journal."""
    bench = Bench("a")
    answer = bench.create("a;s")
    assert answer.queue.journal is None
    assert answer.queue.parent == bench.queue("a").number
    for _ in range(2):
        assert bench.queue("a").subqueues == {bench.queue("a;s").number}
        bench.restart()
    bench.send("a;s", b"m1")
    assert (bench.bodies("a"), bench.bodies("a;s")) == ([], [b"m1"])


@pytest.mark.spec("DM-145")
@pytest.mark.parametrize("path", ["orders", "ORDERS", r".\private$\orders", "orders;s"])
def test_a_name_that_exists_is_refused(path: str) -> None:
    """AN-19: a private queue gets a new GUID; a name that exists is refused."""
    bench = Bench("orders", "orders;s")
    before = everything(bench.state)
    assert bench.create(path).status is HResult.QUEUE_EXISTS
    assert everything(bench.state) == before


@pytest.mark.spec("DM-136")
@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        pytest.param("a\x00b", HResult.INVALID_PARAMETER, "'\\x00'", id="control character"),
        pytest.param('a"b', HResult.INVALID_PARAMETER, "'\"'", id="quote"),
        pytest.param("", HResult.INVALID_PARAMETER, "1 to 124 characters, this one has 0", id="empty"),
        pytest.param(
            "x" * 125, HResult.INVALID_PARAMETER, "1 to 124 characters, this one has 125", id="long"
        ),
        pytest.param(
            "a;" + "x" * 33, HResult.INVALID_PARAMETER, "1 to 32 characters, this one has 33", id="tail"
        ),
        pytest.param("a;b;c", HResult.INVALID_PARAMETER, "';'", id="subqueue of a subqueue"),
        pytest.param(r"OTHER\private$\a", HResult.INVALID_PARAMETER, "OTHER", id="other computer"),
        pytest.param("system$;deadletter", HResult.ILLEGAL_QUEUE_PATHNAME, "", id="system queue"),
        pytest.param("system$;mine", HResult.INVALID_PARAMETER, "mine", id="unknown system queue"),
        pytest.param("orders;journal", HResult.ILLEGAL_QUEUE_PATHNAME, "", id="journal"),
        pytest.param("nowhere;s", HResult.QUEUE_NOT_FOUND, "", id="subqueue of nothing"),
    ],
)
def test_a_bad_name_creates_nothing(path: str, status: HResult, words: str) -> None:
    """T07, a path with an illegal character: an error; no queue."""
    bench = Bench()
    before = everything(bench.state)
    answer = bench.create(path)
    assert answer.status is status
    assert words in answer.why
    assert everything(bench.state) == before


BAD_SETTINGS: list[tuple[dict[str, Any], str, str]] = [
    ({"label": "x" * 125}, "124", "125"),
    ({"quota": -1}, str(FOREVER), "-1"),
    ({"quota": FOREVER + 1}, str(FOREVER), str(FOREVER + 1)),
    ({"journal_quota": -1}, str(FOREVER), "-1"),
    ({"journal_quota": FOREVER + 1}, str(FOREVER), str(FOREVER + 1)),
    ({"base_priority": 32768}, "32767", "32768"),
    ({"base_priority": -32768}, "-32767", "-32768"),
]


@pytest.mark.parametrize(("settings", "limit", "value"), BAD_SETTINGS)
def test_settings_outside_their_range_are_refused(settings: dict[str, Any], limit: str, value: str) -> None:
    bench = Bench()
    before = everything(bench.state)
    for answer in (bench.create("new", **settings), bench.ask(ChangeQueue(0, "orders", settings))):
        assert answer.status is HResult.INVALID_PARAMETER
        assert limit in answer.why
        assert value in answer.why
    assert everything(bench.state) == before


@pytest.mark.parametrize(
    "settings",
    [
        {"label": "x" * 124},
        {"quota": 0},
        {"quota": FOREVER},
        {"base_priority": 32767},
        {"base_priority": -32767},
    ],
)
def test_settings_at_the_end_of_their_range_are_taken(settings: dict[str, Any]) -> None:
    bench = Bench()
    assert bench.create("new", **settings).status is HResult.OK


@pytest.mark.spec("DM-004")
def test_a_queue_is_there_only_when_it_was_written() -> None:
    bench = Bench()
    bench.flush()
    bench.create("late")
    bench.restart(crash=True)
    assert set(bench.state.names.by_path) == {f"system$;{name}" for name in SYSTEM_QUEUES} | {
        "private$\\orders"
    }


# -- change


def test_a_queue_changes_only_what_is_named() -> None:
    bench = Bench("other")
    bench.create("orders", label="Orders", quota=10)
    bench.advance(100)
    answer = bench.ask(ChangeQueue(0, "orders", {"quota": 20, "journaling": True}))
    assert answer.status is HResult.OK
    expected = QueueSettings(label="Orders", quota=20, journaling=True, security=OPEN_LIST)
    assert answer.queue.settings == expected
    assert answer.queue.modify_time == answer.queue.create_time + 100
    bench.restart()
    assert bench.queue().record.settings == expected


def test_a_smaller_quota_counts_from_now_on_and_takes_nothing_away() -> None:
    bench = Bench()
    bench.send("orders", b"x" * 2000)
    bench.ask(ChangeQueue(0, "orders", {"quota": 1}))
    assert len(bench.bodies()) == 1
    assert bench.send("orders", b"").status is HResult.INSUFFICIENT_RESOURCES


@pytest.mark.parametrize("privacy", ["body", QueuePrivacy.BODY])
def test_a_change_takes_a_value_or_its_word(privacy: Any) -> None:
    bench = Bench()
    answer = bench.ask(
        ChangeQueue(0, "orders", {"privacy": privacy, "type": UUID(int=9), "security": OPEN_LIST})
    )
    assert answer.status is HResult.OK
    settings = bench.queue().record.settings
    assert (settings.privacy, settings.type, settings.security) == (QueuePrivacy.BODY, UUID(int=9), OPEN_LIST)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"color": "red", "size": 1}, "color, size", id="unknown"),
        pytest.param({"transactional": True}, "transactional", id="fixed"),
        pytest.param({"quota": "much"}, "quota", id="not a number"),
        pytest.param({"quota": 1.5}, "quota", id="not a whole number"),
        pytest.param({"privacy": "secret"}, "secret", id="not a level"),
        pytest.param({"label": None}, "label", id="nothing"),
    ],
)
def test_a_bad_change_changes_nothing(changes: dict[str, object], words: str) -> None:
    bench = Bench()
    before = everything(bench.state)
    answer = bench.ask(ChangeQueue(0, "orders", changes))
    assert answer.status is HResult.INVALID_PARAMETER
    assert words in answer.why
    assert everything(bench.state) == before


def test_a_queue_that_is_not_there_cannot_change() -> None:
    bench = Bench()
    assert bench.ask(ChangeQueue(0, "nowhere", {"quota": 1})).status is HResult.QUEUE_NOT_FOUND


# -- purge


@pytest.mark.spec("DM-185")
def test_a_purge_takes_out_what_is_available() -> None:
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"a", b"b", b"c")
    answer = bench.ask(PurgeQueue(0, "orders"))
    assert (answer.status, answer.count) == (HResult.OK, 3)
    assert reasons(bench) == [MessageClass.NACK_QUEUE_PURGED] * 3
    assert bench.bodies() == []
    assert bench.queue().total_bytes == 0
    bench.restart()
    assert bench.bodies() == []
    check(bench.state)


def test_an_empty_queue_can_be_purged_and_one_that_is_not_there_cannot() -> None:
    bench = Bench()
    assert bench.ask(PurgeQueue(0, "orders")).count == 0
    assert bench.ask(PurgeQueue(0, "nowhere")).status is HResult.QUEUE_NOT_FOUND


def test_a_purge_does_not_reach_journals_and_subqueues() -> None:
    bench = Bench("other")
    bench.create("orders", journaling=True)
    bench.create("orders;s")
    bench.send("orders", b"a", b"b")
    bench.send("orders;s", b"c")
    bench.receive("orders")
    bench.ask(PurgeQueue(0, "orders"))
    assert (bench.bodies("orders;journal"), bench.bodies("orders;s")) == ([b"a"], [b"c"])
    assert bench.ask(PurgeQueue(0, "orders;journal")).count == 1
    assert bench.ask(PurgeQueue(0, "system$;deadletter")).count == 0
    check(bench.state)


def test_a_long_purge_lets_others_in_between_and_leaves_what_came_later() -> None:
    bench = Bench()
    count = bench.state.sizes.at_once
    bench.send("orders", *[b"old"] * count)
    bench.send("orders", *[b"old"] * (count + 1), priority=1)
    bench.patient = True
    caller = bench.begin_asking(PurgeQueue(0, "orders"))
    turns = 0
    while bench.pending:
        bench.send("orders", b"new", priority=turns % 8)
        assert bench.answer_to(caller) is None
        bench.go_on(1)
        turns += 1
    assert turns >= 3
    assert bench.answer_to(caller).count == 2 * count + 1
    assert bench.bodies() == [b"new"] * turns
    check(bench.state)


def test_a_purge_passes_over_any_number_of_messages_that_came_later() -> None:
    bench = Bench()
    count = bench.state.sizes.at_once + 1
    bench.send("orders", *[b"old"] * count)
    bench.patient = True
    caller = bench.begin_asking(PurgeQueue(0, "orders"))
    bench.send("orders", *[b"new"] * count, priority=7)
    bench.go_on(20)
    assert bench.answer_to(caller).count == count
    assert bench.bodies() == [b"new"] * count


def test_a_crash_in_a_long_purge_leaves_what_it_had_not_reached() -> None:
    bench = Bench()
    count = bench.state.sizes.at_once
    bench.send("orders", *[b"old"] * (count + 5))
    bench.patient = True
    bench.begin_asking(PurgeQueue(0, "orders"))
    bench.go_on(1)
    bench.restart()
    assert len(bench.bodies()) == 5
    check(bench.state)


def test_a_message_that_commits_during_a_purge_stays() -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"in transaction", transaction=transaction)
    bench.send("orders", b"old")
    bench.ask(PurgeQueue(0, "orders"))
    bench.ask(CommitTransaction(0, transaction))
    assert bodies(bench.ask(BrowseMessages(0, "orders"))) == [b"in transaction"]


def test_a_purge_ends_well_when_its_queue_is_deleted_meanwhile() -> None:
    bench = Bench()
    bench.send("orders", *[b"old"] * (bench.state.sizes.at_once + 5))
    bench.ask(OpenQueue(0, "orders", Access.RECEIVE))
    bench.patient = True
    purge = bench.begin_asking(PurgeQueue(0, "orders"))
    delete = bench.begin_asking(DeleteQueue(0, "orders"))
    bench.go_on()
    assert bench.answer_to(purge).status is HResult.OK
    assert bench.answer_to(delete).status is HResult.OK
    check(bench.state)
