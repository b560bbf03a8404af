"""Tests sinks into a real server: queue to queue exactly once, attributes from columns, guards, bad rows,
runs.
"""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException, StreamingQueryException

from tests.spark.desk import Desk

BACK = "CONCAT('re: ', CAST(body AS STRING)) AS body"


def test_queue_to_queue_once_and_in_order_though_a_batch_comes_again(desk: Desk) -> None:
    source = desk.queue("source", [f"a{number}" for number in range(20)])
    target = desk.queue("target", transactional=True)
    rows = desk.stream(source, maxRowsPerBatch="8").selectExpr(BACK, "queue AS label", "feed_id AS tag")
    assert desk.run_to_queue(rows, "copy", queue=target, writerId=target) == [8, 8, 4]
    expected = [f"re: a{number}" for number in range(20)]
    assert desk.bodies(target) == expected
    assert {message.label for message in desk.manager.queue(target).browse()} == {source}

    commits = desk.checkpoint("copy") / "commits"
    last = max(commits.glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()  # the driver died after the sink's commit and before its own note
    (commits / f".{last.name}.crc").unlink(missing_ok=True)
    desk.send(source, "a20")
    desk.run_to_queue(rows, "copy", queue=target, writerId=target)
    assert desk.bodies(target) == [*expected, "re: a20"]

    with pytest.raises(StreamingQueryException, match=r"WriterTaken: publishing batch 0: .*takeOver=true"):
        desk.run_to_queue(rows, "other", queue=target, writerId=target)
    assert len(desk.bodies(target)) == 21


def test_rows_that_break_a_rule_fail_the_batch_or_go_elsewhere(desk: Desk) -> None:
    source = desk.queue("rows", ["3", "9", "5"])
    target, dead = desk.queue("good"), desk.queue("bad")
    rows = desk.stream(source).selectExpr("body", "CAST(CAST(body AS STRING) AS INT) AS priority")
    with pytest.raises(
        StreamingQueryException, match=r"BadRow: row 2 .*priority.*9.*badRows=dead:QUEUE"
    ) as raised:
        desk.run_to_queue(rows, "strict", queue=target)
    assert "failed 4 times" not in str(raised.value), "the commit says it, and no task is tried again"
    assert desk.bodies(target) == []
    desk.run_to_queue(rows, "strict", queue=target, badRows=f"dead:{dead}")
    assert sorted(desk.bodies(target)) == ["3", "5"]
    assert len(desk.bodies(dead)) == 1


def test_rows_whose_queue_is_missing_fail_the_write_at_once_or_go_elsewhere(desk: Desk) -> None:
    target, dead = desk.queue("good"), desk.queue("bad")
    names = f"ELT(id + 1, '{target}', 'nowhere', NULL, '{target}') AS queue"
    frame = desk.spark.range(0, 4, 1, 1).selectExpr(names, "CAST(id AS STRING) AS body")
    for rows, why in ((frame.limit(2), "row 2 .*there is no queue nowhere"), (frame, "row 3 .*no queue")):
        with pytest.raises(PySparkException, match=f"BadRow: {why}") as raised:
            rows.write.format("reliquary").mode("append").option("url", desk.url).save()
        assert "failed 4 times" not in str(raised.value)
    assert desk.bodies(target) == []
    writer = frame.write.format("reliquary").mode("append").option("url", desk.url)
    writer.option("badRows", f"dead:{dead}").save()
    assert (desk.bodies(target), desk.bodies(dead)) == (["0", "3"], ["1", "2"])
    with pytest.raises(PySparkException, match=r"QueueMissing: writing part 0: .*create the queue") as raised:
        writer.option("badRows", "dead:nowhere").save()
    assert "failed 4 times" not in str(raised.value)


def test_a_batch_write_to_queues_by_row_and_twice_under_one_run(desk: Desk) -> None:
    one, two = desk.queue("one"), desk.queue("two")
    frame = desk.spark.range(0, 10, 1, 2).selectExpr(
        f"IF(id % 2 = 0, '{one}', '{two}') AS queue",
        "CAST(id AS STRING) AS body",
        "1L AS lookup_id",
        "CAST(NULL AS STRING) AS label",
    )
    for _ in range(2):
        frame.write.format("reliquary").mode("append").options(url=desk.url, runId=one).save()
    assert desk.bodies(one) == ["0", "2", "4", "6", "8"]
    assert desk.bodies(two) == ["1", "3", "5", "7", "9"]
    frame.where("id < 0").write.format("reliquary").mode("append").options(url=desk.url).save()
    with pytest.raises(PySparkException, match="nowhere"):
        frame.selectExpr("body", "'nowhere' AS queue").write.format("reliquary").mode("append").options(
            url=desk.url
        ).save()
    assert len(desk.bodies(one)) == 5


def test_what_was_read_can_be_written_as_it_is(desk: Desk) -> None:
    source, target = desk.queue("from"), desk.queue("to")
    large = "x" * 5_000_000
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    desk.manager.queue(source).send(
        large, label="L", priority=6, tag=9, extension=b"\xff", traceparent=parent, tracestate="a=1"
    )
    columns = (
        "lookup_id bigint, body binary, label string, priority int, tag bigint, extension binary, "
        "traceparent string, tracestate string"
    )
    rows = desk.read(source, columns)
    rows.write.format("reliquary").mode("append").options(url=desk.url, queue=target).save()
    [copy] = desk.manager.queue(target).browse()
    assert (copy.body.decode(), copy.label, copy.priority, copy.tag, copy.extension) == (
        large,
        "L",
        6,
        9,
        b"\xff",
    )
    assert (copy.traceparent, copy.tracestate) == (parent, "a=1")


@pytest.mark.long
def test_a_batch_that_is_published_in_several_turns_is_there_once_and_in_order(desk: Desk) -> None:
    source = desk.queue("many", [f"a{number}" for number in range(9_000)])
    target = desk.queue("copies", transactional=True)
    rows = desk.stream(source).selectExpr("body")
    assert desk.run_to_queue(rows, "many", queue=target, writerId=target) == [9_000]
    assert desk.bodies(target) == [f"a{number}" for number in range(9_000)]
