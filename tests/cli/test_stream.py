"""`reliquary stream`."""

from __future__ import annotations

from tests.cli.conftest import Run


def test_without_streams_there_is_nothing_to_list(run: Run) -> None:
    assert run("stream", "list").output == ""
    columns = run("stream", "list", "--table").output.split()
    assert columns == [
        "direction", "peer", "queue", "last", "acknowledged", "awaiting", "next_resend", "rejected",
    ]  # fmt: skip
