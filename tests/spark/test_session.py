"""A session has our defaults, and whatever is given wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reliquary.spark.session import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_what_is_given_wins() -> None:
    chosen = settings({"spark.sql.session.timeZone": "Europe/Vienna"})
    assert chosen["spark.sql.session.timeZone"] == "Europe/Vienna"
    assert chosen["spark.master"] == "local[2,4]"


def test_only_a_local_session_hides_behind_the_loopback() -> None:
    assert settings({})["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in settings({"spark.master": "spark://there:7077"})
    assert settings({"spark.driver.host": "10.0.0.1"})["spark.driver.host"] == "10.0.0.1"


def test_a_session_counts_in_utc_and_pushes_filters(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.python.filterPushdown.enabled") == "true"
    assert spark.range(10).selectExpr("sum(id)").collect()[0][0] == 45
