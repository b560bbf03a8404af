"""SRMP and HTTPR in a process without a network: what would be sent is told that there is no connection.

An application that opens a folder itself, or a server whose SRMP is switched off, still keeps SRMP's
books: receipts that are owed are written, streams know which of their messages left.  All of it
waits in outgoing queues until a server with a network opens the folder.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from reliquary.base.turn import Effect
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.protocols.httpr import effects as httpr
from reliquary.protocols.httpr import events as httpr_events
from reliquary.protocols.srmp.effects import EndSession, ListenTo, Post, SendApdu
from reliquary.protocols.srmp.events import Failure, PostEnded

NO_NETWORK = "there is no network in this process"


def unplugged(engine: Engine) -> dict[type[Effect], Callable[[Any], None]]:
    """Who performs the effects of SRMP and HTTPR where there is no network."""

    def refuse(sending: Post | SendApdu) -> None:
        ended = PostEnded(
            sending.session, sending.epoch, sending.lookup_id, 0, Failure.NO_CONNECTION, NO_NETWORK
        )
        with suppress(EngineStopped):
            engine.submit(ended)

    def fail(request: httpr.SendRequest) -> None:
        no_way = httpr_events.Failure.NO_CONNECTION
        with suppress(EngineStopped):
            engine.submit(
                httpr_events.RequestFailed(request.channel, request.epoch, request.number, no_way, NO_NETWORK)
            )

    return {
        Post: refuse,
        SendApdu: refuse,
        EndSession: _nothing,
        ListenTo: _nothing,
        httpr.SendRequest: fail,
        httpr.HangUp: _nothing,
        httpr.CutConnection: _nothing,
    }


def _nothing(_: Effect) -> None:
    pass
