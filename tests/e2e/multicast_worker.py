"""An application beside a server in a network namespace: it listens to a group, or sends to one.

python -m tests.e2e.multicast_worker listen 234.1.1.1:8001 200     "ready", then a line for each message
python -m tests.e2e.multicast_worker send 234.1.1.1:8001 200       sends, and waits until all have gone
python -m tests.e2e.multicast_worker counts                        what the server counted, a line for each
"""

from __future__ import annotations

import re
import sys
from urllib.request import urlopen

from reliquary import connect

SERVER = "http://127.0.0.1:8480"
METRICS = "http://127.0.0.1:8481/metrics"
QUEUE = "ticks"


def body(number: int) -> str:
    """Return a message; each tenth is too large for one packet."""
    return f"{number} " + "x" * (10_000 if number % 10 == 0 else 500)


def listen(address: str, count: int) -> None:
    """Take this many messages and print the first word of each; after the last one none is waited for."""
    with connect(SERVER) as manager:
        queue = manager.create_queue(QUEUE, multicast_address=address)
        say("ready")
        number = ""
        while number != str(count - 1):
            for message in queue.receive_many(count, timeout=None):
                number = message.text.partition(" ")[0]
                say(number if message.text == body(int(number)) else f"{number} is damaged")


def send(address: str, count: int) -> None:
    """Send this many messages to a multicast address."""
    with connect(SERVER) as manager:
        manager.queue(f"MULTICAST={address}").send_many(body(number) for number in range(count))


def counts() -> None:
    """Print the counters of multicast of the server."""
    with urlopen(METRICS) as answer:
        page = answer.read().decode()
    for name, value in re.findall(r'reliquary_multicast_total\{kind="(.*?)"\} (\d+)', page):
        say(f"{name} {value}")


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["listen", address, count]:
            listen(address, int(count))
        case ["send", address, count]:
            send(address, int(count))
        case ["counts"]:
            counts()
        case _:
            sys.exit(__doc__)
