"""The benchmark's profiler puts each moment of the server down to one stage."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import reliquary
from bench.stages import STAGES, module_of, place_of, stage_of, working

SOURCE = Path(reliquary.__file__).parent


def stack(*functions: str) -> FrameType:
    """Return a frame of functions that call each other, from the outermost; each is "module function"."""
    inner: Callable[[], Any] = sys._getframe
    for each in reversed(functions):
        module, _, name = each.partition(" ")
        inner = _function(SOURCE / f"{module}.py", name, inner)
    frame: FrameType = inner()
    return frame


def _function(file: Path, name: str, inner: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that seems to lie in this file, and calls the next one."""
    scope: dict[str, Any] = {"inner": inner}
    exec(compile(f"def {name}(): return inner()", str(file), "exec"), scope)  # noqa: S102 - our own text
    made: Callable[[], Any] = scope[name]
    return made


@pytest.mark.parametrize(
    ("functions", "stage"),
    [
        pytest.param(["net/http/connection data_received"], "read", id="bytes come"),
        pytest.param(["net/http/connection data_received", "net/http/reader feed"], "parse", id="a request"),
        pytest.param(["net/api/plane handle", "net/api/send send"], "decode", id="a body"),
        pytest.param(["engine/loop perform", "net/api/send _sent"], "answer", id="the engine answers"),
        pytest.param(["net/tcp/connections _flush", "net/http/connection flush"], "answer", id="bytes leave"),
        pytest.param(["engine/core turn", "queueing/rules/enqueue judge"], "rules", id="a rule"),
        pytest.param(["queueing/rules/enqueue admit", "queueing/changes/apply apply"], "rows", id="a change"),
        pytest.param(["engine/core close", "store/rocks apply"], "log", id="a write"),
        pytest.param(["engine/syncs _sync_now", "store/rocks sync"], "sync", id="a sync"),
        pytest.param(["queueing/rules/enqueue _stamp", "base/time seconds"], "rules", id="by its caller"),
        pytest.param(["server/run serve"], "loop", id="nothing runs but the loop"),
        pytest.param([], "other", id="nothing of ours"),
    ],
)
def test_the_innermost_function_with_a_place_decides(functions: list[str], stage: str) -> None:
    assert stage_of(stack(*functions)) == stage
    assert stage in STAGES


def test_every_place_is_a_module_or_a_folder_of_the_server() -> None:
    from bench.stages import _PLACES

    for place, stage in _PLACES.items():
        module, _, function = place.partition(" ")
        file = SOURCE / f"{module}.py"
        assert file.exists() or (SOURCE / module).is_dir(), f"{place}: the module does not exist"
        assert not function or f"def {function}(" in file.read_text(), f"{place}: the function does not exist"
        assert stage in STAGES
        assert place_of(module, function) == stage


def test_a_function_that_has_not_begun_counts_as_its_caller() -> None:
    seen: list[FrameType | None] = []

    def called() -> None:
        """Do nothing; only the frame of this call is of interest."""

    def on_event(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is called.__code__:
            seen.append(working(frame))

    sys.setprofile(on_event)
    called()
    sys.setprofile(None)
    assert [each.f_code.co_name for each in seen if each] == [
        "test_a_function_that_has_not_begun_counts_as_its_caller"
    ]
    assert working(sys._getframe()) is sys._getframe()


def test_other_packages_have_no_module() -> None:
    assert module_of(test_other_packages_have_no_module.__code__) == ""
