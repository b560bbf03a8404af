"""The stages of the path of a message, and to which of them a moment of the server belongs.

    loop --> read --> parse --> route --> decode --> engine --> rules --> rows --> log --> sync --> answer

A moment is a stack of Python frames.  The innermost function of Reliquary that has a place here decides;
functions of `net` that the engine called, and those that flush, belong to the answer.  A module is found by
the longest beginning of its name, so a new module belongs to the stage of its folder until it gets a place.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

import reliquary

STAGES: Final = {
    "loop": "uvloop and the kernel: wait for events, receive from sockets, send to them",
    "read": "the connection takes bytes, keeps the order of requests, watches its limits",
    "parse": "bytes become a request: httptools and its callbacks",
    "route": "path to handler; who asks, and whether the page may",
    "decode": "the body of a request becomes messages and an event",
    "engine": "events become turns, turns become batches; timers",
    "rules": "the queue manager: rights, names, limits, numbers, positions, hand-outs",
    "rows": "memory and rows change; records are encoded, with checksums and history",
    "log": "one RocksDB batch is filled and written",
    "sync": "the log is synced; waiting answers are released",
    "answer": "results become bytes for the socket",
    "other": "all else of the loop's thread",
}
"""The work of each stage, in words for the table."""

_PLACES: Final = {
    "net": "read",
    "net/http/reader": "parse",
    "net/http/request": "parse",
    "net/http/request_head": "parse",
    "net/http/headers": "parse",
    "net/http/mounts": "route",
    "net/http/responder": "answer",
    "net/http/response": "answer",
    "net/identity": "route",
    "net/api": "decode",
    "net/api/plane": "route",
    "net/api/routes": "route",
    "net/clock": "engine",
    "engine": "engine",
    "engine/syncs": "sync",
    "queueing": "rules",
    "queueing/changes": "rows",
    "queueing/model/history": "rows",
    "queueing/model/message_store": "rows",
    "queueing/model/order": "rows",
    "protocols": "rules",
    "streams": "rules",
    "store": "rows",
    "store/rocks": "log",
    "store/rocks sync": "sync",
    "store/mark": "sync",
    "store/witness": "sync",
    "base/rows": "rows",
    "server": "loop",
}
"""Modules, folders, and single functions after a space; what is missing belongs to its caller's stage."""
_WAY_IN: Final = frozenset({"read", "parse", "route", "decode"})
_FLUSHES: Final = frozenset({"flush", "_flush"})
_SOURCE: Final = str(Path(reliquary.__file__).parent) + "/"


def stage_of(frame: FrameType | None) -> str:
    """Return the stage to which the work of this stack belongs."""
    found = ""
    for module, function in functions_in(frame):
        found = found or place_of(module, function)
        if found in _WAY_IN and (module.startswith("engine/") or function in _FLUSHES):
            return "answer"
    return found or "other"


def functions_in(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """Return module and name of the functions of Reliquary in a stack, innermost first."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_SOURCE):
            yield module_of(code), code.co_name
        frame = frame.f_back


def module_of(code: CodeType) -> str:
    """Return the module of a function of Reliquary as "engine/loop", of others an empty text."""
    name = code.co_filename
    return name[len(_SOURCE) : -len(".py")] if name.startswith(_SOURCE) else ""


@cache
def place_of(module: str, function: str) -> str:
    """Return the stage of one function, or an empty text if its caller decides."""
    if f"{module} {function}" in _PLACES:
        return _PLACES[f"{module} {function}"]
    while module and module not in _PLACES:
        module = module.rpartition("/")[0]
    return _PLACES.get(module, "")


def working(frame: FrameType | None) -> FrameType | None:
    """Return the frame that was at work: the caller, if a function had not begun yet.

    Python handles a signal at the next instruction.  Work of uvloop is therefore seen at the first
    instruction of the function that it calls next.
    """
    while frame is not None and frame.f_lasti <= _first(frame.f_code):
        frame = frame.f_back
    return frame


@cache
def _first(code: CodeType) -> int:
    """Return the place of the instruction at which a function begins to work."""
    return next((each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"), -1)
