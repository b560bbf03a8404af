"""Implements the server agent, which answers the requests of other agents, chapter 5.

It may import what `protocols.httpr` may import, and its shared modules, and not `client`.  Begin with
`agent`, which lists the modules.
"""
