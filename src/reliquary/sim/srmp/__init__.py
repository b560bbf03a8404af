"""Simulates SRMP between several sites: its settings, its monitor, its promises.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `plugin`.

At the end all messages must have arrived: once, in their order, and with true receipts.
"""
