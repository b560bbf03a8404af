"""Makes a client of the server for one process of Spark, which retries during a restart."""

from __future__ import annotations

from reliquary.client.feed import FeedClient
from reliquary.spark.access import Access

FIRST, LONGEST = 0.2, 5.0


def pauses(seconds: float) -> tuple[float, ...]:
    """Return waits between tries, which double up to five seconds and together last `seconds`.

    >>> pauses(3.0)
    (0.2, 0.4, 0.8, 1.6)
    """
    waits: list[float] = []
    wait = FIRST
    while sum(waits) < seconds:
        waits.append(min(wait, seconds - sum(waits)))
        wait = min(2 * wait, LONGEST)
    return tuple(round(each, 3) for each in waits)


def connected(access: Access) -> FeedClient:
    """Return a client; it connects with its first call."""
    return FeedClient(
        access.url,
        token=access.token,
        user=access.user or None,
        password=access.password or None,
        ca=access.ca,
        timeout=access.timeout,
        compression=access.compression,
        pauses=pauses(access.timeout if access.patience is None else access.patience),
    )
