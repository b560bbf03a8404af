"""Does a message cost more with larger bodies, a deeper queue, more queues or more connections?"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench.backlog import MIB, Sample, dequeue, enqueue, stalls
from bench.choices import some_of
from bench.server import DATA_PORT, Server, run_load
from bench.slopes import Point, expensive, line, slope

RESULTS = Path(__file__).parent / "results"
CASES = {
    "size": (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    "depth": (10, 1_000, 100_000, 1_000_000, 10_000_000),
    "queues": (1, 10, 100, 1_000, 10_000),
    "connections": (1, 10, 100, 1_000, 2_000),
}
QUICK = {
    "size": (100, 10_000, 1_000_000),
    "depth": (10, 1_000, 100_000),
    "queues": (1, 10, 100),
    "connections": (1, 10, 100),
}
RATIO = 0.85
"""A deep queue takes and gives messages at no less than this part of the rate of an empty one."""

Row = dict[str, Any]


class Case(NamedTuple):
    """A server with its load."""

    queues: int = 1
    connections: int = 16
    body_bytes: int = 1_000
    messages: int = 6_000


def main() -> None:
    """Measure the axes that are asked for."""
    arguments = _arguments()
    results: dict[str, list[Row]] = {}
    for axis in arguments.axes:
        extents = (QUICK if arguments.quick else CASES)[axis]
        if arguments.most:
            extents = tuple(extent for extent in extents if extent <= arguments.most)
        with tempfile.TemporaryDirectory(prefix="reliquary-bench-", dir=arguments.folder) as folder:
            measure = _depths if axis == "depth" else _loads
            results[axis] = measure(Path(folder), axis, extents, arguments)
        print("\n".join(judged(axis, results[axis])), flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "growth.json").write_text(json.dumps(results, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench growth", description=__doc__)
    parser.add_argument("--axes", type=some_of(CASES), default=",".join(CASES), help="what grows")
    parser.add_argument("--quick", action="store_true", help="small cases alone, for a small machine")
    parser.add_argument("--most", type=int, default=0, help="leave out the cases above this number")
    parser.add_argument("--rounds", type=int, default=3, help="how often to count; the median is printed")
    parser.add_argument("--sample", type=int, default=50_000, help="messages for a rate of a deep queue")
    parser.add_argument("--folder", default=None, help="where the stores lie")
    parser.add_argument("--port", type=int, default=DATA_PORT, help="the first port of the servers")
    return parser.parse_args()


def case_of(axis: str, extent: int) -> Case:
    """Return the load of a case; all others of its axis differ from it in one number alone."""
    if axis == "size":
        return Case(body_bytes=extent, messages=min(6_000, max(60, 400_000_000 // extent)))
    if axis == "queues":
        return Case(queues=extent, messages=max(6_000, extent))
    return Case(connections=extent, messages=max(2_000, 4 * extent))


def _loads(folder: Path, axis: str, extents: tuple[int, ...], arguments: argparse.Namespace) -> list[Row]:
    """Measure each case on a server of its own, all cases in turn in each round."""
    found: dict[int, list[Sample]] = {extent: [] for extent in extents}
    with ExitStack() as stack:
        servers = {}
        for place, extent in enumerate(extents):
            server = Server(folder / str(extent), port=arguments.port + 2 * place)
            servers[extent] = stack.enter_context(server)
            for name in _names(case_of(axis, extent).queues):
                server.create_queue(name)
        for _ in range(arguments.rounds + 1):
            for extent, server in servers.items():
                found[extent].append(_pairs(server, case_of(axis, extent)))
    rows: list[Row] = []
    for extent, samples in found.items():
        rows.append({"extent": extent} | middle(samples[1:]))  # one warms up
        _print(axis, rows)
    return rows


def _names(queues: int) -> list[str]:
    return [f"bench{number}" for number in range(queues)]


def _pairs(server: Server, case: Case) -> Sample:
    before = server.usage()
    load: dict[str, object] = case._asdict() | {
        "host": server.host,
        "port": server.port,
        "queues": _names(case.queues),
    }
    figures = run_load(load, "bench.growth_load")
    used = server.usage().since(before)
    return Sample(case.messages / float(figures["elapsed"]), used.each(case.messages))


def middle(samples: list[Sample]) -> Row:
    """Return the middle of each figure of some samples."""
    rows = [sample.figures() for sample in samples]
    return {name: median(row[name] for row in rows) for name in rows[0]}


def _depths(folder: Path, axis: str, extents: tuple[int, ...], arguments: argparse.Namespace) -> list[Row]:
    """Fill one queue deeper and deeper; open again at each depth, and compare with an empty queue."""
    rows: list[Row] = []
    store = folder / "store"
    for extent in extents:
        with Server(store, port=arguments.port) as server:
            filled = rows[-1]["extent"] if rows else 0
            if not filled:
                server.create_queue("bench")
                server.create_queue("empty")
            enqueue(server, extent - filled, in_flight=min(64, extent - filled))
        with Server(store, port=arguments.port) as server:
            row: Row = {"extent": extent, "open_s": round(server.seconds_to_ready, 2)}
            row["open_processor_s"] = round(server.cpu_seconds(), 2)
            row |= _beside_an_empty_one(server, arguments.sample, arguments.rounds)
            row["resident_mib"] = round(server.resident_bytes() / MIB)
        row["stalls"] = stalls(store)
        more = (row["resident_mib"] - (rows or [row])[0]["resident_mib"]) * MIB
        row["bytes_a_message"] = round(more / extent, 1) if extent >= 1_000_000 else 0.0
        rows.append(row)
        _print(axis, rows)
    return rows


def _beside_an_empty_one(server: Server, sample: int, rounds: int) -> Row:
    found: dict[str, list[Sample]] = {}
    for _ in range(rounds + 1):
        for queue in ("empty", "bench"):
            for work in (enqueue, dequeue):
                found.setdefault(f"{work.__name__}_{queue}", []).append(work(server, sample, queue))
    row: Row = {name: middle(samples[1:]) for name, samples in found.items()}  # one warms up
    for name in ("enqueue", "dequeue"):
        row |= ratios(name, row[f"{name}_empty"], row[f"{name}_bench"])
    return row


def ratios(work: str, shallow: Row, deep: Row) -> Row:
    """Return the rate of the deep queue in parts of the shallow one: as seen, and by processor time."""
    return {
        f"{work}_ratio": round(deep["per_s"] / shallow["per_s"], 2),
        f"{work}_processor_ratio": round(processor(shallow) / processor(deep), 2),
    }


def processor(row: Row) -> float:
    """Return the processor time of all threads for a message, in microseconds."""
    return float(row["foreground_us"] + row["background_us"])


def _print(axis: str, rows: list[Row]) -> None:
    """Print the last row, with the names of its columns when it is the first."""
    row = rows[-1]
    columns = [name for name, value in row.items() if name != "extent" and not isinstance(value, dict)]
    if len(rows) == 1:
        print(f"\n{axis:>12} " + " ".join(f"{name:>23}" for name in columns))
    print(f"{row['extent']:>12,} " + " ".join(f"{row[name]:>23}" for name in columns), flush=True)


def judged(axis: str, rows: list[Row]) -> list[str]:
    """Return a line for each cost of an axis: how it grows, and which cases are too expensive."""
    costs: dict[str, Callable[[Row], float]] = {"a message": processor}
    if axis == "depth":
        costs = {
            "an enqueue": lambda row: processor(row["enqueue_bench"]),
            "a dequeue": lambda row: processor(row["dequeue_bench"]),
        }
    lines = []
    for name, cost in costs.items():
        points = [Point(row["extent"], cost(row)) for row in rows]
        text = f"{name} costs {points[0].cost:.0f} us in the smallest case, slope {slope(points):+.3f}"
        if axis == "size":
            text += f", {line(points).rising * 1000:.2f} us for each KB"
        beyond = expensive(points, bytes_count=axis == "size")
        over = ", ".join(f"{point.extent:,.0f} ({point.cost / points[0].cost:.2f})" for point in beyond)
        lines.append(f"{text}; {f'more than 20 % dearer: {over}' if over else 'no case is 20 % dearer'}")
    slow = [row["extent"] for row in rows if axis == "depth" and _is_slow(row)]
    return lines + [f"below {RATIO} of an empty queue: {', '.join(map(str, slow))}"] * bool(slow)


def _is_slow(row: Row) -> bool:
    return bool(min(row["enqueue_ratio"], row["dequeue_ratio"]) < RATIO)


if __name__ == "__main__":
    main()
