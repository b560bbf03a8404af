"""SRMP in a world of several sites: its settings, its monitor, its promises.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `plugin`.

In the end all must have arrived: once, in its order, and with receipts that are true.
"""
