"""Implements HTTPR on sockets, for both agents.

It may import `net.rpc`, `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin
with `receiving`.

receiving, arrival         requests of other agents, from their first byte to their answer
courier, incoming          own requests, and their responses
intake, batches, bodies    incoming and outgoing batches, large bodies in pieces
"""
