"""Contains the commands, one file for each noun.  A command asks the client or the store, prints, and exits.

It may import every room.  Begin with `main`.
"""
