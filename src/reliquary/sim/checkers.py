"""Checks at the end of a run all messages that were sent and received.

    loss          a confirmed message was stored, and if it left, `reasons` has judged why; or it was stored
                  after the backup from which the store was restored
    refusal       a message that was refused, or whose commit or publish was never requested, is never stored
    all or none   the messages of one request were stored together, or not at all
    duplication   a message that was consumed is not handed out again afterwards
    outcomes      a prepared transaction ends as was decided, and says so whenever it is asked again
    news          a sender that requested it gets one true acknowledgement of each message
    cursors       a cursor goes forward only, unless what it waited for came in behind it
    order         one sender's messages of one priority come out of their queue as they went in
    identifiers   no Identifier and no LookupIdentifier names two messages, not even after a restore
    feeds         who reads a feed is given all of it, each message once, and never another under a number

Order holds between two messages of one sender, one priority and one queue whose sends were both
confirmed, outside a transaction, and which were taken by plain receives (no cursor, no lookup, no
hold, no transaction), when neither was ever held, received in a transaction, moved or delayed: all of these
take a message out of its turn or bring it back later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from reliquary.base.hresult import HResult
from reliquary.queueing.model import events, facts
from reliquary.queueing.model.message import NO_OBJECT, Acknowledgement, Message, MessageClass
from reliquary.queueing.model.staging import numbers_of
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Copy
from reliquary.queueing.staging.facts import MessagesStaged, StagePlaced, StagePublished
from reliquary.sim.feeds import check_feeds
from reliquary.sim.history import (
    History,
    SenderKnowledge,
    Sending,
    Turned,
    Violation,
    acknowledged,
    named,
    shown,
)
from reliquary.sim.ledger import ITSELF, Ledger
from reliquary.sim.reasons import is_for_good, received


def check_history(history: History, ledger: Ledger, replaced: Sequence[Ledger] = ()) -> None:
    """Run all checkers; `replaced` are the ledgers of stores that were replaced by backups."""
    check_loss(history, ledger, replaced)
    check_refusals(history, ledger)
    check_all_or_none(history, ledger)
    check_duplication(history, ledger)
    check_outcomes(history, ledger)
    check_acknowledgements(history, ledger)
    check_cursors(history)
    check_order(history)
    check_identifiers([history])
    check_feeds(history)


def check_loss(history: History, ledger: Ledger, replaced: Sequence[Ledger] = ()) -> None:
    """Check that every confirmed recoverable message is or was in its queue, unless the queue was deleted.

    A store that was replaced by a backup may have had the message, or may have deleted the queue.
    """
    for sending in history.sendings.values():
        if sending.standing is not SenderKnowledge.CONFIRMED or sending.express:
            continue
        stores = (ledger, *replaced)
        if not any(sending.body in each.stored or _was_deleted(each, sending.queue) for each in stores):
            raise Violation(f"loss: {shown(sending.body)} was confirmed and is not there")


def _was_deleted(ledger: Ledger, queue: str) -> bool:
    return f"sim\\private$\\{queue}".casefold() in ledger.deleted


def check_refusals(history: History, ledger: Ledger) -> None:
    """Check that a refused request changed nothing."""
    for turned in history.turns:
        for fact in turned.facts if not turned.lost else ():
            if isinstance(fact, StagePublished | StagePlaced) and turned.kept:
                _check_published(history, ledger, turned, fact)
            if not isinstance(fact, facts.MessagesStored):
                continue
            for position, message in zip(fact.positions, fact.messages, strict=True):
                if message.message_class != MessageClass.NORMAL:
                    continue
                late = position.reason is MessageClass.NACK_REACH_QUEUE_TIMEOUT
                sending = history.sendings[message.body]
                if sending.standing is SenderKnowledge.REFUSED and not late:
                    raise Violation(f"{shown(message.body)} was refused and stored in turn {turned.number}")


def _check_published(
    history: History, ledger: Ledger, turned: Turned, fact: StagePublished | StagePlaced
) -> None:
    for position in fact.positions:
        body = ledger.bodies[position.message]
        if history.sendings[body].standing is SenderKnowledge.REFUSED:
            raise Violation(f"{shown(body)} was given up, and is published in turn {turned.number}")


def check_all_or_none(history: History, ledger: Ledger) -> None:
    """Check that the messages of one request were all stored, or none."""
    requests: dict[tuple[str, int], list[Sending]] = defaultdict(list)
    for sending in history.sendings.values():
        if not sending.express:
            requests[sending.sender, sending.request].append(sending)
    for sendings in requests.values():
        stored = [sending.body in ledger.stored for sending in sendings]
        if any(stored) and not all(stored) and not _was_deleted(ledger, sendings[0].queue):
            names = [shown(sending.body) for sending in sendings]
            raise Violation(f"only some messages of one request are stored: {names}, {stored}")


def check_duplication(history: History, ledger: Ledger) -> None:
    """Check that a consumed message has left its queue and is not handed out again."""
    for turned in history.turns:
        for _, answer in received(history, turned) if not turned.forgotten else ():
            for delivered in answer.messages:
                body = named(delivered.message)
                ours = history.consumed.get(body, turned.number)
                itself = delivered.position.reason in ITSELF
                if itself and delivered.position.lookup_id not in ledger.copies and turned.number > ours:
                    raise Violation(
                        f"duplication: {shown(body)} was received for good in turn {ours},"
                        f" and is handed out again in turn {turned.number}"
                    )
    for body, turn in history.consumed.items():
        sending = history.sendings[body]
        if body not in ledger.left and not sending.express:
            raise Violation(f"duplication: {shown(body)} was received for good in turn {turn} and is there")


def check_outcomes(history: History, ledger: Ledger) -> None:
    """Check that each transaction has the decided outcome, and that an unprepared one is aborted."""
    for decision in history.decisions:
        which = f"transaction {decision.transaction}"
        decided = "commit" if decision.commit else "abort"
        committed = ledger.outcomes.get(decision.transaction)
        if committed != decision.commit and (decision.prepared or committed):
            raise Violation(f"outcome: {which} was to {decided}, and has ended otherwise: {committed}")
        for commit, status in decision.answers:
            if commit is not decision.commit and status is HResult.OK:
                raise Violation(f"outcome: {which} was to {decided}, and the opposite was confirmed")
            if commit is decision.commit and decision.prepared and status is not HResult.OK:
                raise Violation(f"outcome: {which} was to {decided}, and this was refused: {status.name}")


def check_acknowledgements(history: History, ledger: Ledger) -> None:
    """Check for one acknowledgement of each message that requests it; it may be missing only if a queue was
    full."""
    missing = []
    for sending in history.sendings.values():
        if sending.asks is None or sending.express:
            continue
        reported = [each for each in MessageClass if acknowledged(sending.label, each) in ledger.stored]
        due = _due(sending, ledger)
        positive = any(not each.is_failure for each in reported)
        if len(reported) > 1 or (reported and reported != [due] and (positive or due is not None)):
            names = [each.name for each in reported]
            raise Violation(f"news: {shown(sending.body)} is acknowledged as {names}, and {due} is true")
        if due is not None and not reported:
            missing.append(shown(sending.body))
    if len(missing) > ledger.unkept[Copy.ACKNOWLEDGEMENT]:
        raise Violation(f"news: these were never acknowledged: {missing}")


def _due(sending: Sending, ledger: Ledger) -> MessageClass | None:
    """Return the acknowledgement that is due for a message; None while it is transferred, or if it never
    arrived."""
    body = sending.body
    if sending.asks is Acknowledgement.FULL_RECEIVE:
        return ledger.left[body][1] if body in ledger.left else None
    return MessageClass.ACK_REACH_QUEUE if body in ledger.reached else None


def check_cursors(history: History) -> None:
    """Check that a cursor shows only messages at its position or after it; a message that it waited for may
    be anywhere."""
    places: dict[tuple[int, int], int] = {}
    for turned in history.turns:
        for request, answer in received(history, turned):
            cursor = getattr(request, "cursor", 0)
            if not cursor:
                continue
            found = answer.messages[0].position.lookup_id
            place = places.get((turned.process_number, cursor), -1)
            least = place + 1 if getattr(request, "next", False) else place
            if turned.event is request and found < least:
                raise Violation(
                    f"cursor: {shown(answer.messages[0].message.body)} is shown in turn {turned.number},"
                    f" behind what the cursor showed before"
                )
            places[turned.process_number, cursor] = found


def check_order(history: History) -> None:
    """Check that messages of one sender with one priority leave in the order of their arrival."""
    touched = set(_out_of_turn(history))
    last: dict[tuple[str, str, int], Sending] = {}
    for turned in history.turns:
        for sending in _plainly_received(history, turned):
            if (
                sending.standing is not SenderKnowledge.CONFIRMED
                or sending.transaction
                or sending.body in touched
            ):
                continue
            key = (sending.sender, sending.queue, sending.priority)
            before = last.get(key)
            if before is not None and before.number > sending.number:
                raise Violation(
                    f"order: {shown(sending.body)} came out of {sending.queue} in turn {turned.number},"
                    f" after {shown(before.body)}"
                )
            last[key] = sending


def _plainly_received(history: History, turned: Turned) -> Iterator[Sending]:
    if not turned.kept:
        return
    for request, answer in received(history, turned):
        if isinstance(request, events.ReceiveMessages) and is_for_good(request) and not request.cursor:
            for delivered in answer.messages:
                sent = delivered.message.message_class == MessageClass.NORMAL
                if sent and delivered.position.reason is MessageClass.NORMAL:
                    yield history.sendings[delivered.message.body]


def _out_of_turn(history: History) -> Iterator[bytes]:
    """Yield messages that were locked, moved or delayed at any time."""
    places: dict[int, bytes] = {}
    staged: dict[int, Message] = {}
    for turned in history.turns:
        for request, answer in received(history, turned):
            if getattr(request, "hold", 0) or getattr(request, "transaction", None) is not None:
                yield from (delivered.message.body for delivered in answer.messages)
        if isinstance(turned.event, events.MoveMessage) and turned.event.lookup_id in places:
            yield places[turned.event.lookup_id]
        for fact in turned.facts:
            if isinstance(fact, MessagesStaged):
                staged |= dict(zip(numbers_of(fact.chunk), fact.messages, strict=True))
            if isinstance(fact, StagePublished | StagePlaced):
                for position in fact.positions:
                    places[position.lookup_id] = staged[position.message].body
                    if staged[position.message].delay:
                        yield staged[position.message].body
            if isinstance(fact, facts.MessagesStored):
                for position, message in zip(fact.positions, fact.messages, strict=True):
                    places[position.lookup_id] = message.body
                    if message.delay:
                        yield message.body


def check_identifiers(histories: Iterable[History]) -> None:
    """Check that an identifier names one message only; each manager numbers its own LookupIdentifiers."""
    names: dict[object, bytes] = {}
    for which, history in enumerate(histories):
        for turned in history.turns:
            for fact in turned.facts if not turned.lost else ():
                if isinstance(fact, facts.MessagesStored):
                    for position, message in zip(fact.positions, fact.messages, strict=True):
                        _check_name(names, (which, position.lookup_id), named(message))
                        if message.identifier != NO_OBJECT and message.message_class == MessageClass.NORMAL:
                            _check_name(names, message.identifier, named(message))


def _check_name(names: dict[object, bytes], key: object, name: bytes) -> None:
    if names.setdefault(key, name) != name:
        raise Violation(f"identifiers: {shown(name)} and {shown(names[key])} are both {key}")


def check_nothing_leaks(state: State) -> None:
    """Check that no lock, wait or handle is left after all applications have ended and all messages were
    read."""
    left = {
        "transactions": list(state.transactions.open),
        "callers who wait": list(state.open.callers),
        "handles for one request": [each.handle for each in state.open.handles.values() if each.one_request],
        "messages": {n: len(queue.order) for n, queue in state.queues.items() if len(queue.order)},
        "locks": {n: queue.order.locked for n, queue in state.queues.items() if queue.order.locked},
        "reserved bytes": {
            n: queue.counts.reserved for n, queue in state.queues.items() if queue.counts.reserved
        },
        "bytes": state.totals.bytes,
        "consumers": {
            n: list(queue.feed.consumers) for n, queue in state.queues.items() if queue.feed.consumers
        },
        "messages for them": {
            n: queue.feed.retained for n, queue in state.queues.items() if queue.feed.retained
        },
        "delayed messages": {
            n: queue.counts.delayed for n, queue in state.queues.items() if queue.counts.delayed
        },
        "parts of batches": list(state.staging.stages),
        "a batch that is being placed": state.staging.current,
        "its bytes": state.staging.reserved,
        "requests that wait for it": state.staging.waiting,
        "queues that are being deleted": [n for n, queue in state.queues.items() if queue.record.deleting],
    }
    for what, which in left.items():
        if which:
            raise Violation(f"left behind: {what}: {which}")
