"""Provides the client library: `connect`, `connect_async`, and the objects that they return.

It may import `net`, `engine` and the rooms below.  Begin with `manager`.

face         Manager, Queue, Cursor, Transaction (sync/)    each call runs in the loop of a thread
             AsyncManager, AsyncQueue, ...                  the methods of these, awaited
transport    RemoteTransport                                the JSON API of a server
             LocalTransport                                 events for an engine in this process
"""
