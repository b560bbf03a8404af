"""Implements HTTPR 1.1: two agents exchange batches over HTTP exactly once, although both may crash.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.
Begin with `machine`, which lists the modules.

A channel is < requester ; channel ; responder >.  Its source state and its sink state are one row, which is
written together with the messages that it names.  `client` and `server` do not import each other.
"""

from reliquary.protocols.httpr.schemes import HTTPR, HTTPRS

__all__ = ["HTTPR", "HTTPRS"]
