"""Tests settings: patterns of names, and values that make no sense."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration
from reliquary.protocols.wsrm.settings import EndpointSettings, PeerSettings, WsrmSettings


@pytest.mark.spec("FC-012", "FC-013", "FC-033")
def test_the_defaults_are_those_of_wcf() -> None:
    settings = WsrmSettings()
    assert (settings.window, settings.polling) == (8, 30_000_000)
    assert (settings.acknowledgement_interval, settings.inactivity) == (200_000, 600_000_000)


def test_a_queue_is_an_endpoint_unless_only_listed_ones_are() -> None:
    listed = EndpointSettings(name="listed", window=9)
    settings = WsrmSettings(endpoints=(listed,), window=3)
    assert settings.endpoint("listed") is listed
    assert settings.endpoint("other") == EndpointSettings(name="other", window=3)
    assert settings.endpoint("") is None
    assert WsrmSettings(endpoints=(listed,), open_endpoints=False).endpoint("other") is None


def test_a_star_stands_for_any_rest() -> None:
    every = EndpointSettings(name="in/*", bounded=True)
    settings = WsrmSettings(endpoints=(every,), peers=(PeerSettings(address="wsrm://far/*", window=2),))
    assert settings.endpoint("in/a") is every
    assert settings.endpoint("out") != every
    assert settings.peer("wsrm://far/a").window == 2
    assert settings.peer("wsrm://near/a") == PeerSettings(address="wsrm://near/a")


@pytest.mark.parametrize("window", [0, 4097])
def test_windows_are_1_to_4096(window: int) -> None:
    with pytest.raises(UsageError, match=f"1 to 4096, not {window}"):
        EndpointSettings(name="a", window=window)
    with pytest.raises(UsageError, match=f"1 to 4096, not {window}"):
        PeerSettings(address="wsrm://a/", window=window)


def test_spans_and_counts_are_at_least_one() -> None:
    with pytest.raises(UsageError, match="polling is 0, it must be at least 1"):
        WsrmSettings(polling=Duration(0))
    with pytest.raises(UsageError, match="window is 1 to 4096, not 5000"):
        WsrmSettings(window=5000)


def test_an_offer_needs_a_queue_for_the_replies() -> None:
    with pytest.raises(UsageError, match="needs replies_into"):
        PeerSettings(address="wsrm://a/", offer=True)
