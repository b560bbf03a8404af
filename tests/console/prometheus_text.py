"""A strict reader of the Prometheus text format, version 0.0.4: written from its description alone.

    # HELP name text          at most once a metric, before its samples
    # TYPE name kind          at most once a metric, before its samples
    name{label="value",...} number

All lines of a metric stand together; a histogram has `_bucket` (with `le`), `_sum` and `_count`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}

Labels = tuple[tuple[str, str], ...]


@dataclass
class Read:
    """One metric as it was read."""

    name: str
    kind: str = ""
    meaning: str = ""
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict)
    """The samples by the suffix of their name and their labels."""


def read(text: str) -> dict[str, Read]:
    """Return the metrics of a page by their names; whatever breaks the format is an AssertionError."""
    assert text.endswith("\n"), "the last line has no end"
    found: dict[str, Read] = {}
    current = Read("")
    for line in text.splitlines():
        comment = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
        if comment is not None:
            word, name, rest = comment.groups()
            if name != current.name:
                assert name not in found, f"{name} stands in two places"
                current = found[name] = Read(name)
            assert not current.samples, f"{line}: behind samples"
            if word == "HELP":
                assert not current.meaning, line
                current.meaning = rest
            else:
                assert not current.kind, line
                assert rest in ("counter", "gauge", "histogram", "summary", "untyped"), line
                current.kind = rest
            continue
        _sample(line, current)
    for each in found.values():
        if each.kind == "histogram":
            _check_histogram(each)
    return found


def _sample(line: str, current: Read) -> None:
    match = SAMPLE.fullmatch(line)
    assert match, line
    name, labels, value = match[1], match[2] or "", match[match.lastindex or 0]
    suffix = name.removeprefix(current.name)
    assert name.startswith(current.name), f"{line}: not of {current.name}"
    assert suffix in SUFFIXES.get(current.kind, ("",)), line
    pairs = tuple((key, _unescaped(text)) for key, text in re.findall(LABEL, labels))
    assert len(dict(pairs)) == len(pairs), f"{line}: a label comes twice"
    assert (suffix, pairs) not in current.samples, f"{line}: comes twice"
    current.samples[suffix, pairs] = float(value)
    assert current.kind != "counter" or float(value) >= 0, line


def _unescaped(text: str) -> str:
    return re.sub(r"\\.", lambda match: ESCAPES[match[0]], text)


def _check_histogram(each: Read) -> None:
    """Check that buckets grow, that the last has no bound, and that it counts all values."""
    buckets = [(dict(labels)["le"], value) for (suffix, labels), value in each.samples.items() if labels]
    bounds, counts = [float(bound) for bound, _ in buckets], [count for _, count in buckets]
    assert bounds == sorted(set(bounds)), each
    assert bounds[-1] == float("inf"), each
    assert counts == sorted(counts), each
    assert each.samples["_count", ()] == counts[-1], each
    assert ("_sum", ()) in each.samples, each
