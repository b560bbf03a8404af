"""Implements SRMP on sockets: incoming POSTs are events, outgoing POSTs are effects of the machine.

It may import `net.rpc`, `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin
with `receiving`.

receiving   POST /msmq/... --> PostArrived --> PostAnswer --> a status line
courier     Post --> one connection for each outgoing queue --> PostEnded
"""
