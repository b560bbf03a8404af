"""Spark finds the format by itself, and a mistake in a query is reported before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from reliquary.spark.schema import NAMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_SERVER = {"url": "http://127.0.0.1:9", "queue": "orders", "timeout": "0.1"}


def test_the_format_is_found_and_has_all_columns(spark: SparkSession) -> None:
    assert tuple(spark.read.format("reliquary").options(**NO_SERVER).load().columns) == NAMES


def test_a_bad_option_is_refused_at_load(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="BadOption: there is no option que here: use url, managers"):
        spark.read.format("reliquary").options(**NO_SERVER, que="orders").load()


def test_a_schema_that_messages_do_not_have_is_refused(spark: SparkSession) -> None:
    read = spark.read.format("reliquary").options(**NO_SERVER)
    with pytest.raises(PySparkException, match="BadSchema: messages have no column 'price'"):
        read.schema("price double").load().collect()
    with pytest.raises(PySparkException, match="BadSchema: the column lookup_id is bigint, not int"):
        read.schema("lookup_id int").load().collect()


def test_rows_that_are_no_messages_are_refused(spark: SparkSession) -> None:
    rows = spark.range(1)
    with pytest.raises(PySparkException, match="BadSchema: a sink knows no column 'number'"):
        rows.selectExpr("'x' AS body", "id AS number").write.format("reliquary").options(**NO_SERVER).mode(
            "append"
        ).save()
    with pytest.raises(PySparkException, match="BadOption: a queue is not overwritten: use mode"):
        rows.selectExpr("'x' AS body").write.format("reliquary").options(**NO_SERVER).mode("overwrite").save()


def test_a_server_that_is_gone_is_named(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match=r"ServerGone: planning the read: http://127.0.0.1:9 does not"):
        spark.read.format("reliquary").options(**NO_SERVER).load().collect()
