"""What applications use: `connect` and `connect_async`, and what they lead to.

It may import `net`, `engine` and the rooms below.  Begin with `manager`.

face         Manager, Queue, Cursor, Transaction (sync/)    each call runs in the loop of a thread
             AsyncManager, AsyncQueue, ...                  the same, awaited
transport    RemoteTransport                                the JSON API of a server
             LocalTransport                                 events for an engine in this process
"""
