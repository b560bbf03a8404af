"""MQQB, [MS-MQQB]: the binary protocol that every Windows queue manager speaks over TCP port 1801.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.  Begin with `machine`.

codec              bytes <-> packets
sessions           connections to peers: handshake, window, session acknowledgements, timers
sender             messages of outgoing queues are numbered and sent until an acknowledgement comes
receiver           messages that come are judged, stored and acknowledged
state, tables      what MQQB knows; the durable part of it is streams (`reliquary.streams`)
events, effects    what the network reports, and what it is asked to do
settings           what an administrator chose
carrier            which destinations are its own, and which messages it can bring there
machine            the events, signals and timers that MQQB takes, each with its rule

There are three layers of acknowledgement.  A session acknowledgement counts packets of one connection, and
frees express and recoverable messages.  An order acknowledgement confirms messages of a stream, exactly once
and in order.  A final acknowledgement says how a transactional message left its destination queue.
"""
