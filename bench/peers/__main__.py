"""How fast are durable queues of other makers on this disk, and how fast is ours beside them?"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.choices import some_of
from bench.peers.chart import chart
from bench.peers.ours import Reliquary
from bench.peers.peer import HOST, Measured, NotServing, Serving, processor_seconds
from bench.peers.report import publish, table
from bench.peers.rounds import Figure, Summary, order, summaries
from bench.peers.syncs import HELD_MS, PAUSE, NotWatched, Proof, proof, watched
from bench.peers.table import MEASURED, REFERENCE
from bench.queue import RESULTS, SHAPES
from bench.server import run_load
from tools import system_packages

ROOT = RESULTS.parents[1]
DRAWING = ROOT / "docs" / "peers.svg"
WARM_UP, PROVING = 1.0, 4.0
"""Seconds of the load before each that counts, and of the load whose syncs are held."""


def main() -> None:
    """Measure all that are here in interleaved rounds, look at their syncs, and write it all down."""
    arguments = _arguments()
    present = _present(arguments.peers, install=arguments.install)
    busy = os.getloadavg()[0]
    figures: list[Figure] = []
    print(f"{'round':<6}{'peer':<12}{'shape':<7}{'msgs/s':>9}  server us/msg  load us/msg  confirm p50")
    for number in range(arguments.rounds):
        for name in order(list(present), number):
            try:
                figures += _round(present[name], number, arguments)
            except NotServing as why:
                print(f"{name} is skipped: {why}.")
                figures = [figure for figure in figures if figure.peer != name]
                del present[name]
    proofs = [] if arguments.no_syncs else _proofs(present, arguments)
    _write(present, summaries(figures, REFERENCE), figures, proofs, _conditions(arguments, busy), arguments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench peers", description=__doc__)
    parser.add_argument(
        "--peers", type=some_of(MEASURED), default=",".join(MEASURED), help="which to measure"
    )
    parser.add_argument("--shapes", type=some_of(SHAPES), default=",".join(SHAPES), help="which loads to run")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    parser.add_argument("--seconds", type=float, default=5, help="how long each load runs")
    parser.add_argument("--folder", default=None, help="where the stores lie; its disk is what is measured")
    parser.add_argument("--install", action="store_true", help="install those that are missing, with apt-get")
    parser.add_argument("--no-syncs", action="store_true", help="leave out the round that looks at syncs")
    parser.add_argument("--publish", action="store_true", help="put table and drawing into the documentation")
    return parser.parse_args()


def _present(names: list[str], *, install: bool) -> dict[str, Measured]:
    """Return those that can take part; one sentence names each that cannot."""
    wanted = {name: MEASURED[name] for name in names}
    if install:
        strace = system_packages.NEEDED["strace"]
        system_packages.provide([strace, *(each.need for each in wanted.values())])
    present = {}
    for name, each in wanted.items():
        if not each.need.present():
            print(f"{name} is skipped: it is not installed; --install adds {' '.join(each.need.apt)}.")
        elif why := each.refusal():
            print(f"{name} is skipped: {why}.")
        else:
            present[name] = each
    return present


def _folder(arguments: argparse.Namespace) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder)


def _round(peer: Measured, number: int, arguments: argparse.Namespace) -> Iterator[Figure]:
    """Yield all loads of one peer, on a server and a folder of their own."""
    with _folder(arguments) as folder, peer.serve(Path(folder)) as server:
        for shape in arguments.shapes:
            figure = _measure(peer, server, shape, number, arguments.seconds)
            _print(figure)
            yield figure


def _load(peer: Measured, queue: str, shape: str, seconds: float, **more: object) -> dict[str, Any]:
    producers, in_flight, consumers = SHAPES[shape]
    settings: dict[str, object] = {
        "host": HOST,
        "port": peer.port,
        "peer": peer.name,
        "queue": queue,
        "producers": producers,
        "in_flight": in_flight,
        "consumers": consumers,
        "seconds": seconds,
    }
    return run_load(settings | more, peer.program)


def _measure(peer: Measured, server: Serving, shape: str, number: int, seconds: float) -> Figure:
    """Return one load, after a short one on a queue of its own."""
    warm, queue = f"warm-{shape}", f"bench-{shape}"
    server.create_queue(warm)
    server.create_queue(queue)
    _load(peer, warm, shape, min(WARM_UP, seconds))
    used = processor_seconds(server.pid)
    figures = _load(peer, queue, shape, seconds)
    used = processor_seconds(server.pid) - used
    through = figures["acknowledged_in_all"] or 1
    return Figure(
        peer=peer.name,
        shape=shape,
        round=number,
        messages_per_second=figures["acknowledged"] / figures["elapsed"],
        server_us=used / through * 1e6,
        load_us=figures["processor_seconds"] / through * 1e6,
        confirm_ms=figures["confirm"]["p50_ms"],
    )


def _proofs(present: dict[str, Measured], arguments: argparse.Namespace) -> list[Proof]:
    if shutil.which("strace") is None:
        print("The syncs are not looked at: strace is not installed; --install adds it.")
        return []
    print(f"\nsyncs held for {HELD_MS} ms each, one producer, one message at a time")
    found = []
    for name, peer in present.items():
        try:
            each = _proof(peer, arguments)
        except NotWatched as why:
            print(f"{name}: its syncs are not looked at, for strace may not follow it: {why}.")
            continue
        found.append(each)
        verdict = "every confirm waited for a sync" if each.holds else "NOT every confirm waited for a sync"
        fastest = f"fastest confirm {each.fastest_confirm_ms} ms"
        print(f"{name:<11} {each.confirms} confirms, {each.syncs} syncs, {fastest}: {verdict}", flush=True)
    return found


def _proof(peer: Measured, arguments: argparse.Namespace) -> Proof:
    with _folder(arguments) as folder, peer.serve(Path(folder)) as server:
        server.create_queue("bench")
        with watched(server.pid, Path(folder)) as watch:
            figures = _load(peer, "bench", "1x1", PROVING, consume=False, pause=PAUSE)
    return proof(peer.name, figures, watch.syncs)


def _conditions(arguments: argparse.Namespace, busy: float) -> str:
    """Return one sentence on how the figures came about."""
    cores = os.cpu_count()
    state = "a quiet machine" if busy < 0.5 else f"a machine busy with other work (load {busy:.1f} before)"
    return (
        f"the middle of {arguments.rounds} interleaved rounds, {arguments.seconds:g} s a load, "
        f"bodies of 1 KB, {cores} cores for server and load, {state}"
    )


def _print(figure: Figure) -> None:
    print(
        f"{figure.round + 1:<6}{figure.peer:<12}{figure.shape:<7}{figure.messages_per_second:>9,.0f}"
        f"  {figure.server_us:>13.1f}  {figure.load_us:>11.1f}  {figure.confirm_ms:>8.2f} ms",
        flush=True,
    )


def _write(
    present: dict[str, Measured],
    rows: list[Summary],
    figures: list[Figure],
    proofs: list[Proof],
    conditions: str,
    arguments: argparse.Namespace,
) -> None:
    titles = {name: each.title for name, each in present.items()}
    settings = {name: each.setting for name, each in present.items()}
    unproven = [each.peer for each in proofs if not each.holds]
    lines = table(rows, proofs, titles, settings)
    drawing = chart(rows, titles, Reliquary.name, unproven, conditions)
    print(f"\n{lines}\n{conditions}; ratios to {titles.get(REFERENCE, REFERENCE)} of the round")
    RESULTS.mkdir(exist_ok=True)
    result = {
        "conditions": conditions,
        "titles": titles,
        "reference": REFERENCE,
        "summaries": rows,
        "proofs": proofs,
        "figures": figures,
    }
    (RESULTS / "peers.json").write_text(json.dumps(msgspec.to_builtins(result), indent=2) + "\n")
    (RESULTS / "peers.svg").write_text(drawing)
    if arguments.publish:
        DRAWING.write_text(drawing)
        publish(ROOT / "README.md", lines, conditions)


if __name__ == "__main__":
    main()
