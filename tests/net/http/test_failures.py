"""How an outgoing request can fail."""

from __future__ import annotations

import pytest

from reliquary.net.http.failures import BadResponse, ConnectFailed, ConnectionLost, RequestFailed, TimedOut


@pytest.mark.parametrize(
    ("failure", "sent"),
    [
        (ConnectFailed("x"), False),
        (ConnectionLost("x", began=False), True),
        (TimedOut("x", sent=False), False),
        (TimedOut("x", sent=True), True),
        (BadResponse("x"), True),
    ],
    ids=repr,
)
def test_every_failure_tells_whether_the_request_can_have_been_done(
    failure: RequestFailed, sent: bool
) -> None:
    assert failure.sent is sent
