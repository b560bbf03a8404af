"""Options are parsed once; what is wrong is refused by its name, with what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.spark.errors import BadOption
from reliquary.spark.options import OPTIONS, SOURCE, Access, For, Push, parse_reading, parse_writing

READ = {"url": "http://127.0.0.1:8480", "queue": "orders"}
STREAM = READ | {"consumer": "lake"}


def test_a_stream_with_everything() -> None:
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
        For.STREAM,
    )
    assert options.access == Access("https://queues.example:8480", "abc", "", 2.5)
    assert options.queues == ("orders", "inv*", "parts")
    assert options.consumer == "lake-1.x_y"
    assert options.start == "latest"
    assert (options.max_rows, options.max_bytes) == (100_000, 64 << 20)
    assert not options.fail_on_loss
    assert options.partitions == 8


def test_what_is_not_given_has_its_default() -> None:
    options = parse_reading(STREAM, For.STREAM)
    assert (options.start, options.max_rows, options.max_bytes) == ("earliest", None, None)
    assert (options.fail_on_loss, options.partitions, options.push) == (True, 2, Push.AUTO)
    assert options.access.timeout == 60
    assert parse_reading(READ, SOURCE).consumer == ""


def test_a_sink_with_everything() -> None:
    options = parse_writing(
        READ
        | {
            "writerid": "out",
            "takeover": "true",
            "badrows": "dead:bad",
            "checkpointlocation": "here",
            "queryName": "x",
        },
        For.SINK,
        queue_column=False,
    )
    assert (options.queue, options.writer, options.take_over, options.bad) == (
        "orders",
        "out",
        True,
        "dead:bad",
    )
    assert options.checkpoint == "here"
    assert parse_writing(READ | {"runId": "june"}, For.WRITE, queue_column=False).run == "june"
    assert parse_writing({"url": READ["url"]}, For.WRITE, queue_column=True).queue == ""


def test_a_start_by_queue() -> None:
    given = STREAM | {"startingOffset": '{"orders": 123, "parts": "latest"}'}
    assert parse_reading(given, For.STREAM).start == {"orders": 123, "parts": "latest"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"url": ""}, "the option url is missing"),
        ({"url": "localhost:8480"}, "the option url is like http://host:port, not 'localhost:8480'"),
        ({"url": "http://host:port"}, "the option url is like"),
        ({"url": "ftp://host"}, "the option url is like"),
        ({"queue": " , "}, "the option queue is missing"),
        ({"queue": "a,b,a"}, "the option queue names 'a' twice"),
        ({"consumer": ""}, "the option consumer is empty"),
        ({"consumer": "a b"}, "the option consumer has up to 100 letters, digits, . _ or -, not 'a b'"),
        ({"consumer": "x" * 101}, "the option consumer has up to 100"),
        ({"startingOffset": "first"}, "the option startingOffset is earliest, latest, or JSON"),
        ({"startingOffset": '{"orders": -1}'}, "the option startingOffset is"),
        ({"startingOffset": '{"orders": "first"}'}, "the option startingOffset is"),
        ({"startingOffset": "[1]"}, "the option startingOffset is"),
        ({"maxRowsPerBatch": "0"}, "the option maxRowsPerBatch is a whole number from 1 to"),
        ({"maxRowsPerBatch": "1e3"}, "the option maxRowsPerBatch is a whole number"),
        (
            {"maxBytesPerBatch": "64x"},
            "the option maxBytesPerBatch is a number of bytes, such as 67108864 or 64m",
        ),
        ({"maxBytesPerBatch": "0"}, "the option maxBytesPerBatch is a number of bytes"),
        ({"failOnDataLoss": "no"}, "the option failOnDataLoss is true or false, not 'no'"),
        ({"timeout": "soon"}, "the option timeout is a number of seconds up to 86400, not 'soon'"),
        ({"timeout": "nan"}, "the option timeout is"),
        ({"partitions": "many"}, "the option partitions is a whole number from 1 to 1000"),
        ({"ca": "no/such.pem"}, "the option ca names a file that is not here: 'no/such.pem'"),
        ({"token": "a", "tokenFile": "b"}, "give token or tokenFile, not both"),
        ({"token": "töken"}, "a token is printable ASCII"),
        ({"tokenFile": "no/such"}, "the option tokenFile names a file that cannot be read"),
        ({"startingOffsets": "latest"}, "there is no option startingOffsets here: use url, queue, token"),
        ({"path": "x"}, "there is no option path here"),
        ({"pushFilters": "true"}, "there is no option pushFilters here"),
        ({"writerId": "x"}, "there is no option writerId here"),
    ],
)
def test_a_stream_is_refused_by_name(change: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        parse_reading(STREAM | change, For.STREAM)
    assert str(refused.value).startswith(sentence)


def test_a_stream_needs_a_consumer() -> None:
    with pytest.raises(BadOption, match="a stream needs the option consumer"):
        parse_reading(READ, For.STREAM)


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
        ({"consumer": "x"}, "there is no option consumer here"),
    ],
)
def test_a_sink_is_refused_by_name(change: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        parse_writing(READ | change, For.SINK, queue_column=False)
    assert str(refused.value).startswith(sentence)


def test_a_token_comes_from_a_file_or_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("from-file\n")
    assert parse_reading(READ | {"tokenFile": str(tmp_path / "token")}, For.READ).access.token == "from-file"
    monkeypatch.setenv("RELIQUARY_TOKEN", "from-environment")
    assert parse_reading(READ, For.READ).access.token == "from-environment"
    assert parse_reading(READ | {"token": "given"}, For.READ).access.token == "given"


def test_a_token_is_not_shown() -> None:
    assert "s3cret" not in repr(parse_reading(READ | {"token": "s3cret"}, For.READ))


def test_the_guide_tells_every_option_as_it_is() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "spark.md").read_text()
    words = {For.READ: "read", For.STREAM: "stream", For.WRITE: "write", For.SINK: "sink"}
    for option in OPTIONS:
        uses = ", ".join(word for use, word in words.items() if option.use & use)
        line = f"| `{option.name}` | {uses} | {option.default} | {option.about} |"
        assert line in guide, line
