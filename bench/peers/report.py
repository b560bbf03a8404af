"""The table of all peers, and its place in the README, which one command renews."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from bench.peers.rounds import Summary
from bench.peers.syncs import Proof

BEGIN = "<!-- peers: `./dev bench peers --publish` writes all between these two lines -->"
END = "<!-- peers: end -->"
WIDTH = 100
"""The longest line of prose in a page."""


def table(
    summaries: Sequence[Summary], proofs: Sequence[Proof], titles: dict[str, str], settings: dict[str, str]
) -> str:
    """Rates, ratios to the reference, processor time and the verdict of the round of syncs, as Markdown."""
    shapes = list(dict.fromkeys(each.shape for each in summaries))
    cells = {(each.peer, each.shape): _cell(each) for each in summaries}
    proven = {each.peer: _verdict(each) for each in proofs}
    names = " | ".join(shape.replace("x", " × ") for shape in shapes)
    lines = [
        f"| Messages/s, ratio, server µs a message | {names} | Syncs a confirm, fastest |",
        f"|---|{'---:|' * len(shapes)}---|",
    ]
    for peer in dict.fromkeys(each.peer for each in summaries):
        rates = " | ".join(cells.get((peer, shape), "–") for shape in shapes)
        lines.append(f"| {titles[peer]}, {settings[peer]} | {rates} | {proven.get(peer, 'not looked at')} |")
    return "\n".join(lines) + "\n"


def _cell(summary: Summary) -> str:
    ratio = "" if summary.ratio is None else f", {summary.ratio:.2f}"
    return f"{summary.messages_per_second:,.0f}{ratio}, {summary.server_us:.0f} µs"


def _verdict(proof: Proof) -> str:
    syncs = f"{proof.syncs / proof.confirms:.2f}" if proof.confirms else "–"
    words = "" if proof.holds else ": **not every confirm waits for a sync**"
    return f"{syncs}, {proof.fastest_confirm_ms:.1f} ms{words}"


def put_between_marks(text: str, block: str) -> str:
    """Return a page whose part between the two marks is this block."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no place for the table: {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{block}{END}{after}"


def publish(page: Path, lines: str, conditions: str) -> None:
    """Replace the figures in a page by a table, and by a sentence on how they came about."""
    sentence = textwrap.fill(f"{conditions[0].upper()}{conditions[1:]}.", WIDTH)
    page.write_text(put_between_marks(page.read_text(), f"{lines}\n{sentence}\n"))
