"""The message store has each message once, as long as a position refers to it."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import Record, Table
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.message_store import MessageStore
from reliquary.queueing.model.tables import MESSAGES, PAST_THE_END, SHARES, TABLES, message_key
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows


def rows() -> StagedRows:
    return StagedRows(MemoryDisk(TABLES))


def at(number: int, **attributes: bool) -> Position:
    return Position(number, number, 100, 0, **attributes)  # type: ignore[arg-type]


def test_a_message_is_kept_and_found() -> None:
    kept_messages = MessageStore(rows())
    position, message = at(1), Message(body=b"a")
    kept_messages.put((position,), (message,))
    assert kept_messages.get(position) == message


@pytest.mark.spec("DM-046")
def test_an_express_message_has_no_row() -> None:
    under = rows()
    kept_messages = MessageStore(under)
    position, message = at(1, express=True), Message(body=b"a")
    kept_messages.put((position,), (message,))
    assert kept_messages.get(position) == message
    assert under.is_empty
    kept_messages.drop((position,))
    with pytest.raises(KeyError):
        kept_messages.get(position)


def test_a_message_that_does_not_fit_into_the_cache_is_read_from_its_row() -> None:
    disk = MemoryDisk(TABLES)
    under = StagedRows(disk)
    kept_messages = MessageStore(under, cache_bytes=10)
    for number in range(5):
        kept_messages.put((at(number),), (Message(body=bytes([number]) * 8),))
    disk.apply(under.take())
    assert [kept_messages.get(at(number)).body[0] for number in range(5)] == [0, 1, 2, 3, 4]
    assert kept_messages._cached_bytes <= 10 + 8


def test_a_message_that_is_put_again_when_its_transaction_commits_takes_its_room_once() -> None:
    kept_messages = MessageStore(rows())
    kept_messages.put((at(1),), (Message(body=b"prepared"),))
    kept_messages.put((at(1),), (Message(body=b"prepared"),), fresh=False)
    kept_messages.drop((at(1),))
    assert kept_messages._cached_bytes == 0


class CountedReads(StagedRows):
    """Rows that count how often the disk is asked for a single one."""

    gets = 0

    def get(self, table: Table[Record], key: bytes) -> Record | None:
        self.gets += 1
        return super().get(table, key)


@pytest.mark.parametrize(
    ("numbers", "gets"),
    [
        pytest.param([3, 1, 2, 5, 6], 0, id="neighbours, in whatever order"),
        pytest.param([1, 2], 2, id="too few to care"),
        pytest.param([1, 40, 80, 120, 160], 5, id="far apart"),
    ],
)
def test_many_messages_are_read_at_once_if_their_rows_are_adjacent(numbers: list[int], gets: int) -> None:
    under = CountedReads(MemoryDisk(TABLES))
    kept_messages = MessageStore(under, cache_bytes=0)
    positions = [*map(at, numbers), at(999, express=True)]
    messages = [Message(body=b"%d" % position.message) for position in positions]
    kept_messages.put(positions, messages)
    assert kept_messages.get_all(positions) == messages
    assert under.gets == gets


def test_room_in_the_cache_comes_back_when_messages_go() -> None:
    kept_messages = MessageStore(rows(), cache_bytes=10)
    for number in range(100):
        position, message = at(number), Message.of(body=b"12345678", extension=b"90")
        kept_messages.put((position,), (message,))
        assert kept_messages.get(position) is message
        kept_messages.drop((position,))
    assert kept_messages._cached_bytes == 0
    assert not kept_messages._cache


@pytest.mark.parametrize("express", [False, True])
def test_a_large_body_is_read_for_who_wants_it_whole_and_is_never_kept_in_memory(express: bool) -> None:
    kept_messages = MessageStore(rows())
    kept_messages.bodies.add(7, b"large ")
    kept_messages.bodies.add(7, b"body")
    position = Position(1, 1, 100, 0, express=express, spool=7)
    message = Message.of(label="large", stored_body=kept_messages.bodies.loose[7])
    kept_messages.put((position,), (message,))
    assert kept_messages.get(position) == Message(label="large", body=b"large body")
    assert kept_messages.get_all((position,)) == [Message(label="large", body=b"large body")]
    assert kept_messages.get(position, whole=False) is message
    assert kept_messages.get_all((position,), whole=False) == [message]
    assert [*kept_messages._cache.values(), *kept_messages._express.values()] == [message]
    kept_messages.drop((position,))
    assert kept_messages.bodies.piece(7, 0) is None


def test_a_position_whose_message_has_no_row_is_damage() -> None:
    with pytest.raises(StoreDamage, match="message 7 has a position and no row"):
        MessageStore(rows()).get(at(7))


class Sharing(RuleBasedStateMachine):
    """Positions that share messages come and go; the rows are there as long as they are needed."""

    @initialize(cache=st.integers(0, 20))
    def open(self, cache: int) -> None:
        self.cache = cache
        self.disk = MemoryDisk(TABLES)
        self.rows = StagedRows(self.disk)
        self.kept_messages = MessageStore(self.rows, cache)
        self.number = 0
        self.shown: dict[int, int] = {}
        self.messages: dict[int, tuple[Position, Message]] = {}

    @rule(express=st.booleans(), shared=st.booleans(), count=st.integers(1, 3))
    def put(self, express: bool, shared: bool, count: int) -> None:
        positions, messages = [], []
        for _ in range(count):
            self.number += 1
            positions.append(at(self.number, express=express, shared=shared))
            messages.append(Message(body=b"body %d" % self.number))
        self.kept_messages.put(positions, messages)
        for position, message in zip(positions, messages, strict=True):
            self.messages[position.message] = position, message
            self.shown[position.message] = 1
            if shared:
                self.kept_messages.share(position)
                self.shown[position.message] = 2

    @precondition(lambda self: self.shown)
    @rule(data=st.data())
    def share(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.shown)))
        position, _ = self.messages[number]
        if position.shared:
            self.kept_messages.share(position)
            self.shown[number] += 1

    @precondition(lambda self: self.shown)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.shown)))
        self.kept_messages.drop((self.messages[number][0],))
        self.shown[number] -= 1
        if not self.shown[number]:
            del self.shown[number], self.messages[number]

    @rule()
    def flush(self) -> None:
        self.disk.apply(self.rows.take())

    @rule()
    def restart(self) -> None:
        self.flush()
        self.kept_messages = MessageStore(self.rows, self.cache)
        self.messages = {key: pair for key, pair in self.messages.items() if not pair[0].express}
        self.shown = {key: self.shown[key] for key in self.messages}

    @invariant()
    def what_is_shown_is_there_and_nothing_else(self) -> None:
        if not hasattr(self, "kept_messages"):
            return
        for position, message in self.messages.values():
            assert self.kept_messages.get(position) == message
        kept = {number for number, (position, _) in self.messages.items() if not position.express}
        stored = self.rows.range(MESSAGES, b"", PAST_THE_END, limit=1000)
        assert [key for key, _ in stored] == [message_key(number) for number in sorted(kept)]
        shares = {key: record.count for key, record in self.rows.range(SHARES, b"", PAST_THE_END, limit=1000)}
        assert shares == {
            message_key(number): self.shown[number] for number in kept if self.shown[number] > 1
        }
        express = {number for number in self.messages if number not in kept and self.shown[number] > 1}
        assert self.kept_messages._express_shares.keys() == express
        assert len(self.kept_messages._express) == len(self.messages) - len(kept)
        assert self.kept_messages._cached_bytes == sum(
            len(message.body) for message in self.kept_messages._cache.values()
        )


TestSharing = Sharing.TestCase
TestSharing.settings = settings(max_examples=150, stateful_step_count=30)


def test_what_is_put_aside_is_a_row_and_takes_no_room_in_memory() -> None:
    under = rows()
    kept_messages = MessageStore(under)
    kept_messages.put_aside(5, (Message(body=b"a"), Message(body=b"b"), Message(body=b"c")))
    kept_messages.put_again([(6, Message(body=b"better"))])
    kept_messages.drop_aside([7])
    assert kept_messages._cached_bytes == 0
    assert [kept_messages.get(at(number)).body for number in (5, 6)] == [b"a", b"better"]
    with pytest.raises(StoreDamage):
        kept_messages.get(at(7))
    kept_messages.drop((at(5), at(6)))
    assert under.is_empty
