"""Filling and draining one queue, and what that costs the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from bench.server import Server, run_load
from bench.usage import Usage

MIB = 1024 * 1024


class Sample(NamedTuple):
    """What some messages cost: their rate, and the share of one of them."""

    rate: float
    each: Usage

    def figures(self) -> dict[str, float]:
        """Return a row of the results: microseconds of the processor and bytes for a message."""
        return {
            "per_s": round(self.rate),
            "foreground_us": round(self.each.foreground * 1e6, 1),
            "background_us": round(self.each.background * 1e6, 1),
            "written_bytes": round(self.each.written),
            "read_bytes": round(self.each.read),
        }


def enqueue(server: Server, messages: int, queue: str = "bench", *, in_flight: int = 64) -> Sample:
    """Send messages of 1 KB, usually 64 with each request, over 16 connections."""
    return _sample(server, messages, queue, in_flight, produce=True)


def dequeue(server: Server, messages: int, queue: str = "bench") -> Sample:
    """Receive messages, 64 with each request, over four connections, and acknowledge them."""
    return _sample(server, messages, queue, 64, produce=False)


def _sample(server: Server, messages: int, queue: str, in_flight: int, *, produce: bool) -> Sample:
    before = server.usage()
    figures: dict[str, Any] = run_load(
        {
            "host": server.host,
            "port": server.port,
            "queue": queue,
            "producers": 16,
            "in_flight": in_flight,
            "consumers": 4,
            "seconds": 0,
            "messages": messages,
            "produce": produce,
            "consume": not produce,
        }
    )
    done = int(figures["sent" if produce else "acknowledged"])
    return Sample(done / float(figures["elapsed"]), server.usage().since(before).each(done))


def stalls(store: Path) -> int:
    """Return how often RocksDB made writers wait for its threads, by the files that report its work."""
    return sum(path.read_text(errors="replace").count("ing writes because") for path in store.glob("LOG*"))
