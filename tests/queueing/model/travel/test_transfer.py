"""Tests the signals between the manager and a carrier."""

from __future__ import annotations

import inspect

from reliquary.base.turn import DirectedSignal, Signal
from reliquary.queueing.manager import SIGNALS
from reliquary.queueing.model.travel import transfer
from reliquary.queueing.model.travel.asking import RequestMade
from reliquary.queueing.travel.remote import RemoteReadsEnded
from tests.queueing.exchange import ManualCarrier


def test_every_signal_goes_to_the_manager_or_to_carriers_and_none_to_both() -> None:
    words = {
        word
        for _, word in inspect.getmembers(transfer, inspect.isclass)
        if issubclass(word, Signal) and word not in (Signal, DirectedSignal)
    }
    assert (set(SIGNALS) - {RemoteReadsEnded, RequestMade}) | set(ManualCarrier.SIGNALS) == words
    assert not set(SIGNALS) & set(ManualCarrier.SIGNALS)
