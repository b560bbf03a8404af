"""Implements the data plane's JSON API (docs/reference/api.md): requests to events, answers to responses.

It may import `net.rpc`, `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin
with `routes`.

Request --> routes: shape of the path --> a handler: JSON --> event --> engine
Responder <-- JSON <-- answer <---------- the engine, once all it reports is on disk
"""

from reliquary.net.api.plane import DataPlane

__all__ = ["DataPlane"]
