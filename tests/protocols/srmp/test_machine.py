"""The machine has a rule for each event and signal of its lists."""

from __future__ import annotations

from reliquary.base.turn import DirectedSignal, Event, Signal
from reliquary.protocols.srmp import events, machine
from reliquary.protocols.srmp.sender import posting
from reliquary.queueing.manager import SIGNALS
from reliquary.queueing.model.travel import transfer
from reliquary.queueing.model.travel.asking import RequestMade
from reliquary.queueing.travel.remote import RemoteReadsEnded


def test_every_event_of_the_room_has_a_rule() -> None:
    defined = {each for each in vars(events).values() if isinstance(each, type) and issubclass(each, Event)}
    assert defined - {Event} == set(machine.TAKES)


def test_every_signal_of_a_transfer_has_a_rule_in_one_role() -> None:
    defined = {
        each for each in vars(transfer).values() if isinstance(each, type) and issubclass(each, Signal)
    }
    of_batches = {
        transfer.MessagesWaiting,
        transfer.MessagesReserved,
        transfer.BatchJudged,
        transfer.RoomKnown,
    }
    for_packets = {transfer.IdentityKnown, transfer.RunJudged}
    heard = (set(machine.SIGNALS) | set(SIGNALS)) - {posting.PostsDue, RemoteReadsEnded, RequestMade}
    assert defined - {Signal, DirectedSignal} - of_batches - for_packets == heard
    assert not set(machine.SIGNALS) & set(SIGNALS)
