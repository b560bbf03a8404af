"""The RM destination: sequences that come in, what of them is acknowledged, and how much room there is.

It may import what `protocols.wsrm` may import, and its shared modules, and not `source`.  Begin with
`phases`.
"""
