"""A program that reads, streams and writes through a Connect server, and tells what it saw as JSON."""

from __future__ import annotations

import sys

import msgspec
from pyspark.sql import SparkSession

from tests.spark.crash.driver import tell


def main(remote: str, url: str, source: str, target: str, folder: str) -> None:
    """Count, then stream from queue to queue, then write a batch."""
    spark = SparkSession.builder.remote(remote).getOrCreate()
    rows = spark.read.format("reliquary").options(url=url, queue=source).load()
    seen = [row.label for row in rows.select("label").collect()]
    query = (
        spark.readStream.format("reliquary")
        .options(url=url, queue=source, consumer="crash", maxRowsPerBatch="20")
        .load()
        .select("label", "body")
        .writeStream.format("reliquary")
        .options(url=url, queue=target, writerId=target, checkpointLocation=f"{folder}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    rows.limit(1).selectExpr("'after all' AS label", "body").write.format("reliquary").options(
        url=url, queue=source
    ).mode("append").save()
    tell(msgspec.json.encode(seen).decode())
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
