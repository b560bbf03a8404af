"""Implements WS-ReliableMessaging on sockets.

It may import `net.rpc`, `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin
with `receiving`.

receiving   POST /wsrm/... --> PostArrived --> PostAnswer --> the response; GET ...?wsdl --> a description
courier     Post --> one connection for each connection --> PostEnded
"""
