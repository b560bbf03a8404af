"""Implements MQQP over DCE/RPC: calls of other managers become events, and effects become calls.

It may import `net.rpc`, `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin
with `serving`.

serving   our server: calls --> events, effects --> responses
courier   our client: effects --> calls, responses --> events
"""
