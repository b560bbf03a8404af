"""The data plane's JSON API (docs/reference/api.md): requests to events, answers to responses.

Request --> routes: shape of the path --> a handler: JSON --> event --> engine
Responder <-- JSON <-- answer <---------- the engine, once all it tells of is on disk
"""

from reliquary.net.api.plane import DataPlane

__all__ = ["DataPlane"]
