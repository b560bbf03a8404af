"""Recognizes requests that a browser sends for a page of another site.

A web page that is read on a machine that reaches this server could send requests from there.  A browser
marks them with Origin; programs do not send it.
"""

from __future__ import annotations

from reliquary.net.identity.shown import Denied


class ForeignPage(Denied):
    """A page of another site requested a change."""


def differs(origin: bytes, host: bytes) -> bool:
    """Return whether an Origin differs from the host of the request.

    >>> differs(b"http://127.0.0.1:8480", b"127.0.0.1:8480")
    False
    >>> differs(b"null", b"127.0.0.1:8480")
    True
    """
    return origin.partition(b"://")[2].lower() != host.lower()
