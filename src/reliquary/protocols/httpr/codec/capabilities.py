"""Agrees on the capability vector, 6.1.5: a client proposes, a server grants, and both keep the result.

    proposed --read_capabilities--> granted(proposed, offered) --lowered--> the response, or nothing
    proposed -------------------------------------------------> agreed(proposed, the response)

A number becomes the smaller of both, flows and sessions those that both have.  Capabilities that the
specification does not know hold only where the response repeats them, and are never added (HR-092,
HR-123).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import asdict

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.lexical import (
    LWS,
    TOKEN,
    elements,
    malformed,
    read_number,
    read_word,
    shortened,
    word_text,
)
from reliquary.protocols.httpr.codec.values import FLOWS, Capabilities, Command, Fields

_SECTION: Final = "6.1.5"
_NUMBERS: Final = (
    "idle_session_interval",
    "empty_batch_delay",
    "max_latency",
    "max_wait_next",
    "max_wait_batch",
    "maximum_message_size",
    "maximum_batch_size",
    "maximum_pipeline_depth",
)
_FLOWS: Final = "flows"
_SESSION_SUPPORT: Final = "session_support"
KNOWN: Final = (*_NUMBERS, _FLOWS, _SESSION_SUPPORT)
"""All known capabilities, in the order of the grammar."""
ALIASES: Final = {
    "max_message_size": "maximum_message_size",
    "batch_size": "maximum_batch_size",
    "max_batch_limit": "maximum_batch_size",
}
"""Names that only the examples have (H-12)."""
DEFAULTS: Final = Capabilities()

_IN_ORDER: Final = tuple(flow for flow in Command if flow in FLOWS)
_LEVELS: Final = {"SESSIONLESS": "sessionless", "SESSION": "sessions"}
_CAPABILITY: Final = re.compile(rf"({TOKEN})[ \t]*(?:[=:](.*))?")
"""A product may write its own capabilities as the fields of 6.1.13, with a colon, or as a name alone."""


# -- text


def said(text: str) -> Fields:
    """Return the capabilities that a peer names: known ones first, with values in our own format."""
    found: dict[str, str] = {}
    for element in elements(text):
        match = _CAPABILITY.fullmatch(element)
        if match is None:
            raise malformed(f"{shortened(element)} is no capability", _SECTION)
        name = match[1].lower()
        name = ALIASES.get(name, name)
        value = _canonical(name, read_word((match[2] or "").strip(LWS)))
        if found.setdefault(name, value) != value:
            raise malformed(f"{name} is both {shortened(found[name])} and {shortened(value)}", _SECTION)
    known = [(name, found.pop(name)) for name in KNOWN if name in found]
    return (*known, *found.items())


def text_of(capabilities: Capabilities | Fields) -> str:
    """Return the capabilities that differ from the defaults, or just the given fields; empty where there are
    none.
    """
    if isinstance(capabilities, Capabilities):
        capabilities = (*_different(capabilities, DEFAULTS), *capabilities.product)
    return ",".join([f"{name}={_value_text(name, value)}" if value else name for name, value in capabilities])


def _value_text(name: str, value: str) -> str:
    return value if name in KNOWN else word_text(value)


def _canonical(name: str, value: str) -> str:
    if name in _NUMBERS:
        return str(read_number(value, name, _SECTION))
    if name == _FLOWS:
        return _listed(_among(value, name, {flow.value: flow for flow in _IN_ORDER}))
    if name == _SESSION_SUPPORT:
        return _listed(_among(value, name, _LEVELS))
    return value


def _among(value: str, name: str, allowed: Iterable[str]) -> list[str]:
    """Return the elements of a list with `+`, in our order.

    Empty ones are ignored, but one is needed (HR-121).
    """
    words = {word for each in value.split("+") if (word := each.strip(LWS).upper())}
    if not words or not words.issubset(allowed) or not value.isascii():
        raise malformed(f"{name} is some of {'+'.join(allowed)}, not {shortened(value)}", _SECTION)
    return [word for word in allowed if word in words]


def _listed(words: Iterable[str]) -> str:
    return "+".join(words)


# -- values


def read_capabilities(text: str) -> Capabilities:
    """Return the capabilities that a client proposes; absent ones have their defaults."""
    return _overlaid(DEFAULTS, said(text))


def _overlaid(under: Capabilities, fields: Fields) -> Capabilities:
    """Return the values of `under`, replaced where fields say otherwise; products only from the fields."""
    values: dict[str, Any] = asdict(under)
    values["product"] = tuple((name, value) for name, value in fields if name not in KNOWN)
    for name, value in fields:
        if name in _NUMBERS:
            values[name] = int(value)
        elif name == _FLOWS:
            values[_FLOWS] = frozenset(Command(word) for word in value.split("+"))
        elif name == _SESSION_SUPPORT:
            levels = value.split("+")
            values |= {attribute: level in levels for level, attribute in _LEVELS.items()}
    return Capabilities(**values)


def _number_text(name: str) -> Callable[[Capabilities], str]:
    return lambda capabilities: str(getattr(capabilities, name))


def _flows_text(capabilities: Capabilities) -> str:
    return _listed(flow.value for flow in _IN_ORDER if flow in capabilities.flows)


def _support_text(capabilities: Capabilities) -> str:
    return _listed(level for level, attribute in _LEVELS.items() if getattr(capabilities, attribute))


_TEXTS: Final[dict[str, Callable[[Capabilities], str]]] = {
    **{name: _number_text(name) for name in _NUMBERS},
    _FLOWS: _flows_text,
    _SESSION_SUPPORT: _support_text,
}


def _different(capabilities: Capabilities, others: Capabilities) -> list[tuple[str, str]]:
    """Return the capabilities that differ from others, in the order of the grammar."""
    fields = []
    for name, text in _TEXTS.items():
        value = text(capabilities)
        if value != text(others):
            if not value:
                raise UsageError(f"{name} cannot be empty; there is nothing to agree on (510)")
            fields.append((name, value))
    return fields


# -- negotiation


def granted(proposed: Capabilities, offered: Capabilities) -> Capabilities:
    """Return the highest capabilities that both have (HR-037, HR-091); error 510 without a common flow.

    A server without sessions reports that, even to a client that proposed only sessions (HR-065).
    """
    sessions = proposed.sessions and offered.sessions
    numbers = {name: min(getattr(proposed, name), getattr(offered, name)) for name in _NUMBERS}
    return Capabilities(
        **numbers,
        flows=proposed.flows & offered.flows,
        sessions=sessions,
        sessionless=offered.sessionless and (proposed.sessionless or not sessions),
        product=tuple(each for each in proposed.product if each in offered.product),
    )


def lowered(proposed: Capabilities, granted: Capabilities) -> Fields | None:
    """Return the capabilities for a response: all that are lower than proposed, and those of a product."""
    fields = (*_different(granted, proposed), *granted.product)
    return fields or None


def agreed(proposed: Capabilities, said: Fields | None) -> Capabilities:
    """Return the capabilities in force after a response; one that grants more than was proposed
    is malformed.
    """
    asked = {name for name, _ in proposed.product}
    fields = tuple((name, value) for name, value in said or () if name in KNOWN or name in asked)
    answer = _overlaid(proposed, fields)
    for name in KNOWN:
        if not _within(name, answer, proposed):
            wanted, got = _TEXTS[name](proposed), _TEXTS[name](answer)
            raise malformed(f"{name} was proposed as {wanted} and answered with {got}", _SECTION)
    return answer


def _within(name: str, answer: Capabilities, proposed: Capabilities) -> bool:
    if name == _FLOWS:
        return answer.flows <= proposed.flows
    if name == _SESSION_SUPPORT:  # SESSIONLESS alone is a refusal, not more than was proposed (HR-065)
        return answer.sessions <= proposed.sessions and (
            not answer.sessions or answer.sessionless <= proposed.sessionless
        )
    return bool(getattr(answer, name) <= getattr(proposed, name))
