"""Servers that want TLS and a token, and servers that go away and come back in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from pyspark.errors import PySparkException, StreamingQueryException

from reliquary.client.sync.manager import Manager, connect
from reliquary.client.sync.portal import Portal
from reliquary.net.identity.users import User
from reliquary.server.build import build
from reliquary.server.config import Settings
from tests.client.served import served
from tests.net.http.certificate import PEM, client_context
from tests.spark.desk import Desk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_server_with_tls_and_users_is_read_with_a_token(spark: SparkSession, tmp_path: Path) -> None:
    root = User(name="root", token_sha256=sha256(b"secret").hexdigest(), groups=("administrators",))
    (tmp_path / "token").write_text("secret\n")
    with served(tmp_path / "store", certificate=PEM, users=(root,)) as server:
        with connect(server.data, control=server.control, tls=client_context(), token="secret") as manager:
            manager.create_queue("vault").send("gold")
        given = {"url": server.data, "queue": "vault", "timeout": "5"}
        trusting = given | {"ca": str(PEM)}
        read = spark.read.format("reliquary").schema("body binary")
        rows = read.options(**trusting, tokenFile=str(tmp_path / "token")).load().collect()
        assert [bytes(row["body"]) for row in rows] == [b"gold"]
        for options, reported in [
            (trusting | {"token": "wrong"}, r"TokenRefused: planning the read: .*tokenFile"),
            (given | {"token": "secret"}, r"ServerGone: .*its certificate is not trusted"),
        ]:
            with pytest.raises(PySparkException, match=reported):
                spark.read.format("reliquary").options(**options).load().collect()


@contextmanager
def running(folder: Path, port: int = 0) -> Iterator[tuple[Manager, str]]:
    """Yield a server on a port that it can have again, and a client of it."""
    settings = Settings(folder=folder, data_port=port, control_port=0)
    portal = Portal()
    try:
        server = portal.call(build(settings))
        data, control = portal.call(server.listen(settings))
        with connect(data, control=control) as manager:
            yield manager, data
        portal.call(server.stop())
    finally:
        portal.close()


def test_a_stream_waits_for_a_server_that_restarts_and_names_one_that_is_gone(
    spark: SparkSession, tmp_path: Path
) -> None:
    with running(tmp_path / "store") as (manager, url):
        manager.create_queue("orders").send_many(["a", "b"])
        desk = Desk(spark, manager, url, tmp_path)
        query = (
            desk.stream("orders", timeout="60")
            .writeStream.format("parquet")
            .options(checkpointLocation=str(desk.checkpoint("files")), path=str(tmp_path / "files"))
            .start()
        )
        query.processAllAvailable()
    with running(tmp_path / "store", urlsplit(url).port or 0) as (manager, _):
        manager.queue("orders").send("c")
        query.processAllAvailable()
        query.stop()
    assert desk.written("files") == ["a", "b", "c"]
    with pytest.raises(StreamingQueryException, match=r"ServerGone: .*does not answer"):
        desk.run(desk.stream("orders", timeout="0.2"), "files")
