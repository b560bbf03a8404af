"""An agent without `await`; what it does is shown beside the async one."""

from __future__ import annotations

from pathlib import Path

import pytest

import reliquary
from reliquary.client.agent import AsyncAgent, AsyncReceiving
from reliquary.client.sync.agent import Agent, Receiving
from tests.client.served import served
from tests.client.sync.mirror import differences


def test_each_method_has_an_async_counterpart() -> None:
    assert differences(Agent, AsyncAgent, inside={"open"}) == []
    assert differences(Receiving, AsyncReceiving, inside={"begin", "join", "part", "end"}) == []


def fail(agent: Agent) -> None:
    with agent.receive("replies", timeout=20) as message:
        assert message is not None
        agent.send("orders", "never")
        raise KeyError


def test_messages_go_both_ways_in_blocks_of_a_thread(tmp_path: Path) -> None:
    with (
        served(tmp_path / "server") as running,
        reliquary.connect(running.data, control=running.control) as there,
    ):
        there.create_queue("orders")
        there.create_queue("replies").send_many(["one", "two"])
        with reliquary.agent(
            tmp_path / "agent", running.data, name="laptop/app", fetch=("replies",)
        ) as agent:
            with pytest.raises(KeyError):
                fail(agent)
            for word in ("one", "two"):
                with agent.receive("replies", timeout=20) as message:
                    assert message is not None
                    assert message.text == word
                    agent.send("orders", f"had {word}")
            with agent.transaction():
                agent.send_many("orders", ["and", "more"])
            agent.send_soap("orders", "<Envelope/>", "urn:order")
            agent.flush()
            got = [message.text for message in iter(there.queue("orders").receive, None)]
            assert got == ["had one", "had two", "and", "more", "<Envelope/>"]
            assert agent.queue("replies").info().messages == 0
            assert agent.dead_letters().receive() is None
            assert list(agent.consume("replies", timeout=0)) == []
            assert agent.status().waiting == 0
            assert agent.destination("orders").endswith("/httpr/mq#orders")
        agent.close()  # a second close does nothing
        with pytest.raises(reliquary.BadRequest, match="closed"):
            agent.flush()


def test_an_agent_that_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("not a store")
    with pytest.raises(reliquary.StoreUnusable):
        reliquary.agent(tmp_path, "http://host", name="laptop/app")
