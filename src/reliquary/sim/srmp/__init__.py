"""SRMP in a world of several sites: its settings, its monitor, its promises.

In the end all must have arrived: once, in its order, and with receipts that are true.
"""
