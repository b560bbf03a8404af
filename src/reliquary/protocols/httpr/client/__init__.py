"""Implements the client agent, which sends requests over the channels that this manager opened (3.4, 3.12.1).

It may import what `protocols.httpr` may import, and its shared modules, and not `server`.  Begin with
`agent`, which lists the modules.
"""
