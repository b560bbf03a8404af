"""Between the client's words and the manager's."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary import NotOpen, OutgoingMessage
from reliquary.base.faults import UsageError
from reliquary.client.translate import changes_of, message_of, number_of
from reliquary.queueing.model.message import FOREVER, AuthenticationLevel, Delivery
from reliquary.queueing.model.queue import QueuePrivacy


def test_a_message_without_options_has_the_defaults_of_the_api() -> None:
    message = message_of(OutgoingMessage(body=b"x"))
    assert (message.delivery, message.time_to_be_received) == (Delivery.RECOVERABLE, FOREVER)
    assert message_of(OutgoingMessage(reach=5)).time_to_reach_queue == 5


def test_a_signature_is_asked_for_by_its_word() -> None:
    asked = message_of(OutgoingMessage(body=b"x", authentication="xmlsig"))
    assert asked.authentication is AuthenticationLevel.XML_SIG
    with pytest.raises(UsageError, match="none or xmlsig, not 'pgp'"):
        message_of(OutgoingMessage(authentication="pgp"))  # type: ignore[arg-type]


def test_settings_get_the_machines_types_and_only_those_that_were_named() -> None:
    given = {"quota": None, "privacy": "body", "type": "00000000-0000-0000-0000-000000000001"}
    assert changes_of(given) == {"quota": FOREVER, "privacy": QueuePrivacy.BODY, "type": UUID(int=1)}
    assert changes_of({}) == {}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"colour": "red"}, "'colour' is not a setting of a queue; these are authentication"),
        ({"security": "x"}, "'security' is not a setting"),
        ({"quota": "much"}, "Expected `int`, got `str`"),
    ],
)
def test_what_is_no_setting_is_refused_by_name(given: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        changes_of(given)


def test_a_handle_is_a_number_or_not_open() -> None:
    assert (number_of("7", "handle"), number_of(None, "handle")) == (7, 0)
    with pytest.raises(NotOpen, match="the cursor is not known"):
        number_of("x", "cursor")
