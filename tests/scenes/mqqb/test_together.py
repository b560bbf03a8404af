"""Scene T-92 of MQQB: all protocols in one manager, and each takes its own messages."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from reliquary.engine.core import Core
from reliquary.protocols.httpr import events as httpr_events
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.mqqb.effects import Dial
from reliquary.protocols.srmp import events as srmp_events
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.standard import ALL_TABLES, standard
from reliquary.queueing.manager import SIGNALS, TAKES, TIMERS
from reliquary.queueing.travel.loopback import LOOPBACK
from tests.protocols.httpr import httpr_harness
from tests.protocols.mqqb.mqqb_harness import ADDRESSED, GOES_OUT, NAME, MqqbBench
from tests.protocols.srmp import srmp_harness
from tests.protocols.srmp.peer import ADMIN, read, stream_message
from tests.queueing.manager_harness import Bench

M = TypeVar("M")
LEDGER = "TCP:10.0.0.2\\private$\\torders"


class EveryProtocol(MqqbBench):
    """A manager with all protocols and the loop-back."""

    TABLES = ALL_TABLES
    GOES_OUT = (*GOES_OUT, *srmp_harness.GOES_OUT, *httpr_harness.GOES_OUT)

    def _build(self) -> None:
        protocols = (LOOPBACK, *standard(self.settings))
        self.carriers = tuple(each.carrier for each in protocols if each.carrier is not None)
        self.subscribed = frozenset(signal for each in protocols for signal in each.signals)
        Bench._build(self)
        self.machines: dict[str, Any] = {each.name: each.machine(self.rows) for each in protocols}
        self.core = Core(self.disk, self.rows)
        self.core.add(self.manager, signals=SIGNALS, takes=TAKES, timers=TIMERS)
        for each in protocols:
            self.core.add(
                self.machines[each.name],
                name=each.name,
                signals=each.signals,
                takes=each.takes,
                timers=each.timers,
            )

    def machine(self, kind: type[M]) -> M:
        """Return the machine of one protocol."""
        (found,) = [each for each in self.machines.values() if isinstance(each, kind)]
        return found

    def gone_out(self) -> list[tuple[str, str]]:
        """Return what the network was asked for since the last call: the protocol, and the host."""
        found = []
        for effect in self.out:
            match effect:
                case Dial(host=host):
                    found.append(("mqqb", host))
                case Post(server=url):
                    found.append(("srmp", url.split("/")[2]))
                case SendRequest(url=url):
                    found.append(("httpr", url.split("/")[2]))
                case _:
                    pass
        self.out.clear()
        return found


def everything() -> EveryProtocol:
    """Return a manager with all protocols, and a transactional queue."""
    bench = EveryProtocol()
    bench.handle(srmp_events.Addressed(NAME, frozenset({NAME})))
    bench.handle(httpr_events.Addressed(f"httpr://{NAME}", frozenset({NAME})))
    bench.handle(ADDRESSED)
    bench.create("torders", transactional=True)
    bench.gone_out()
    return bench


@pytest.mark.mqqb("T-92")
@pytest.mark.parametrize("in_stream", [False, True])
def test_each_protocol_sends_the_messages_to_its_own_names(in_stream: bool) -> None:
    bench = everything()
    queue = "torders" if in_stream else "orders"
    send = bench.transact if in_stream else bench.send
    for name, expected in (
        (f"DIRECT=OS:loopback\\private$\\{queue}", []),
        ("DIRECT=OS:shop\\private$\\orders", [("mqqb", "shop")]),
        ("DIRECT=TCP:fe80::1\\orders", [("mqqb", "fe80::1")]),
        ("DIRECT=HTTP://web/msmq/orders", [("srmp", "web")]),
        ("DIRECT=HTTPR://agent/httpr/mq#orders", [("httpr", "agent")]),
    ):
        send(name, b"m")
        assert bench.gone_out() == expected, name
    assert bench.bodies(queue) == [b"m"]  # by the loop-back


@pytest.mark.mqqb("T-92")
def test_each_protocol_reports_only_the_messages_that_it_brought() -> None:
    bench = everything()
    peer = bench.accepted()
    peer.user(b"binary", to=LEDGER, stream=(1, 0), negative_journaling=True)
    web = stream_message(1, body=b"web", commitment=(ADMIN, "positiveOnly", "negativeOnly"))
    bench.handle(srmp_events.PostArrived(bench.new_caller(), *web))
    assert bench.bodies("torders") == [b"binary", b"web"]
    bench.receive("torders")
    assert [each.message_class for each in peer.final_acks] == [0x4000]
    assert not [each for each in bench.out if isinstance(each, Post)]
    bench.receive("torders")
    assert len(peer.final_acks) == 1
    (post,) = [each for each in bench.out if isinstance(each, Post)]
    assert read(post.body)["decision"] == "positive"
