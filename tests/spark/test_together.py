"""Several managers are asked at once, and answer as they would one after the other."""

from __future__ import annotations

import pickle
from threading import Barrier, Event, get_ident
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from reliquary.spark.access import Access, Gone
from reliquary.spark.managers import Managers
from reliquary.spark.offsets import QueueKey, QueueOffset
from reliquary.spark.option_list import OptionUse
from reliquary.spark.options import parse_reading, parse_writing
from reliquary.spark.report import Report
from reliquary.spark.sink import Part, publish
from reliquary.spark.source import Reader
from reliquary.spark.stream import StreamReader
from reliquary.spark.together import Together
from tests.spark.feed_double import Double, World, Worlds

ALL = ReadAllAvailable()
NAMES = ("north", "south", "west")
URL = ",".join(f"{name}=http://{name}:1" for name in NAMES)


def first_letter(question: str) -> str:
    return question[0]


def test_answers_come_in_the_order_of_the_questions() -> None:
    questions = ["b1", "a1", "b2", "c1", "a2"]
    asked: dict[str, list[str]] = {"a": [], "b": [], "c": []}

    def ask(question: str) -> str:
        asked[question[0]].append(question)
        return question.upper()

    assert Together().ask(questions, first_letter, ask) == ["B1", "A1", "B2", "C1", "A2"]
    assert asked == {"a": ["a1", "a2"], "b": ["b1", "b2"], "c": ["c1"]}, "each manager in its order"
    assert Together().ask([], first_letter, ask) == []


def test_the_error_is_that_of_the_first_manager_that_fails() -> None:
    """The second manager fails before the first one does."""
    failed = Event()

    def ask(question: str) -> None:
        if question == "b":
            failed.set()
            raise KeyError(question)
        if question == "a":
            failed.wait()
            raise IndexError(question)

    for _ in range(2):
        with pytest.raises(IndexError, match="a"):
            Together().ask(["c", "a", "b"], first_letter, ask)


def test_an_error_ends_the_wait_for_other_managers() -> None:
    together = Together()

    def ask(question: str) -> str:
        if question == "a":
            raise KeyError(question)
        while not together.broken:
            pass
        return question

    with pytest.raises(KeyError, match="a"):
        together.ask(["a", "b"], first_letter, ask)
    assert not together.broken
    assert together.ask(["b"], first_letter, lambda question: question) == ["b"]


def test_a_fixed_number_of_threads_asks_many_managers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reliquary.spark.together.THREADS", 2)
    pair, threads = Barrier(2), set[int]()

    def ask(number: int) -> None:
        pair.wait()
        threads.add(get_ident())

    Together().ask(range(8), str, ask)
    assert len(threads) == 2


def test_readers_of_several_managers_go_to_other_processes() -> None:
    given = {"url": URL, "queue": "orders"}
    for reader in (
        StreamReader(parse_reading(given | {"consumer": "lake"}, OptionUse.STREAM), ("body",)),
        Reader(parse_reading(given, OptionUse.READ), ("body",)),
    ):
        assert type(pickle.loads(pickle.dumps(reader))) is type(reader)  # noqa: S301 - as Spark does it


# -- a query asks its managers at once: a double answers only when all of them were asked


class Meeting:
    """Three managers; after `together` is set, each of their answers waits for a question to each of them."""

    def __init__(self) -> None:
        self.worlds = Worlds({name: World() for name in NAMES})
        self.barrier = Barrier(len(NAMES))
        self.together = False
        for world in self.worlds.by_name.values():
            world.create("orders")

    def connect(self, access: Access) -> Any:
        meeting = self

        class Waiting(Double):
            def __getattribute__(self, name: str) -> Any:
                if meeting.together and name in {
                    "feeds",
                    "open_consumer",
                    "move_consumer",
                    "place_of",
                    "plan",
                    "writer",
                    "publish",
                }:
                    meeting.barrier.wait()  # for ever, if they are asked one after the other
                return super().__getattribute__(name)

        return Waiting(self.worlds.by_name[access.name])

    def reader(self, **more: str) -> StreamReader:
        options = {"url": URL, "queue": "orders", "consumer": "lake"} | more
        return StreamReader(parse_reading(options, OptionUse.STREAM), ("manager", "feed_id"), self.connect)

    def send(self) -> None:
        for world in self.worlds.by_name.values():
            world.send("orders", 4)


def test_a_stream_asks_all_managers_at_once() -> None:
    meeting = Meeting()
    meeting.send()
    stream = meeting.reader(startingTimestamp="1970-01-01T00:00:01Z", minPartitions="12", partitions="1")
    meeting.together = True
    start = stream.initialOffset()
    stream.prepareForTriggerAvailableNow()
    end = stream.latestOffset(start, ALL)
    assert len(stream.partitions(start, end)) == 12
    assert len(meeting.reader(minPartitions="12").partitions(start, end)) == 12, "after a restart"
    stream.commit(end)
    for world in meeting.worlds.by_name.values():
        assert world.queues["orders"].consumers["lake"] == 5


def test_a_report_asks_all_managers_at_once() -> None:
    meeting = Meeting()
    meeting.send()
    accesses = [Access("", name=name) for name in NAMES]
    managers = Managers(accesses, Gone.FAIL, meeting.connect, lambda _: None, lambda: 0.0)
    report = Report(managers, "")
    keys = [QueueKey(name, "orders") for name in NAMES]
    report.planned(dict.fromkeys(keys, QueueOffset("inc-1", 5)), dict.fromkeys(keys, QueueOffset("inc-1", 2)))
    meeting.together = True
    assert report.made()["behind"] == {name: {"orders": 3} for name in NAMES}


def test_a_batch_asks_all_managers_at_once() -> None:
    meeting = Meeting()
    meeting.send()
    options = parse_reading({"url": URL, "queue": "orders", "minPartitions": "12"}, OptionUse.READ)
    meeting.together = True
    assert len(Reader(options, ("feed_id",), meeting.connect).partitions()) == 12


def test_a_sink_publishes_on_all_managers_at_once() -> None:
    meeting = Meeting()
    given = {"url": URL, "queue": "orders", "partitionBy": "label"}
    meeting.together = True
    publish(
        parse_writing(given, OptionUse.SINK, queue_column=False),
        "query",
        3,
        [Part("query", 3, 0)],
        meeting.connect,
    )
    assert [world.ledger for world in meeting.worlds.by_name.values()] == [{"query": 3}] * 3
