"""Our messages go, D.3 of the digest: PUSH, and the first half of EXCHANGE.

    HoldWanted --> MessagesHeld --> BatchPrepared, SendRequest
              '--> too large for the peer: held alone, and to the dead letters

Hold and `BatchPrepared` are one write, and the request leaves after its sync: the batch is in doubt before
the peer can have seen its end (P1, HR-051).
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.client.channel import Driven
from reliquary.protocols.httpr.client.failures import is_fetcher
from reliquary.protocols.httpr.client.phases import Move, Phase
from reliquary.protocols.httpr.client.requests import ask
from reliquary.protocols.httpr.codec.values import LARGEST_ID, Command
from reliquary.protocols.httpr.facts import BatchPrepared
from reliquary.protocols.httpr.state import HOLDER, State
from reliquary.queueing.message import MessageClass
from reliquary.queueing.travel.transfer import HoldRefusal, HoldsEnded, HoldWanted, MessagesHeld, Outcome

TOO_LARGE: Final = MessageClass.NACK_QUEUE_EXCEED_QUOTA
"""No class says that a message is larger than its receiver takes; this one comes closest."""
_MAY_SEND: Final = frozenset({Phase.READY, Phase.WAITING})


def sending_command(driven: Driven) -> Command | None:
    """How messages go to this peer; None where it takes none."""
    flows = driven.agreed.flows
    if driven.peer.exchange and Command.EXCHANGE in flows:
        return Command.EXCHANGE
    return Command.PUSH if Command.PUSH in flows else None


def may_send(state: State, driven: Driven) -> bool:
    """Whether messages wait that are ours to bring; who fetches them himself is not dialled."""
    channel = state.channels[driven.channel]
    return bool(driven.ready) and state.online and not is_fetcher(state, channel.responder)


def prepare(state: State, driven: Driven) -> bool:
    """Ask the manager for the messages of the next batch, where one may go."""
    room = len(state.channels[driven.channel].in_doubt) < driven.depth  # HR-044
    if not room or not may_send(state, driven) or sending_command(driven) is None:
        return False
    hunt, agreed = driven.hunt, driven.agreed
    queue = hunt.queue if hunt is not None else next(iter(driven.ready))
    most = hunt.most if hunt is not None else driven.most or agreed.maximum_batch_size
    driven.preparing = queue
    _hold(state, driven, min(most, agreed.maximum_batch_size), agreed.maximum_message_size)
    return True


def _hold(state: State, driven: Driven, most: int, largest: int) -> None:
    key = driven.channel, _next_id(state, driven)
    most_bytes = state.settings.batch_bytes
    wanted = HoldWanted(HOLDER, key, (driven.preparing,), max(most, 1), most_bytes, largest=largest)
    state.draft.tell(wanted)


def _next_id(state: State, driven: Driven) -> int:
    """Larger than any before, whoever remembers it (HR-052, HR-103, HR-104)."""
    batch = max(state.channels[driven.channel].last_source_id, driven.floor) + 1
    assert batch <= LARGEST_ID, "there are no more ids"
    return batch


def on_held(state: State, driven: Driven, signal: MessagesHeld, now: Instant) -> None:
    """The manager has given messages, or has none."""
    queue, limit = driven.preparing, driven.agreed.maximum_message_size
    if signal.refusal is HoldRefusal.TOO_LARGE:
        _hold(state, driven, 1, 0)
        return
    driven.preparing = 0
    if not signal.messages:
        _nothing(state, driven, queue, signal.refusal)
    elif driven.phase not in _MAY_SEND:  # it ended in the same turn
        state.draft.tell(HoldsEnded(HOLDER, (signal.key,), Outcome.TRY_LATER))
    elif signal.messages[0].body_size > limit:  # HR-098: it never can go, and is in the way of others
        state.draft.tell(HoldsEnded(HOLDER, (signal.key,), Outcome.REFUSED, TOO_LARGE))
        responder = state.channels[driven.channel].responder
        state.draft.ask(Warn(responder, "a message is too large", f"the limit is {limit} bytes"))
    else:
        _send(state, driven, queue, signal, now)


def _nothing(state: State, driven: Driven, queue: int, refusal: HoldRefusal | None) -> None:
    driven.hunt = None
    driven.ready.pop(queue, None)  # the manager tells when there is something again
    if refusal is HoldRefusal.NO_QUEUE:
        driven.queues.pop(queue, None)
        state.waiting.pop(queue, None)
        state.brought_by.pop(queue, None)


def _send(state: State, driven: Driven, queue: int, signal: MessagesHeld, now: Instant) -> None:
    """P1."""
    command, batch = sending_command(driven), signal.key[1]
    assert command is not None, "nothing was to be held for a peer that takes nothing"
    driven.ready.pop(queue, None)
    driven.ready[queue] = None  # the others have their turn
    apply(state, BatchPrepared(driven.channel, batch))
    state.begun[signal.key] = now
    driven.move(Move.FLOW)
    ask(state, driven, command, now, batch=batch, messages=signal.messages, queue=queue)
