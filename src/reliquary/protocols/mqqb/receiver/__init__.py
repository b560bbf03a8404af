"""Implements MQQB's receiver, [MS-MQQB] 3.1.5.8: messages that come are judged, stored and acknowledged.

It may import what `protocols.mqqb` may import, its shared modules, and of `sender` only `transmitting`,
which sends order acknowledgements from the outbox of a session.  Begin with `messages`.

messages    a message is a duplicate, refused, or handed to the manager; all in the turn in which it came
admission   limits for what a client can invent: streams, senders, refusals
runs        messages of one arrival for one queue are handed to the manager together
ordering    order acknowledgements for streams, and final acknowledgements for single messages
"""
