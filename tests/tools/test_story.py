"""The story of `./dev run`: its ports, what it counts, and in the long tier all of it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest

import reliquary
from reliquary.client.errors import ServerUnreachable
from tools.story import flows, pipelines, play, waiting
from tools.story.__main__ import main, managers, options_of_serve, parser, wait_for_end
from tools.story.flows import ORDERS, Flow, count_refused_duplicates
from tools.story.relay import Relay
from tools.story.sites import Pair, Site, free_mqqb_host, free_port, run_command
from tools.story.waiting import LOOK, StoryFault, wait_for

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to start in, without settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in [each for each in os.environ if each.startswith("RELIQUARY_")]:
        monkeypatch.delenv(name)
    return tmp_path


def site_of(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Site:
    """Return a site whose server is this shell script."""
    program = folder / "bin" / "reliquary"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    return Site("NORTH", folder, 1, 2)


def test_a_port_or_an_address_that_is_in_use_is_left_to_its_owner() -> None:
    with socket.socket() as taken, socket.socket() as other:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) not in {0, port}
        host = free_mqqb_host(201)
        other.bind((host, 1801))
        other.listen()
        assert free_mqqb_host(201) not in {host, "127.0.0.1"}


def test_an_impossible_port_gives_way_to_a_possible_one() -> None:
    assert 0 < free_port(65_536) < 65_536


def test_the_ports_of_the_first_manager_can_be_chosen_and_the_consoles_ask_each_other(clean: Path) -> None:
    given, rest = parser().parse_known_args(["--port", "21480", "--log-level", "info"])
    pair = managers(given, rest)
    north, south = pair.north, pair.south
    assert (north.data_port, north.control_port, rest) == (21480, 21481, ["--log-level", "info"])
    assert north.options == ["--settings", "reliquary-story/north.toml", "--first-queue", "orders", *rest]
    [peer] = tomllib.loads((clean / "reliquary-story/north.toml").read_text())["peers"]
    assert peer == {"name": "SOUTH", "control": south.console}
    ports = {north.data_port, north.control_port, south.data_port, south.control_port}
    assert len(ports | {pair.to_north, pair.to_south}) == 6


def test_both_managers_reach_each_other_through_the_relay_alone(clean: Path) -> None:
    pair = managers(*parser().parse_known_args(["--port", "21480"]))
    for site in (pair.north, pair.south):
        assert str(site.data_port) not in str(dict(site.settings))
    assert pair.north.settings["SRMP_RECEIPTS_HOST"] == f"127.0.0.1:{pair.to_north}"
    assert pair.south.settings["MQQB_ADDRESSES"] == pair.mqqb_to_south
    hosts = {pair.north.settings["MQQB_HOST"], pair.south.settings["MQQB_HOST"], pair.mqqb_to_south}
    assert len(hosts) == 3
    targets = {pair.north.data_port, pair.south.data_port, 1801}
    assert {port for _, port in pair.routes().values()} == targets


def test_variables_choose_like_options_and_settings_of_the_user_are_kept(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELIQUARY_DATA_PORT", "21480")
    given, rest = parser().parse_known_args(["--control-port", "21490", "--settings", "mine.toml"])
    assert options_of_serve(given) == ["--port", "21480", "--control-port", "21490"]
    assert managers(given, rest).north.options == ["--first-queue", "orders", "--settings", "mine.toml"]


def test_a_folder_that_cannot_be_written_is_refused_with_a_sentence(clean: Path) -> None:
    (clean / "reliquary-story").write_text("a file")
    with pytest.raises(SystemExit, match=r"\./dev run keeps its data in the folder .* cannot write there: "):
        main([])


def test_an_option_that_is_nearly_one_of_the_story_is_refused_with_its_name(
    clean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["--sory"], ["--bare", "--with-spark"]):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "there is no option --sory; did you mean --story?" in said
    assert "there is no option --with-spark; did you mean --without-spark?" in said


def test_a_server_that_does_not_start_ends_the_story_with_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(tmp_path, monkeypatch, "echo 'it waits before it is ready.'; exit 20")
    with pytest.raises(SystemExit) as ended:
        site.start()
    assert ended.value.code == 20


def test_a_server_that_ends_by_itself_ends_the_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = site_of(tmp_path, monkeypatch, "echo Try:; exit 11")
    site.start()
    assert wait_for_end([site]) == 1
    site.stop()
    assert "NORTH has ended with exit code 11" in capsys.readouterr().out


def test_a_wait_goes_on_while_there_is_progress_and_then_says_what_was_awaited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr(waiting, "pause", lambda: clock.__setitem__(0, clock[0] + LOOK))
    wait_for("the orders were there", 100, lambda: int(clock[0] / LOOK), "the queues", 2 * LOOK)
    with pytest.raises(StoryFault) as stopped:
        wait_for("the orders were there", 200, lambda: min(int(clock[0] / LOOK), 150), "the queues", 2 * LOOK)
    assert str(stopped.value) == (
        "it waited until the orders were there: 150 of 200, and no more in the last 1 s. Look at the queues"
    )


def test_a_signal_ends_the_next_wait_even_where_python_drops_its_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "stop_wanted", Event())
    site = site_of(tmp_path, monkeypatch, "echo Try:; exec sleep 60")
    site.start()
    with suppress(KeyboardInterrupt):
        waiting.stop()
    for wait in (lambda: wait_for_end([site]), lambda: wait_for("it came", 1, lambda: 0, "the queues")):
        with pytest.raises(KeyboardInterrupt):
            wait()
    site.stop()


def test_a_command_that_fails_names_itself_its_code_and_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(tmp_path, monkeypatch, "echo progress >&2; echo 'reliquary: no room' >&2; exit 30")
    with pytest.raises(StoryFault) as failed:
        run_command(site, "history", "export")
    assert str(failed.value) == "`reliquary history export` ended with exit code 30: reliquary: no room"
    assert run_command(site, "history", "export", accepted=frozenset({30})) == {}


@pytest.mark.parametrize("failure", [StoryFault("no room"), SystemExit("no room"), OSError("no room")])
@pytest.mark.parametrize(("name", "part"), [("run_lake", "The lake"), ("run_audit", "The audit")])
def test_a_part_on_spark_that_fails_ends_no_server(
    failure: BaseException,
    name: str,
    part: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> str:
        raise failure

    for each in ("run_lake", "run_audit"):
        monkeypatch.setattr(pipelines, each, fail if each == name else lambda *_: "done")
    monkeypatch.setattr(pipelines, "prepare_spark", lambda: True)
    here = Site("NORTH", Path(), 1, 2)
    play.show_spark(here, here)
    assert f"{part} failed, and both servers stay up: no room" in capsys.readouterr().out


def test_each_step_on_spark_is_announced_before_it_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before: list[str] = []

    def act(*_: object) -> str:
        before.append(capsys.readouterr().out)
        return "done"

    for each in ("prepare_spark", "run_lake", "run_audit"):
        monkeypatch.setattr(pipelines, each, act)
    here = Site("NORTH", Path(), 1, 2)
    play.show_spark(here, here)
    for number, (said, what) in enumerate(zip(before, ("installed", "lake", "audits"), strict=True), start=1):
        assert re.search(rf"{what}.* \(step {number} of {play.SPARK_STEPS}; it may take minutes\)", said)
    assert "The audit says: done" in capsys.readouterr().out


@pytest.mark.parametrize("failure", [StoryFault("no room"), ServerUnreachable(sentence="no room")])
def test_a_story_that_stops_says_why_and_ends_no_server(
    failure: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(play, "play", stop)
    here = Site("NORTH", Path(), 1, 2)
    with Relay({}) as relay:
        play.try_story(Pair(here, here, 3, 4, "127.0.0.4"), relay, with_spark=True)
    printed = capsys.readouterr().out
    assert "The story stopped: no room." in printed
    assert "Both servers stay up" in printed


def flow(*arrived: str, sent: int = 3) -> Flow:
    return Flow("SRMP", "by-srmp", lambda _: None, sent=sent, arrived=list(arrived))


def test_a_flow_counts_what_is_lost_doubled_and_out_of_order() -> None:
    good = flow("order 1", "order 2", "order 10")
    assert (good.lost, good.doubled, good.is_in_order) == (0, 0, True)
    bad = flow("order 2", "order 1", "order 1", sent=4)
    assert (bad.lost, bad.doubled, bad.is_in_order) == (2, 1, False)


def test_duplicates_are_those_of_this_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows, "run_command", lambda *_: {})
    began = datetime(2026, 11, 19, 12, tzinfo=UTC)
    rows = [
        ("duplicate", "srmp", began - timedelta(seconds=1)),
        ("duplicate", "srmp", began),
        ("arrived", "srmp", began),
        ("duplicate", "wsrm", began + timedelta(seconds=1)),
    ]
    events, protocols, times = map(list, zip(*rows, strict=True))
    table = pyarrow.table({"event": events, "protocol": protocols, "time": times})
    (tmp_path / "history").mkdir()
    pyarrow.parquet.write_table(table, tmp_path / "history" / "1-4.parquet")
    every = [Flow(name, "by", lambda _: None) for name in ("SRMP", "WS-RM", "MQQB")]
    count_refused_duplicates(Site("SOUTH", tmp_path, 1, 2), every, began)
    assert [each.refused for each in every] == [1, 1, 0]


def test_orders_are_numbered_from_one_part_to_the_next() -> None:
    seen: list[str] = []
    one = Flow("SRMP", "by-srmp", seen.extend)
    one.send_next(2)
    one.send_next(1)
    assert (seen, one.sent) == (["order 1", "order 2", "order 3"], 3)


def contents(clean: Path) -> dict[tuple[str, str], list[tuple[str, bytes]]]:
    """Return the messages in the queues of both managers, from copies of their folders."""
    found = {}
    for folder in ("reliquary-data", "reliquary-story/south"):
        shutil.copytree(clean / folder, clean / "copy")
        with reliquary.connect(clean / "copy") as manager:
            for name in [each.name for each in manager.queues() if each.kind == "private"]:
                messages = manager.queue(name).browse()
                found[folder, name] = [(each.id, each.body) for each in messages]
        shutil.rmtree(clean / "copy")
    return found


def check_table(lines: list[str]) -> None:
    """Check the last table; the one before, with four rows, shows what the senders keep."""
    rows = [line for line in lines if line.startswith("│")]
    cells = [[cell.strip() for cell in row.strip("│\n").split("│")] for row in rows[4:]]
    assert [name for name, *_ in cells] == ["SRMP", "HTTPR", "WS-RM", "MQQB", "MQQP"]
    for name, sent, delivered, refused, twice, lost, order in cells:
        wanted = str(ORDERS // 4 if name == "MQQP" else ORDERS)
        assert (sent, delivered, twice, lost) == (wanted, wanted, "0", "0"), name
        assert order == "yes" or (name, order) == ("WS-RM", "not promised")
        # the answers of the south were lost: WS-RM sends again without asking, the others may ask before
        assert int(refused) >= (name == "WS-RM"), name


@pytest.mark.long
@pytest.mark.timeout(0)  # a wait of the story ends by itself
def test_the_story_loses_nothing_is_played_once_and_ends_with_its_servers(clean: Path) -> None:
    port = free_port(0)
    command = [sys.executable, "-m", "tools.story", "--port", str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}

    def printed(
        *more: str, last: str, end: signal.Signals, do: Callable[[], object] = lambda: None
    ) -> list[str]:
        """Return the lines of a story up to the one that contains `last`; then do something, and end it."""
        lines = []
        with subprocess.Popen(
            [*command, *more], cwd=clean, env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if last in line or "The story stopped" in line:
                    do()
                    break
            process.send_signal(end)
            assert "All is stopped in order" in process.stdout.read()
            assert process.wait() == 0
        return lines

    def send_here() -> None:
        with reliquary.connect(f"http://127.0.0.1:{port}") as north:
            north.queue("orders").send("this stays too")

    check_table(printed("--without-spark", last="Look around", end=signal.SIGINT, do=send_here))
    before = contents(clean)
    assert sum(map(len, before.values())) == 4 * ORDERS + 1
    lines = printed(last="played before", end=signal.SIGTERM)
    consoles = re.findall(r"http://127\.0\.0\.1:\d+/", "".join(lines))
    assert len(set(consoles)) == 2  # both managers run again
    assert contents(clean) == before
    has_spark = find_spec("pyspark") is not None
    options = ["--story"] if has_spark else ["--story", "--without-spark"]
    lines = printed(*options, last="Look around", end=signal.SIGINT)
    check_table(lines)
    audit = [line for line in lines if line.startswith("The audit")]
    assert [line.partition(".")[0] for line in audit] == ["The audit says: proven"] * has_spark, audit
    after = contents(clean)
    assert sum(map(len, after.values())) == 8 * ORDERS + 1
    assert all(after[queue][: len(kept)] == kept for queue, kept in before.items())
    for console in consoles:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", int(console.strip("/").rpartition(":")[2])))
