"""Starts a Spark session with defaults: on this machine unless a master is named, quiet, in UTC.

Given settings have precedence over defaults.  Addresses are of the loopback only while the master is
local: the executors of a cluster must be able to reach the driver.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Final

from reliquary.spark.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULTS: Final = {
    "spark.master": "local[2,4]",  # two at a time; a task that fails is tried four times, as on a cluster
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.python.worker.reuse": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.python.filterPushdown.enabled": "true",
}

LOOPBACK: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def settings(given: dict[str, str]) -> dict[str, str]:
    """Return the settings of a session; given ones have precedence over defaults."""
    chosen = DEFAULTS | given
    if chosen["spark.master"].startswith("local"):
        chosen = LOOPBACK | chosen
    return chosen


def session(name: str, /, **conf: str) -> SparkSession:
    """Start a session, or return the running one; `session("lake", **{"spark.driver.memory": "4g"})`."""
    ensure_java()
    chosen = settings(conf)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the setting alone is for spark-submit
    if chosen["spark.master"].startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if "spark.sql.warehouse.dir" not in chosen:
        warehouse = tempfile.mkdtemp(prefix="reliquary-warehouse-")
        atexit.register(shutil.rmtree, warehouse, ignore_errors=True)
        chosen["spark.sql.warehouse.dir"] = warehouse

    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
