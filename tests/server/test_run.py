"""Tests a server as a process: how it starts, how it ends, and with which code."""

from __future__ import annotations

import errno
import importlib
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from reliquary.net.clock import RealClock
from reliquary.server import run
from reliquary.server.exits import Exit
from reliquary.server.logs import LogFormat, LogHandler
from tests.net.http.certificate import PEM
from tests.server.process import Process, ends, running, stop


def one_sentence(err: str) -> str:
    """Check that stderr has one line with our name; behind time and level if the server ran already."""
    err = re.sub(r"^\S+Z (WARNING|CRITICAL) ", "", err)
    assert err.startswith("reliquary: ")
    assert err.count("\n") == 1, err
    return err.removeprefix("reliquary: ").rstrip("\n")


def test_a_message_outlives_an_orderly_stop_and_a_kill(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        server.send("first")
        assert stop(server) == (Exit.OK, "")
    with running(tmp_path / "data") as server:
        server.send("second")
        server.signal(signal.SIGKILL)
        server.end()
    with running(tmp_path / "data") as server:
        assert server.labels() == ["first", "second"]
        server.signal(signal.SIGINT)
        assert server.end() == (Exit.OK, "")


def test_a_server_prints_its_addresses_and_three_commands_to_try(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        assert server.call("GET", "/health", plane=server.control)["status"] == "ready"
        commands = re.findall(r"^  (curl .+)$", server.said, re.MULTILINE)
        assert len(commands) == 3
        done = [
            subprocess.run(command, shell=True, capture_output=True, text=True, check=True)  # noqa: S602
            for command in commands
        ]
        assert '"lookup_id"' in done[0].stdout
        assert all('"body":"aGVsbG8="' in each.stdout for each in done[1:])


def test_the_commands_to_try_show_a_token_where_users_are_named(tmp_path: Path) -> None:
    token, settings = "secret", tmp_path / "settings.toml"
    digest = sha256(token.encode()).hexdigest()
    settings.write_text(f"[[users]]\nname = 'sue'\nrole = 'administrator'\ntoken_sha256 = '{digest}'\n")
    with running(tmp_path / "data", SETTINGS=str(settings)) as server:
        command = re.findall(r"^  (curl .+)$", server.said, re.MULTILINE)[0]
        for shown, expected in ((token, '"lookup_id"'), ("wrong", "UNAUTHENTICATED")):
            environment = os.environ | {"RELIQUARY_TOKEN": shown}
            done = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment)  # noqa: S602, PLW1510
            assert expected in done.stdout


def test_a_server_prints_the_addresses_that_other_managers_send_to(tmp_path: Path) -> None:
    with running(tmp_path / "data", QUEUES=r".\sales,orders") as server:
        address = f"http://localhost:{server.data.rpartition(':')[2]}"
        assert f"  others send to {address}/msmq/sales\n" in server.said
        agent = address.replace("http", "httpr")
        assert f"  others send to {agent}/httpr/mq#./sales\n" in server.said
        assert f"  others send to {address.replace('http', 'wsrm')}/wsrm/./sales\n" in server.said
        assert stop(server) == (Exit.OK, "")
    origins = {"HTTPR_ORIGIN": "httpr://mq.example", "WSRM_ORIGIN": "https://mq.example"}
    with running(tmp_path / "data", SRMP_ENABLED="false", **origins) as server:
        assert re.findall("others send to (.*)", server.said) == [
            "httpr://mq.example/httpr/mq#orders",
            "wsrms://mq.example/wsrm/orders",
        ]
    off = dict.fromkeys(("SRMP_ENABLED", "HTTPR_ENABLED", "WSRM_ENABLED"), "false")
    with running(tmp_path / "data", **off) as server:
        assert "others send" not in server.said
        assert "msmq" not in server.said
    with running(tmp_path / "data", SRMP_RECEIPTS_HOST="mq.example:80") as server:
        assert "others send to http://mq.example:80/msmq/private$/orders\n" in server.said
        assert "others read" not in server.said


def test_without_users_it_listens_beyond_the_loopback_only_where_that_is_wanted(tmp_path: Path) -> None:
    for host in ("DATA_HOST", "CONTROL_HOST"):
        code, err = ends(tmp_path / "data", **{host: "0.0.0.0"})
        assert code == Exit.USAGE
        assert f"{host.lower()} is 0.0.0.0, which other computers may reach" in one_sentence(err)
        assert not (tmp_path / "data").exists()
    with running(tmp_path / "data", DATA_HOST="0.0.0.0", OPEN_TO_NETWORK="true") as server:
        assert "  open to all    0.0.0.0: no users are named\n" in server.said
        code, err = stop(server)
    assert code == Exit.OK
    line = (
        r"\S+Z WARNING reliquary: access: no users are named: every client that reaches 0\.0\.0\.0 may .*\n"
    )
    assert re.fullmatch(line, err)


def refuse_much(server: Process) -> None:
    """Let the server refuse messages of SRMP for two causes."""
    for kind in ("text/plain", "text/plain", "multipart/related", "text/plain"):
        post = Request(f"{server.data}/msmq/private$/orders", b"x", {"Content-Type": kind})
        with pytest.raises(HTTPError, match="400"):
            urlopen(post)


def test_every_line_of_the_log_has_time_and_level_and_every_cause_is_there(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        refuse_much(server)
        code, err = stop(server)
    assert code == Exit.OK
    lines = [re.sub(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ", "", line) for line in err.splitlines()]
    refused = "WARNING reliquary: SRMP from 127.0.0.1: refused with 400"
    plain = "Content-Type: 'text/plain' is neither multipart/related nor text/xml"
    assert lines == [
        f"{refused} 1 times: {plain}",
        f"{refused} 1 times: Content-Type: a multipart body needs a boundary",
        f"{refused} 2 times: {plain}",
    ]


def test_the_log_is_json_where_that_is_wanted(tmp_path: Path) -> None:
    with running(tmp_path / "data", LOG_FORMAT="json") as server:
        refuse_much(server)
        code, err = stop(server)
    assert code == Exit.OK
    reported = [json.loads(line) for line in err.splitlines()]
    assert len(reported) == 3
    assert {(each["logger"], each["level"]) for each in reported} == {("reliquary", "WARNING")}
    (tmp_path / "data" / "FORMAT").write_text("reliquary store 99\n")
    code, err = ends(tmp_path / "data", LOG_FORMAT="json")
    assert (code, json.loads(err)["level"]) == (Exit.STORE_NEWER, "CRITICAL")


def test_a_stop_ends_the_waits_with_an_answer(tmp_path: Path) -> None:
    statuses: list[int] = []

    def wait() -> None:
        try:
            server.call("POST", "/queues/orders/receive", {"timeout": None})
        except HTTPError as refused:
            statuses.append(refused.code)

    with running(tmp_path / "data") as server:
        waiting = threading.Thread(target=wait)
        waiting.start()
        while server.call("GET", "/queues/orders", plane=server.control)["readers_waiting"] == 0:
            pass
        assert stop(server) == (Exit.OK, "")
        waiting.join()
    assert statuses == [503]


def test_a_second_signal_ends_the_server_at_once(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        server.send("kept")
        address = ("127.0.0.1", int(server.data.rpartition(":")[2]))
        with socket.create_connection(address) as half_asked:
            half_asked.sendall(b"POST /api/v1/queues HTTP/1.1\r\n")
            server.call("GET", "/health")
            server.signal(signal.SIGTERM)
            while _accepts(address):  # it waits for the one who has asked half
                pass
            server.signal(signal.SIGTERM)
            code, err = server.end()
    assert code == Exit.INTERRUPTED
    assert one_sentence(err) == "stopped at once; what was acknowledged is safe"
    with running(tmp_path / "data") as server:
        assert server.labels() == ["kept"]


def _accepts(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address).close()
    except OSError:
        return False
    return True


def test_a_second_process_on_one_folder_is_refused(tmp_path: Path) -> None:
    with running(tmp_path / "data") as first:
        code, err = ends(tmp_path / "data")
        assert code == Exit.STORE_LOCKED
        assert f"{tmp_path / 'data'} is in use by another process" in one_sentence(err)
        first.send("unharmed")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            errno.EADDRINUSE,
            "a:1 (data) is in use: stop what listens there, or choose another port with --port",
        ),
        (errno.EACCES, "a:1 (data) needs a right that this user does not have: choose a port from 1024 on"),
        (errno.EADDRNOTAVAIL, "a:1 (data) cannot be listened at: Cannot assign requested address; change it"),
    ],
)
def test_an_address_that_cannot_be_bound_is_named_with_what_to_do(code: int, expected: str) -> None:
    wanted = ["a:1 (data)", "a:2 (control)"]
    assert expected in run.listening_failure(wanted, OSError(code, "bind on address ('a', 1): no"))
    unknown = run.listening_failure(wanted, OSError(code, "no name"))
    assert (
        unknown
        == "no address for a:1 (data), a:2 (control): no name; data_port and control_port choose other ports"
    )


def test_the_port_with_tls_is_shown_and_named_when_it_is_in_use(tmp_path: Path) -> None:
    secured = {"TLS_CERTIFICATE": str(PEM), "TLS_KEY": str(PEM)}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, err = ends(tmp_path / "data", DATA_TLS_PORT=str(port), **secured)
    assert code == Exit.PORT_IN_USE
    assert f"127.0.0.1:{port} (data with TLS) is in use" in one_sentence(err)
    assert "choose another port with data_tls_port" in err
    with running(tmp_path / "data", DATA_TLS_PORT="0", **secured) as server:
        assert re.search(
            r"data plane +http://127.0.0.1:\d+\n +with TLS +https://127.0.0.1:\d+\n", server.said
        )


@pytest.mark.parametrize("plane", ["DATA_PORT", "CONTROL_PORT"])
def test_a_port_in_use_is_reported_and_the_folder_released(tmp_path: Path, plane: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, err = ends(tmp_path / "data", **{plane: str(port)})
    assert code == Exit.PORT_IN_USE
    name = plane.removesuffix("_PORT").lower()
    assert f"127.0.0.1:{port} ({name}) is in use" in one_sentence(err)
    assert f"port ({plane.lower()})" in err
    with running(tmp_path / "data") as server:
        assert server.labels() == []


def test_a_store_of_a_newer_release_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "FORMAT").write_text("reliquary store 99\n")
    code, err = ends(tmp_path / "data")
    assert code == Exit.STORE_NEWER
    assert "store version 99, this release knows 4" in one_sentence(err)
    assert [each.name for each in (tmp_path / "data").iterdir()] == ["FORMAT"]


def test_a_damaged_store_is_not_opened(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        server.send("a")
        stop(server)
    (tmp_path / "data" / "CURRENT").write_text("MANIFEST-999999\n")
    code, err = ends(tmp_path / "data")
    assert code == Exit.STORE_DAMAGED
    assert f"{tmp_path / 'data'} is damaged" in one_sentence(err)


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    code, err = ends(tmp_path)
    assert code == Exit.STORE_MISSING
    assert "it has thesis.tex" in one_sentence(err)


def test_a_folder_that_may_not_be_written_is_reported() -> None:
    code, err = ends(Path("/sys/reliquary"))  # not even by root
    assert code == Exit.NO_PERMISSION
    assert "no permission to work in /sys/reliquary" in one_sentence(err)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param({"DATA_PROT": "1"}, "did you mean RELIQUARY_DATA_PORT?", id="a misspelled name"),
        pytest.param({"QUEUES": "none;retry"}, "there is no queue none", id="a queue that cannot be"),
    ],
)
def test_bad_settings_are_a_usage_error(tmp_path: Path, settings: dict[str, str], said: str) -> None:
    code, err = ends(tmp_path / "data", **settings)
    assert code == Exit.USAGE
    assert said in one_sentence(err)


def test_assertions_must_stay_on(tmp_path: Path) -> None:
    code, err = ends(tmp_path / "data", python=["-O"])
    assert code == Exit.USAGE
    assert "assertions must stay on" in one_sentence(err)
    assert not (tmp_path / "data").exists()


def _handler() -> LogHandler:
    return LogHandler(sys.stderr, LogFormat.TEXT, RealClock())


def test_a_bug_is_reported_with_its_trace_and_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os._exit", sys.exit)
    monkeypatch.setattr(logging.getLogger("reliquary"), "handlers", [_handler()])
    with pytest.raises(SystemExit) as ended:
        run._die(AssertionError("two is three"))
    assert ended.value.code == Exit.FAILED
    *trace, last = capsys.readouterr().err.splitlines()
    assert last.endswith(
        "Z CRITICAL reliquary: a bug stopped the server: AssertionError: two is three;"
        " what was acknowledged before is safe"
    )
    assert trace[-1].endswith("Z CRITICAL reliquary:     AssertionError: two is three")


@pytest.mark.needs("strace")
@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        pytest.param("EIO", Exit.DISK_FAILED, "the disk failed under", id="an I/O error"),
        pytest.param("ENOSPC", Exit.DISK_FULL, "is full", id="no space left"),
    ],
)
def test_a_sync_that_fails_ends_the_process_and_loses_nothing_acknowledged(
    tmp_path: Path, error: str, code: Exit, said: str
) -> None:
    """Every sync from the 80th on fails; some 55 belong to the start, most of them to its tables."""
    inject = f"inject=fsync,fdatasync:error={error}:when=80+"
    strace = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=fsync,fdatasync",
        "-e",
        inject,
    ]
    acknowledged = []
    with running(tmp_path / "data", under=strace) as server:
        with suppress(OSError):
            for number in range(1000):
                server.send(f"{number}")
                acknowledged.append(f"{number}")
        ended, err = server.end()
    assert ended == code
    assert said in one_sentence(err)
    assert one_sentence(err).endswith("; what was acknowledged before is safe")
    assert len(acknowledged) > 3
    with running(tmp_path / "data") as server:
        kept = server.labels()
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) <= len(acknowledged) + 1  # the one whose answer never came may be there
        assert stop(server) == (Exit.OK, "")


# -- transactions in doubt


def left_in_doubt(folder: Path) -> str:
    """Return a folder whose server died with a prepared transaction."""
    with running(folder) as server:
        transaction: str = server.call("POST", "/transactions", {"owner": "billing"})["transaction"]
        server.call("POST", f"/queues/orders/messages?transaction={transaction}", {"text": "a", "label": "a"})
        server.tell("POST", f"/transactions/{transaction}/prepare")
        server.signal(signal.SIGKILL)
        server.end()
    return transaction


@pytest.mark.spec("DM-096", "DM-121")
def test_a_server_may_wait_for_the_outcome_of_transactions_before_it_is_ready(tmp_path: Path) -> None:
    transaction = left_in_doubt(tmp_path / "data")
    server = Process(tmp_path / "data", IN_DOUBT_WAIT="60")
    try:
        server.waits()
        assert "waits for the outcome of 1 transactions" in server.said
        planes = (server.data, server.control)
        said = [server.call("GET", "/health", plane=plane)["status"] for plane in planes]
        assert said == ["initializing", "initializing"]
        (listed,) = server.call("GET", "/transactions")["transactions"]
        assert (listed["id"], listed["owner"]) == (transaction, "billing")
        with pytest.raises(HTTPError) as refused:
            server.send("b")
        assert refused.value.code == 503
        refused.value.close()
        server.tell("POST", f"/transactions/{transaction}/commit")
        server.ready()
        assert server.labels() == ["a"]
        assert stop(server) == (Exit.OK, "")
    finally:
        server.kill()


@pytest.mark.spec("DM-123")
def test_a_server_without_the_outcome_ends_and_names_the_transactions(tmp_path: Path) -> None:
    transaction = left_in_doubt(tmp_path / "data")
    code, err = ends(tmp_path / "data", IN_DOUBT_WAIT="0.01")
    assert code == Exit.IN_DOUBT
    assert transaction in one_sentence(err)
    with running(tmp_path / "data") as server:
        assert server.labels() == []
        server.tell("POST", f"/transactions/{transaction}/abort")


def test_a_server_that_waits_for_outcomes_can_be_stopped(tmp_path: Path) -> None:
    left_in_doubt(tmp_path / "data")
    server = Process(tmp_path / "data", IN_DOUBT_WAIT="60")
    try:
        server.waits()
        assert stop(server) == (Exit.OK, "")
    finally:
        server.kill()


def test_no_module_of_a_server_imports_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", sys)  # so that it is put back
    monkeypatch.delitem(sys.modules, "pandas")
    monkeypatch.setattr(sys, "meta_path", sys.meta_path.copy())
    run.leave_out_pandas()
    with pytest.raises(ImportError, match="pandas"):
        importlib.import_module("pandas")
