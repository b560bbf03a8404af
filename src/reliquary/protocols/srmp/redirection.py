"""Replaces one URL by another, as the first matching redirection says, [MC-MQSRM] 3.1.1.1.9 and .10."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Redirection(msgspec.Struct, frozen=True):
    """`From` may end in `*` and matches every URL that begins like it (SR-132)."""

    origin: str
    """A URL; with `*` at the end, all URLs that begin with it."""
    target: str
    """The URL that takes its place."""


def matches(pattern: str, url: str) -> bool:
    """Return whether a URL matches a pattern, without regard to case (SR-131).

    >>> matches("http://Example.com/*", "http://example.com/msmq/private$/orders")
    True
    """
    pattern, url = pattern.casefold(), url.casefold()
    return url.startswith(pattern[:-1]) if pattern.endswith("*") else url == pattern


def redirected(redirections: Iterable[Redirection], url: str) -> str | None:
    """Return the target of the first redirection that matches a URL; None when none does."""
    return next((each.target for each in redirections if matches(each.origin, url)), None)
