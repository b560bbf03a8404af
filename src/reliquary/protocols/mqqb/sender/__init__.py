"""MQQB's sender, [MS-MQQB] 3.1.7.1 and 3.1.7.12: messages of outgoing queues go to their peers.

It may import what `protocols.mqqb` may import, and its shared modules, and not `receiver`.  Begin with
`sending`.

routes         outgoing queues are connected to sessions, paused and resumed
sending        messages are numbered and put into the outbox of a session
packets        a message becomes a packet, with its place in the stream
transmitting   packets leave the outbox as far as the window allows
settling       what a SessionHeader of the peer says about them
acks           what order and final acknowledgements say about messages of streams
streams        the stream of a queue begins and ends
resending      order acknowledgements are waited for; what has none is sent again
closing        streams of an older era, after a restore, are brought to their end
"""
