"""Implements MQQB on sockets: sessions are TCP connections that either side opens, pings are datagrams.

It may import `net.rpc`, `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin
with `network`.

    Dial --> dialing --> AddressesFound, Dialled or DialFailed
    a peer connects --> Accepted
    bytes --> connection: Framer --> PacketsArrived ... ConnectionLost
    SendPackets, HangUp --> serials --> connection --> bytes
    a datagram --> pings --> PingArrived; SendPing --> a datagram

The network divides bytes into packets and reads nothing else of them.
"""
