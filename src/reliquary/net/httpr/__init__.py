"""HTTPR on sockets, for both agents.

It may import `net.rpc`, `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin
with `receiving`.

receiving, arrival         requests of others, from their first byte to their answer
courier, route, incoming   our own requests, and what comes back
intake, batches, bodies    batches that come and go, large bodies a piece at a time
"""
