"""The client agent: it sends requests over the channels of which we are the requester (B.3, B.5).

It may import what `protocols.httpr` may import, and its shared modules, and not `server`.  Begin with
`agent`, which lists the modules.
"""
