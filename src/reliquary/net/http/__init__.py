"""Implements HTTP/1.1: the listener of the data plane, and a small client with a pool.

It may import `net.tcp` and `engine` and the rooms below.  Begin with `listener`.

    bytes --> connection --> Request, Responder --> handler       (listener side)
    bytes <-- connection <-- responses in the order of requests <-- Responder.respond

This code runs for every request, so it is an own server: `httptools` parses, one `asyncio.Protocol` for
each connection keeps order, limits and time-outs, and answers that are ready together leave in one
write.
"""

from reliquary.net.http.client import ClientLimits, HttpClient
from reliquary.net.http.client_connection import Response
from reliquary.net.http.failures import BadResponse, ConnectFailed, ConnectionLost, RequestFailed, TimedOut
from reliquary.net.http.limits import Limits
from reliquary.net.http.listener import Listener
from reliquary.net.http.mounts import Mount, Refusals
from reliquary.net.http.request import Request
from reliquary.net.http.responder import Handler, Responder
from reliquary.net.http.response import error_body
from reliquary.net.http.streams import BodySink

__all__ = [
    "BadResponse",
    "BodySink",
    "ClientLimits",
    "ConnectFailed",
    "ConnectionLost",
    "Handler",
    "HttpClient",
    "Limits",
    "Listener",
    "Mount",
    "Refusals",
    "Request",
    "RequestFailed",
    "Responder",
    "Response",
    "TimedOut",
    "error_body",
]
