"""Tests sequences that clients offered: replies on responses, MakeConnection, clients that listen."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.turn import Event, Turn
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import Acknowledgement, Dialect, Envelope, Offer, Reference
from reliquary.protocols.wsrm.events import CloseSequence
from reliquary.protocols.wsrm.schemes import offered_name
from reliquary.protocols.wsrm.source import offered
from reliquary.protocols.wsrm.source.flow import Polling
from reliquary.queueing.model.message import MessageClass, ObjectId
from tests.protocols.wsrm.source.source_bench import Came, SourceBench, durable, kind_of, word_of

OFFER = "urn:uuid:offered"
BACK = offered_name(OFFER, "")
INBOUND = 40
POLLED = "http://docs.oasis-open.org/ws-rx/wsmc/200702/anonymous?id=1"
DEAD = "system$;deadletter"


class Client(SourceBench):
    """A manager to which a client has offered a sequence."""

    number = 0

    def offer(self, target: Reference | None = None) -> None:
        """The client's offer is accepted."""
        self.number = offered.accept(self.wsrm, Offer(OFFER), INBOUND, Dialect(), target, self.now)
        self.wsrm.draft.take()

    def reply(self, word: str, request: int = 1, to: str = BACK, **attributes: object) -> None:
        """The application sends a reply."""
        self.put(word, to=to, correlation=asked(request), **attributes)

    def fetch(self, request: int = 0) -> Envelope | None:
        """Take a reply for a response that is held, or the next message for MakeConnection."""
        state = self.wsrm
        if request:
            envelope = offered.take_reply(state, self.number, asked(request), self.now)
        else:
            envelope = offered.take_next(state, self.number, self.now)
        self.last = self.spread(state.draft.take())
        return envelope

    def end(self) -> None:
        """The sequence of the client ends."""
        offered.end(self.wsrm, INBOUND, self.now)
        self.spread(self.wsrm.draft.take())

    def acknowledges(self, *ranges: tuple[int, int], **fields: object) -> None:
        """The client acknowledges with its next request."""
        said = Acknowledgement(OFFER, ranges, **fields)  # type: ignore[arg-type]
        self.handle(Came(Envelope(dialect=Dialect(), acknowledgements=(said,))))

    def spread(self, turn: Turn) -> Turn:
        """Let all machines handle the signals, as a turn does."""
        return self._turn(Spread(turn))

    def run(self, event: Event) -> Turn:
        """Run one turn of both machines."""
        if isinstance(event, Spread):
            turn = self.core._spread(event.turn, self.now)
            return Turn(turn.facts, turn.signals, self.keep(turn), turn.waits)
        return super().run(event)


class Spread(Event, frozen=True):
    """Replaces a turn whose rules were called directly."""

    turn: Turn


def asked(number: int) -> ObjectId:
    return ObjectId(UUID(int=9), number)


def number_of(envelope: Envelope | None) -> int:
    assert envelope is not None
    assert envelope.sequence is not None
    assert envelope.sequence.identifier == OFFER
    return envelope.sequence.number


def test_a_reply_leaves_on_the_response_and_gets_its_number_then() -> None:
    client = Client()
    client.offer()
    client.reply("two", 2)
    client.reply("one", 1)
    assert client.posts == []
    assert client.number in client.wsrm.turn.ready
    envelope = client.fetch(1)
    assert envelope is not None
    assert (number_of(envelope), word_of(envelope)) == (1, "one")
    assert envelope.relates_to == client.wsrm.message_id_of(asked(1))
    assert envelope.ack_requests == (OFFER,)
    assert client.last.waits
    assert number_of(client.fetch(2)) == 2
    assert client.fetch(3) is None
    client.acknowledges((1, 2))
    assert client.waiting(BACK) == 0


def test_a_lost_reply_is_sent_again_under_its_number() -> None:
    client = Client()
    client.offer()
    client.reply("one")
    assert number_of(client.fetch(1)) == 1
    assert number_of(client.fetch(1)) == 1
    client.acknowledges((1, 1))
    assert client.fetch(1) is None


def test_replies_survive_a_restart() -> None:
    client = Client()
    client.offer()
    client.reply("one")
    client.fetch(1)
    client.reply("two", 2)
    client.flush()
    live = durable(client.wsrm)
    client.restart(start=False)
    assert durable(client.wsrm) == live
    client.start()
    assert number_of(client.fetch(1)) == 1
    assert number_of(client.fetch(2)) == 2


def test_make_connection_fetches_in_order_and_again_after_a_time_out() -> None:
    client = Client()
    client.offer(Reference(POLLED))
    client.put("one", "two", to=BACK)
    assert offered.waiting_for(client.wsrm, POLLED) == [client.number]
    assert offered.waiting_for(client.wsrm, POLLED + "2") == []
    assert [number_of(client.fetch()), number_of(client.fetch())] == [1, 2]
    assert client.fetch() is None
    assert offered.waiting_for(client.wsrm, POLLED) == []
    client.acknowledges((1, 1))
    client.wsrm.turn.ready.clear()
    client.advance(2)
    assert client.wsrm.turn.ready == [client.number]
    assert number_of(client.fetch()) == 2
    assert client.fetch() is None


def test_a_client_without_room_gets_nothing_new_and_is_asked_for_room() -> None:
    client = Client()
    client.offer(Reference(POLLED))
    client.put("one", "two", to=BACK)
    client.fetch()
    client.acknowledges((1, 1), buffer=0)
    assert client.wsrm.source.sequences[client.number].flow.polling is Polling.POLLING
    assert client.fetch() is None
    client.advance(30)
    assert offered.waiting_for(client.wsrm, POLLED) == [client.number]
    poll = client.fetch()
    assert poll is not None
    assert kind_of(poll) == "AckRequested"
    client.acknowledges((1, 1), buffer=1)
    assert number_of(client.fetch()) == 2


def test_a_client_that_listens_is_posted_to_in_its_sequence() -> None:
    client = Client()
    listens = Reference("http://client.example/cb", b"<p/>")
    client.offer(listens)
    client.reply("one", to=offered_name(OFFER, "http://client.example/cb"))
    [post] = client.posts
    assert post.url == "http://client.example/cb"
    [envelope] = client.sent()
    assert (number_of(envelope), kind_of(envelope)) == (1, "1")


@pytest.mark.parametrize("numbered", [False, True])
def test_what_is_left_when_the_client_ends_is_refused(*, numbered: bool) -> None:
    client = Client()
    client.offer()
    client.reply("one", negative_journaling=True)
    if numbered:
        client.fetch(1)
    client.end()
    dead = client.queue(DEAD).order.first()
    assert dead is not None
    assert dead.reason is MessageClass.NACK_BAD_DEST_QUEUE
    assert client.wsrm.source.sequences == {}
    client.reply("late", negative_journaling=True)
    assert len(client.bodies(DEAD)) == 2


def test_a_final_acknowledgement_of_the_client_ends_the_sequence() -> None:
    client = Client()
    client.offer()
    client.reply("one", negative_journaling=True)
    client.reply("two", 2, negative_journaling=True)
    client.fetch(1)
    client.acknowledges((1, 1), final=True)
    assert client.bodies(DEAD) == [b"<m>two</m>"]
    assert client.wsrm.source.sequences == {}


def test_an_offer_is_accepted_once() -> None:
    client = Client()
    client.offer()
    first = client.number
    client.offer()
    assert client.number == first
    other = offered.accept(client.wsrm, Offer(OFFER), INBOUND + 1, Dialect(), None, client.now)
    assert other == 0


def test_an_offered_sequence_has_no_idle_time_and_no_administrator_ends_it() -> None:
    client = Client()
    client.offer()
    client.reply("one")
    client.fetch(1)
    client.acknowledges((1, 1))
    client.advance(1000)
    assert client.number in client.wsrm.source.sequences
    answer = client.ask(CloseSequence(0, client.number))
    assert not answer.done
    assert answer.why == f"sequence {client.number} was offered by a client, and ends with sequence {INBOUND}"


def test_nothing_is_taken_of_a_sequence_that_is_not_there() -> None:
    client = Client()
    client.number = 99
    assert client.fetch() is None
    assert client.fetch(1) is None
    client.offer()
    assert client.fetch(1) is None


def test_a_listening_client_that_does_not_know_its_sequence_any_more_gets_nothing() -> None:
    client = Client()
    client.offer(Reference("http://client.example/cb"))
    name = offered_name(OFFER, "http://client.example/cb")
    client.reply("one", to=name, negative_journaling=True)
    client.fault(client.take()[0], FaultCode.UNKNOWN_SEQUENCE, OFFER)
    assert client.bodies(DEAD) == [b"<m>one</m>"]
    client.reply("two", to=name)
    assert client.kinds() == ["CreateSequence"]


def test_the_sequences_of_other_clients_go_on() -> None:
    client = Client()
    client.offer()
    other = offered.accept(client.wsrm, Offer("urn:uuid:2"), INBOUND + 1, Dialect(), None, client.now)
    client.end()
    assert list(client.wsrm.source.sequences) == [other]
