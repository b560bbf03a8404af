"""Options are parsed once; what is wrong is refused by its name, with what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.spark.access import Access, Gone
from reliquary.spark.errors import BadOption
from reliquary.spark.option_list import OPTIONS, SOURCE, OptionUse
from reliquary.spark.options import Push, parse_reading, parse_writing
from reliquary.spark.positions import Moment, Positions

READ = {"url": "http://127.0.0.1:8480", "queue": "orders"}
STREAM = READ | {"consumer": "lake"}


def test_a_stream_takes_every_option() -> None:
    options = parse_reading(
        {
            "URL": "https://queues.example:8480",
            "queue": "orders, inv*,parts",
            "consumer": "lake-1.x_y",
            "startingoffset": "latest",
            "maxrowsperbatch": "100000",
            "maxbytesperbatch": "64m",
            "failondataloss": "False",
            "token": "abc",
            "timeout": "2.5",
            "partitions": "8",
        },
        OptionUse.STREAM,
    )
    assert options.managers == (
        Access("https://queues.example:8480", "abc", "", 2.5, "queues.example:8480", compression="lz4"),
    )
    assert options.queues == ("orders", "inv*", "parts")
    assert options.consumer == "lake-1.x_y"
    assert options.start == Positions("latest")
    assert (options.max_rows, options.max_bytes) == (100_000, 64 << 20)
    assert not options.fail_on_loss
    assert options.partitions == 8


def test_what_is_not_given_has_its_default() -> None:
    options = parse_reading(STREAM, OptionUse.STREAM)
    assert (options.start, options.max_rows, options.max_bytes) == (Positions(), None, None)
    assert (options.min_rows, options.max_delay, options.min_partitions) == (1, 900, None)
    assert options.gone is Gone.FAIL
    assert (options.fail_on_loss, options.partitions, options.push) == (True, 2, Push.AUTO)
    assert options.managers[0].timeout == 60
    assert parse_reading(READ, SOURCE).consumer == ""


def test_a_sink_takes_every_option() -> None:
    options = parse_writing(
        READ
        | {
            "writerid": "out",
            "takeover": "true",
            "badrows": "dead:bad",
            "checkpointlocation": "here",
            "queryName": "x",
        },
        OptionUse.SINK,
        queue_column=False,
    )
    assert (options.queue, options.writer, options.take_over, options.bad) == (
        "orders",
        "out",
        True,
        "dead:bad",
    )
    assert options.checkpoint == "here"
    assert parse_writing(READ | {"runId": "june"}, OptionUse.WRITE, queue_column=False).run == "june"
    assert parse_writing({"url": READ["url"]}, OptionUse.WRITE, queue_column=True).queue == ""


def test_a_batch_waits_for_rows_and_is_cut_into_parts() -> None:
    given = STREAM | {"minRowsPerBatch": "500", "maxTriggerDelay": "30s", "minPartitions": "16"}
    options = parse_reading(given | {"onManagerGone": "Skip"}, OptionUse.STREAM)
    assert (options.min_rows, options.max_delay, options.min_partitions) == (500, 30, 16)
    assert options.gone is Gone.SKIP
    for text, seconds in (("500ms", 0.5), ("15m", 900), ("2 h", 7200), ("1d", 86_400)):
        assert parse_reading(STREAM | {"maxTriggerDelay": text}, OptionUse.STREAM).max_delay == seconds


def test_a_batch_read_has_a_beginning_and_an_end() -> None:
    options = parse_reading(
        READ | {"startingTimestamp": "1000", "endingOffset": '{"orders": 7}'}, OptionUse.READ
    )
    assert options.start == Positions(Moment(1_000_000))
    assert options.end == Positions("latest", {"orders": 7})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"url": "localhost:8480"}, "the option url is like http://host:port, not 'localhost:8480'"),
        ({"queue": " , "}, "the option queue is missing"),
        ({"queue": "a,b,a"}, "the option queue names 'a' twice"),
        ({"consumer": ""}, "the option consumer is empty"),
        ({"consumer": "a b"}, "the option consumer has up to 100 letters, digits, . _ or -, not 'a b'"),
        ({"consumer": "x" * 101}, "the option consumer has up to 100"),
        ({"startingOffset": "first"}, "the option startingOffset is earliest, latest, or JSON"),
        ({"maxRowsPerBatch": "0"}, "the option maxRowsPerBatch is a whole number from 1 to"),
        ({"maxRowsPerBatch": "1e3"}, "the option maxRowsPerBatch is a whole number"),
        (
            {"maxBytesPerBatch": "64x"},
            "the option maxBytesPerBatch is a number of bytes, such as 67108864 or 64m",
        ),
        ({"maxBytesPerBatch": "0"}, "the option maxBytesPerBatch is a number of bytes"),
        ({"failOnDataLoss": "no"}, "the option failOnDataLoss is true or false, not 'no'"),
        ({"timeout": "soon"}, "the option timeout is a number of seconds up to 86400, not 'soon'"),
        ({"partitions": "many"}, "the option partitions is a whole number from 1 to 1000"),
        ({"startingOffsets": "latest"}, "startingOffsets is an option of Kafka: use startingOffset"),
        ({"maxTriggerDelay": "soon"}, "the option maxTriggerDelay is a span of time, such as 30s, 15m or 2h"),
        ({"onManagerGone": "stop"}, "the option onManagerGone is fail or wait or skip, not 'stop'"),
        ({"endingOffset": "latest"}, "there is no option endingOffset here"),
        ({"path": "x"}, "there is no option path here"),
        ({"pushFilters": "true"}, "there is no option pushFilters here"),
        ({"writerId": "x"}, "there is no option writerId here"),
    ],
)
def test_a_stream_is_refused_by_name(change: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        parse_reading(STREAM | change, OptionUse.STREAM)
    assert str(refused.value).startswith(sentence)


def test_a_stream_needs_a_consumer() -> None:
    with pytest.raises(BadOption, match="a stream needs the option consumer"):
        parse_reading(READ, OptionUse.STREAM)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"queue": ""}, "a sink needs the option queue, or a column queue"),
        ({"queue": "a,b"}, "a sink writes to one queue, not 'a,b'"),
        ({"queue": "a*"}, "a sink writes to one queue, not 'a*'"),
        ({"badRows": "drop"}, "the option badRows is fail or dead:QUEUE, not 'drop'"),
        ({"badRows": "dead:"}, "the option badRows is"),
        ({"writerId": "a/b"}, "the option writerId has up to 100 letters"),
        ({"runId": "x"}, "there is no option runId here"),
        ({"url": "http://a,http://b"}, "a sink of several managers needs the option partitionBy"),
        ({"onManagerGone": "skip"}, "a sink leaves out no manager: the option onManagerGone is fail or wait"),
        ({"consumer": "x"}, "there is no option consumer here"),
    ],
)
def test_a_sink_is_refused_by_name(change: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        parse_writing(READ | change, OptionUse.SINK, queue_column=False)
    assert str(refused.value).startswith(sentence)


def test_the_guide_tells_every_option_as_it_is() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "spark.md").read_text()
    words = {
        OptionUse.READ: "read",
        OptionUse.STREAM: "stream",
        OptionUse.WRITE: "write",
        OptionUse.SINK: "sink",
    }
    for option in OPTIONS:
        uses = ", ".join(word for use, word in words.items() if option.use & use)
        line = f"| `{option.name}` | {uses} | {option.default} | {option.about} |"
        assert line in guide, line
