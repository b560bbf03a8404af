"""Implements multicast on sockets: PGM's machines with a network and a clock, for SRMP's effects.

It may import `net.rpc`, `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin
with `carrier`.

    SendApdu --> Source   --> packets --> link --> the group     PostEnded once the last one is sent
    ListenTo --> Receiver <-- packets <-- link <-- the group     ApduArrived for each message

A link carries packets over IP protocol 113, or each in a UDP datagram if the process may not open raw
sockets: to port 3056 of a group, and to port 3055 of a source, or to one port for both. All members of
a group must use one of these ways.
"""
