"""Tests of Get Queue Path: the path name and the computer of a format name."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import GetQueuePath
from tests.queueing.manager_harness import COMPUTER, Bench

GUID = UUID("0F0E0D0C-0B0A-0908-0706-050403020100")


def path_of(bench: Bench, name: str) -> Any:
    return bench.ask(GetQueuePath(0, name))


@pytest.mark.spec("DM-259")
@pytest.mark.parametrize(
    ("name", "path", "machine"),
    [
        ("DIRECT=OS:host\\private$\\orders", "host\\private$\\orders", "host"),
        ("DIRECT=TCP:10.0.0.1\\orders;JOURNAL", "10.0.0.1\\orders;JOURNAL", "10.0.0.1"),
        ("DIRECT=HTTP://host:8080/msmq/orders", "", "host"),
        ("DIRECT=HTTPS://[::1]:8080/msmq/orders", "", "::1"),
        ("DIRECT=HTTPR://host:8080/httpr/mq#orders", "", "host"),
    ],
)
def test_a_direct_name_says_it_itself(name: str, path: str, machine: str) -> None:
    answer = path_of(Bench(), name)
    assert (answer.status, answer.path, answer.machine) == (HResult.OK, path, machine)


@pytest.mark.spec("DM-260", "DM-261")
def test_the_path_of_a_local_queue_is_found() -> None:
    bench = Bench(".\\sales", "orders")
    sales, orders = bench.queue(".\\sales").record, bench.queue().record
    answer = path_of(bench, f"PUBLIC={sales.identifier}")
    assert (answer.path, answer.machine) == (sales.pathname, COMPUTER)
    answer = path_of(bench, f"PRIVATE={bench.state.identity().identifier}\\{orders.number:x}")
    assert (answer.path, answer.machine) == (orders.pathname, COMPUTER)
    answer = path_of(bench, f"PRIVATE={bench.state.identity().identifier}\\FFFF")
    assert (answer.status, answer.path, answer.machine) == (HResult.OK, "", COMPUTER)


@pytest.mark.spec("DM-260", "DM-261")
@pytest.mark.parametrize("name", [f"PUBLIC={GUID}", f"PRIVATE={GUID}\\1"])
def test_what_the_directory_does_not_know_is_illegal(name: str) -> None:
    answer = path_of(Bench(), name)
    assert (answer.status, answer.path, answer.machine) == (HResult.ILLEGAL_FORMATNAME, "", "")


@pytest.mark.spec("DM-258", "DM-262")
@pytest.mark.parametrize("name", [f"CONNECTOR={GUID}", "MULTICAST=224.1.1.1:1", f"DL={GUID}"])
def test_other_names_have_no_path(name: str) -> None:
    answer = path_of(Bench(), name)
    assert (answer.status, answer.path, answer.machine) == (HResult.OK, "", "")


def test_what_is_no_format_name_is_refused() -> None:
    assert path_of(Bench(), "orders").status is HResult.ILLEGAL_FORMATNAME
