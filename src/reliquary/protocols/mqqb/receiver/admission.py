r"""Limits streams and senders, because no peer is authenticated and a sender is only a GUID in a packet.

    streams               of all senders; each is a row that is never removed
    streams_per_address   those that came last from one address: one computer cannot use up all streams
    senders               managers; each may get an outgoing queue PRIVATE=guid\4 for its acknowledgements
    refusals              final acknowledgements that wait for senders whose messages were refused

A message beyond a limit is dropped like one that is out of turn: its session acknowledgement frees nothing,
and without an order acknowledgement the sender keeps it and sends it again later (QB-133, QB-235).  So no
message is lost, other streams of the session go on, and an administrator can raise the limit in time.

A stream that is kept is never forgotten to make room: a message of it that comes again would be taken twice,
and one that follows others would be out of turn permanently (QB-110).
"""

# DEPARTS from 3.1.5.8.6 (QB-259): a message that is in turn is dropped beyond these limits, because a client
# that invents senders and queues would fill memory and store.

from __future__ import annotations

from typing import Final

from reliquary.base.turn import Warn
from reliquary.protocols.mqqb.state import Count, Session, State
from reliquary.streams.incoming import StreamKey

NOT_ADMITTED: Final = "messages of a stream are not taken"
LONGEST_NAME: Final = 512
"""The characters of a destination; no computer name and path of a queue are longer together."""


def is_admitted(state: State, session: Session, key: StreamKey) -> bool:
    """Return whether a message of a stream may be judged; if not, count it and log the reason once."""
    why = why_not_new(state, session, key) or _why_not_refused(state, key)
    if not why:
        return True
    state.counts[Count.NOT_ADMITTED] += 1
    if why != session.not_admitted:
        session.not_admitted = why
        state.draft.ask(Warn(session.address, NOT_ADMITTED, why))
    return False


def why_not_new(state: State, session: Session, key: StreamKey) -> str:
    """Return the reason why a new stream cannot begin; empty if it can, or if the stream is known."""
    if key in state.incoming:
        return ""
    settings, address = state.settings, session.address
    if len(key[1]) > LONGEST_NAME:
        return f"its destination has more than {LONGEST_NAME} characters, so it names no queue"
    if len(state.places) >= settings.streams:
        return f"{settings.streams} streams are kept; {_advice('streams')}"
    if state.streams_from[address] >= settings.streams_per_address:
        most = settings.streams_per_address
        return f"{most} streams from {address} are kept; {_advice('streams_per_address')}"
    if key[0] not in state.by_sender and len(state.by_sender) >= settings.senders:
        return f"streams of {settings.senders} senders are kept; {_advice('senders')}"
    return ""


def _why_not_refused(state: State, key: StreamKey) -> str:
    """Return the reason why a message cannot be judged: a refusal of it could not be acknowledged."""
    refusals = state.receiver.refusals
    if refusals.total < state.settings.refusals or not refusals.of(key[0]):
        return ""
    most = state.settings.refusals
    return f"{most} refused messages wait until their senders fetch the reasons; {_advice('refusals')}"


def _advice(setting: str) -> str:
    return f"the senders of others keep them.  If all senders are real, raise mqqb.{setting}"
