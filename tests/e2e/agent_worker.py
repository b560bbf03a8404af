"""An application with an agent, in a process of its own, one step for each line that it reads.

python agent_worker.py send FOLDER SERVER FIRST END   sends these numbers to `orders`
python agent_worker.py echo FOLDER SERVER             brings `replies` into `orders`, until END

A step is a transaction of up to GROUP messages; it says the first of them when it is done.
"""

from __future__ import annotations

import sys

import reliquary

QUICK = (0.05, 0.1, 0.2)
GROUP = 5
END = "end"


def step(done: object) -> None:
    """Say what was done, and wait until there is more to do."""
    print(done, flush=True)  # noqa: T201 - the test listens
    sys.stdin.readline()


def send(agent: reliquary.Agent, first: int, end: int) -> None:
    for number in range(first, end, GROUP):
        agent.send_many("orders", [str(each) for each in range(number, number + GROUP)])
        step(number)


def echo(agent: reliquary.Agent) -> None:
    texts: list[str] = []
    while END not in texts:
        with agent.receive("replies", timeout=60) as message:
            assert message is not None, "nothing came"
            rest = agent.queue("replies").receive_many(GROUP - 1)
            texts = [each.text for each in (message, *rest)]
            agent.send_many("orders", texts)
        step(texts[0])


def main(what: str, folder: str, server: str, *numbers: str) -> None:
    fetch = ("replies",) if what == "echo" else ()
    with reliquary.agent(folder, server, name="laptop/app", fetch=fetch, retry=QUICK) as agent:
        if what == "send":
            send(agent, *map(int, numbers))
        else:
            echo(agent)
        agent.flush(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
