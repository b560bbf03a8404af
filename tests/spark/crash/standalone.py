"""Spark's own processes from the installed package: a master with workers, and a Connect server."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pyspark

from reliquary.spark.java import ensure_java
from tests.ports import free_port
from tests.spark.crash.harness import environment

HOME = Path(pyspark.__file__).parent


@contextmanager
def started(folder: Path, words: Sequence[str], ready: str) -> Iterator[None]:
    """Run a program of Spark while the block runs, from the moment when it prints a word."""
    surroundings = environment() | {
        "SPARK_HOME": str(HOME),
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOG_DIR": str(folder / "logs"),
        "SPARK_DAEMON_MEMORY": "600m",
    }
    ensure_java(surroundings)
    process = subprocess.Popen(
        [str(HOME / "bin" / "spark-class"), *words],
        cwd=folder,
        env=surroundings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        said = ""
        while ready not in said:
            line = process.stderr.readline()
            assert line, f"it ended instead of starting:\n{said}"
            said += line
        drain = threading.Thread(target=_read_on, args=(process.stderr,), daemon=True)
        drain.start()
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()


def _read_on(stream: IO[str]) -> None:
    with suppress(ValueError):  # it was closed
        for _ in stream:
            pass


@contextmanager
def master(folder: Path) -> Iterator[str]:
    """Run a master of Spark and yield its address."""
    port = free_port()
    words = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)]
    with started(folder, [*words, "--webui-port", "0"], "New state: ALIVE"):
        yield f"spark://127.0.0.1:{port}"


@contextmanager
def worker(folder: Path, address: str) -> Iterator[None]:
    """Yield a worker of a master, with one core."""
    words = ["org.apache.spark.deploy.worker.Worker", "-c", "1", "-m", "1g", "--host", "127.0.0.1"]
    with started(folder, [*words, "--webui-port", "0", address], "Successfully registered with master"):
        yield


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Yield a Connect server; its address."""
    port = free_port()
    settings = {
        "spark.master": "local[2,4]",
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    words = ["org.apache.spark.deploy.SparkSubmit"]
    words += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with started(folder, words, "Spark Connect server started"):
        yield f"sc://127.0.0.1:{port}"
