"""An exchange begins with nothing to say: the rules add to it."""

from __future__ import annotations

from reliquary.protocols.wsrm.codec.values import Dialect, Envelope
from reliquary.protocols.wsrm.exchange import Exchange


def test_two_exchanges_share_nothing() -> None:
    first, second = Exchange(Envelope(dialect=Dialect())), Exchange(Envelope(dialect=Dialect()))
    first.acknowledged.append(1)
    assert second.acknowledged == []
    assert (second.to, second.response, second.judging, second.reply_to) == (0, None, False, 0)
