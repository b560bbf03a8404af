"""Messages are taken, dropped or refused."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.mqqb.receiver import messages
from reliquary.protocols.mqqb.receiver.messages import stream_number
from reliquary.queueing.model.travel.transfer import DuplicatesDropped
from reliquary.wire.packet.transaction import TransactionHeader
from tests.protocols.mqqb.mqqb_harness import MqqbBench


def test_the_number_of_a_stream_has_its_time_in_front() -> None:
    assert stream_number(TransactionHeader(0, 7, 2)) == 2 << 32 | 7


@pytest.mark.spec("QB-263", "QB-314")
def test_attributes_of_a_message_come_with_it() -> None:
    bench = MqqbBench()
    bench.accepted().user(b"body", label="a label", application_tag=7, priority=5, body_type=8)
    message = bench.receive("orders").messages[0].message
    assert (message.label, message.application_tag, message.priority) == ("a label", 7, 5)
    assert message.destination_queue == "DIRECT=TCP:10.0.0.2\\private$\\orders"


def test_a_dropped_duplicate_is_reported_to_the_history() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"a", number=1)
    peer.user(b"a", number=1)
    (dropped,) = [each for each in bench.signals if isinstance(each, DuplicatesDropped)]
    assert (dropped.carrier, dropped.destination, dropped.peer) == ("mqqb", ".\\private$\\orders", "10.0.0.1")


def test_a_packet_for_another_identifier_of_this_manager_is_taken() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    number = bench.queue("orders").number
    peer.user(b"a", to=f"PRIVATE={bench.own}\\{number:08x}")
    peer.user(b"b", to=f"PRIVATE={UUID(int=9)}\\{number:08x}")
    assert bench.bodies("orders") == [b"a"]


@pytest.mark.parametrize(
    "path", ["private$\\a;b\\c", "private$\\", "private$\\" + "x" * 300, "private$\\orders;journal"]
)
def test_a_direct_name_whose_path_is_no_path_of_a_queue_leads_nowhere(path: str) -> None:
    """Any client can send a name of this form; it must not stop the server."""
    assert messages._path_of(f"DIRECT=OS:host\\{path}") == messages.NOWHERE
