"""Each part of the state names the modules that write it, and no other module does."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import reliquary.queueing
from reliquary.queueing.model import queue_state
from reliquary.queueing.model.parts import (
    access,
    deadlines,
    feed_ages,
    name_index,
    numbers,
    open_queues,
    this_manager,
    totals,
    transactions,
    travel,
    turn,
)

ROOT = Path(reliquary.queueing.__file__).parent
PARTS: dict[str, type] = {
    "access": access.AccessChecks,
    "ages": feed_ages.FeedAges,
    "counts": queue_state.Counts,
    "deadlines": deadlines.Deadlines,
    "feed": queue_state.FeedState,
    "manager": this_manager.ThisManager,
    "names": name_index.NameIndex,
    "numbers": numbers.Numbers,
    "open": open_queues.OpenQueues,
    "readers": queue_state.Readers,
    "totals": totals.Totals,
    "transactions": transactions.Transactions,
    "travel": travel.Travel,
    "turn": turn.CurrentTurn,
}
"""The attribute of `State` or `QueueState`, and the class of the part."""
OWNERS = frozenset({"state", "queue", "source", "member"})
"""The names that variables of `State` and `QueueState` have."""
CHANGING = frozenset(
    {
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "know",
        "pop",
        "remove",
        "reserve",
        "setdefault",
        "update",
    }
)
"""Methods that change a collection or a part."""


def chain(node: ast.expr) -> list[str]:
    """Return the names of an expression like `state.names.ways[text]`, without subscripts."""
    if isinstance(node, ast.Subscript | ast.Starred):
        return chain(node.value)
    if isinstance(node, ast.Attribute):
        return [*chain(node.value), node.attr]
    return [node.id] if isinstance(node, ast.Name) else [""]


def changed_by(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that a statement or a call changes."""
    match node:
        case ast.Assign() | ast.Delete():
            for target in node.targets:
                yield from target.elts if isinstance(target, ast.Tuple) else (target,)
        case ast.AugAssign() | ast.AnnAssign():
            yield node.target
        case ast.Call(func=ast.Attribute(attr=method, value=value)) if method in CHANGING:
            yield value
        case ast.Call(func=ast.Name(id="heappush" | "heappop"), args=[heap, *_]):
            yield heap
        case _:
            return


def writers() -> dict[str, set[str]]:
    """Return for each part the modules of queueing that write it."""
    found: dict[str, set[str]] = {name: set() for name in PARTS}
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            for expression in changed_by(node):
                owner, *names = chain(expression)
                is_state = owner in OWNERS or (owner == "self" and module == "model.state")
                if (
                    is_state
                    and names
                    and names[0] in PARTS
                    and (len(names) > 1 or isinstance(node, ast.Call))
                ):
                    found[names[0]].add(module)
    return found


def named(part: type) -> set[str]:
    """Return the modules or folders that the docstring of a part names."""
    text = re.search(r"Written by: ([^.]*(?:\.\w[^.]*)*)\.\n", (inspect.getdoc(part) or "") + "\n")
    assert text is not None, f"{part.__name__} does not say who writes it"
    return set(re.split(r",\s+", text[1]))


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_written_by_the_modules_that_it_names(name: str) -> None:
    allowed, found = named(PARTS[name]), writers()[name]
    strangers = {module for module in found if not {module, module.split(".")[0]} & allowed}
    assert strangers == set(), f"{PARTS[name].__name__} does not name these modules"
    idle = {each for each in allowed if each not in found | {module.split(".")[0] for module in found}}
    assert idle == set(), f"{PARTS[name].__name__} names modules that do not write it"
